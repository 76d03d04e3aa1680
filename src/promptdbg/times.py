"""Times as people and files give them: kept where every time zone of the calendar can show them.

Python's calendar ends with the years 1 and 9999; a moment within a day of either end cannot be
moved to every zone, and a file's time of change may lie outside it altogether.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_DAY = timedelta(days=1)
_FIRST = datetime.min.replace(tzinfo=UTC) + _DAY
_LAST = datetime.max.replace(tzinfo=UTC) - _DAY


def iso_time(text: str) -> datetime:
    """The time that an ISO 8601 text gives, with its own offset or none.

    Raises:
        ValueError: it gives none, or one within a day of the calendar's ends.
    """
    moment = datetime.fromisoformat(text)
    try:
        (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC) - _DAY + 2 * _DAY
    except OverflowError as error:
        raise ValueError(f"{text} is outside the calendar") from error
    return moment


def is_iso_time(text: str) -> bool:
    """Whether ``iso_time`` takes the text."""
    try:
        iso_time(text)
    except ValueError:
        return False
    return True


def file_time(seconds: float) -> datetime:
    """A file's time of change in UTC; the nearest end of the calendar for one outside of it."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return _FIRST if seconds < 0 else _LAST
    return min(max(moment, _FIRST), _LAST)
