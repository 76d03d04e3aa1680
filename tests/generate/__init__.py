"""Makes what documentation shows of the program: what commands print, tables, pictures of screens.

``python -m tests.generate`` writes it all anew, ``--check`` names what is stale and changes nothing.
A page is Markdown with places that are filled in; everything else in it is written by hand:

- a block ``console``: its ``$`` lines are run, what they print is put below them (``console.py``);
- ``<!-- table NAME [ENGINE] -->`` to ``<!-- end -->``: a table (``tables.py``).

The pictures in ``screenshots/`` are drawn by the real UI on a bundled example (``screens.py``).
"""
