"""One moment for a whole run: nanobot prints the time, and stamps what it adds."""

from __future__ import annotations

import datetime as _datetime
import os
import sys
import time
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
    """Stop the clock at an ISO time and put the process into its offset; without one it is UTC.

    ``None`` lets the clock run.
    """
    global _now
    _now = None
    if now is not None:
        parsed = _real.fromisoformat(now)
        _now = parsed if parsed.tzinfo else parsed.replace(tzinfo=_datetime.UTC)
        _live_in(_now.utcoffset() or _datetime.timedelta())


def _live_in(offset: _datetime.timedelta) -> None:
    minutes = -int(offset.total_seconds()) // 60  # POSIX counts westwards
    sign = "-" if minutes < 0 else "+"
    os.environ["TZ"] = f"UTC{sign}{abs(minutes) // 60}:{abs(minutes) % 60:02d}" if minutes else "UTC"
    if hasattr(time, "tzset"):  # elsewhere the machine's own zone stays
        time.tzset()
