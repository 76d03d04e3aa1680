"""The child process of ``promptdbg verify``: runs nanobot's own code and reports what it did.

It runs under the interpreter that has nanobot installed, not under promptdbg's, so nothing in this
package imports promptdbg: only the standard library, and nanobot by name at run time. ``process``
in the folder above starts it with ``BOOT`` and talks to it in lines of JSON.
"""

PROTOCOL = 1
"""Sent back in the greeting; the parent refuses another number."""
