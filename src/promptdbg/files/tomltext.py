"""TOML, with every way to fail as one error that says where."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class TomlError(ValueError):
    """A text is not TOML. ``line`` and ``column`` count from 1; ``None`` where they are not known."""

    def __init__(self, what: str, line: int | None = None, column: int | None = None) -> None:
        place = "" if line is None else f"line {line}" if column is None else f"line {line}, column {column}"
        super().__init__(f"{what} (at {place})" if place else what)
        self.what = what
        self.line = line
        self.column = column


def read_toml(text: str) -> dict[str, Any]:
    """The document.

    Raises:
        TomlError: it is none, or holds what cannot be read.
    """
    try:
        return _loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        at = (int(place[1]), int(place[2])) if place and place[1] else (None, None)
        raise TomlError(str(error) if at[0] is None else _PLACE.sub("", str(error)), *at) from error
    except RecursionError as error:
        raise TomlError("nested too deeply") from error
    except (ValueError, OverflowError) as error:
        raise TomlError("a number has too many digits", _too_long_at(text)) from error


def _loads(text: str) -> dict[str, Any]:
    """As ``tomllib.loads``; a number that is too long is an error, in whatever base: a ValueError, or an
    OverflowError where Python itself would take it, but no arithmetic with fractions."""
    found = tomllib.loads(text)
    left: list[Any] = [found]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, int):
            float(value)
    return found


def _too_long_at(text: str) -> int:
    """The line of the number, which no error tells: the first lines up to it fail in the same way."""
    lines = text.replace("\r\n", "\n").split("\n")
    low, high = 1, len(lines)
    while low < high:
        middle = (low + high) // 2
        try:
            _loads("\n".join(lines[:middle]))
        except tomllib.TOMLDecodeError:
            low = middle + 1
        except (ValueError, OverflowError):
            high = middle
        else:
            low = middle + 1
    return low
