"""One moment for a whole run: nanobot prints the time, and stamps what it adds."""

from __future__ import annotations

import datetime as _datetime
import sys
from typing import Any

_real = _datetime.datetime
_now: _datetime.datetime | None = None


class _Meta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _real)


class _Frozen(_real, metaclass=_Meta):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        if _now is None:
            return _real.now(tz)
        return _now.astimezone(tz) if tz is not None else _now.replace(tzinfo=None)

    @classmethod
    def utcnow(cls) -> Any:
        return _real.utcnow() if _now is None else _now.astimezone(_datetime.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        return cls.now()


def install(package: str) -> None:
    """Make every module of ``package`` that is imported by now read this clock."""
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(package + "."):
            for key, value in list(vars(module).items()):
                if value is _real:
                    setattr(module, key, _Frozen)
    # Functions that import inside themselves find the class here.
    _datetime.datetime = _Frozen  # type: ignore[misc]


def freeze(now: str | None) -> None:
    """Stop the clock at an ISO time; a time without offset is local. ``None`` lets it run."""
    global _now
    _now = None if now is None else _real.fromisoformat(now)
