"""Running the real framework, where it is installed, and showing every difference to an assembly.

The core never needs this: an engine's answer is its own. ``nanobot`` drives it, ``process`` starts
the child, ``driver`` is what runs there, ``compare`` and ``report`` hold what came of it.
"""

from promptdbg.verify.nanobot import verify
from promptdbg.verify.report import Difference, StageReport, VerifyReport, lines, to_json

__all__ = ["Difference", "StageReport", "VerifyReport", "lines", "to_json", "verify"]
