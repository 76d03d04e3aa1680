"""Sizes of bee's own texts, and neutral stand-ins of exactly that many bytes.

bee's prose stays in bee. Every figure (bytes, tokens by bee's estimate, what fits and what is
dropped) is the same with a stand-in of equal size. Sizes are from checkout 187d9d32.
"""

from __future__ import annotations

from functools import cache

CONTEXT_CUT_BYTES = 37
ATTACH_CUT_BYTES = 26
WARN_BYTES = 122
"""Without the two numbers in it."""
COMPACT_REQUEST_BYTES = 132
COMPACT_SYSTEM_BYTES = 71
TOOL_CUT_HEAD_BYTES = 60
TOOL_CUT_MIDDLE_BYTES = 55
STALE_TODAY_BYTES = 39
STALE_DAYS_BYTES = 45
PLAN_BYTES = 456

_SIZES = {
    "caveman.lite": 910,
    "caveman.full": 1294,
    "caveman.ultra": 334,
    "discipline": 435,
    "identity.off.head": 160,
    "context.cut": CONTEXT_CUT_BYTES,
    "attach.cut": ATTACH_CUT_BYTES,
    "compact.request": COMPACT_REQUEST_BYTES,
    "compact.system": COMPACT_SYSTEM_BYTES,
    "stale.today": STALE_TODAY_BYTES,
    "plan": PLAN_BYTES,
}

# Labels too short to say whose they stand in for.
_LABELS = {
    "identity.off.cwd": b"[bee] the folder:  ",
    "identity.off.root": b"[bee] project:",
    "identity.terse.head": b"[bee agent] folder is: ",
    "identity.terse.root": b" project: ",
}

_FILL = "stands in for bee's own text of the same size; "


@cache
def stand_in(name: str) -> bytes:
    """The stand-in of one of bee's texts: ``[bee NAME] …``, of the size of the real one."""
    return _LABELS.get(name) or filled(f"[bee {name}] ", _SIZES[name])


def filled(head: str, size: int) -> bytes:
    """ASCII of exactly ``size`` bytes that begins with as much of ``head`` as fits."""
    fill = _FILL * (size // len(_FILL) + 1)
    return (head + fill)[:size].encode("ascii").rstrip(b" ").ljust(size, b".")


def numbered(name: str, size: int, *numbers: int) -> bytes:
    """A stand-in with numbers in it: ``size`` bytes beside the digits.

    ``[bee NAME 7 9] …``: the real sentence holds the same numbers with other words around them.
    """
    shown = " ".join(str(number) for number in numbers)
    digits = sum(len(str(number)) for number in numbers)
    return filled(f"[bee {name} {shown}] ", size + digits)
