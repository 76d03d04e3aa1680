"""JavaScript's rules, as far as AgentOS's arithmetic and texts depend on them.

The engine is TypeScript: lengths are UTF-16 units, numbers are doubles, ``0`` and ``""`` are false
while ``[]`` is true, a missing key reads as ``undefined``, and reading a key of ``null`` throws.
JSON values are Python's (``None`` is ``null``); ``UNDEFINED`` stands for a missing value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final

from promptdbg.lengths import utf16_length
from promptdbg.model import Json

_SAFE_INTEGER = 2**53
_DEPTH_MAX = 400
_ARRAY_INDEX_END = 2**32 - 1
# ECMAScript's WhiteSpace and LineTerminator; Python's own strip() differs (U+0085, U+FEFF, U+001C-1F).
_SPACE = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_SPACE += "\u2028\u2029\u202f\u205f\u3000\ufeff"
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_RADIX = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")


class Undefined:
    """The type of ``UNDEFINED``."""

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = Undefined()


class JsError(Exception):
    """A TypeError that the JavaScript would throw; the text is ours."""


class TooDeep(ValueError):
    """A value is nested deeper than any prompt input is."""


def plain(value: Any, depth: int = 0) -> Json:
    """A value as ``JSON.parse(JSON.stringify(value))`` gives it back, shared where it is plain already.

    Raises:
        TooDeep: nested more than 400 levels.
    """
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -_SAFE_INTEGER <= value <= _SAFE_INTEGER else _double(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= _DEPTH_MAX:
        raise TooDeep(f"nested more than {_DEPTH_MAX} levels deep")
    if isinstance(value, Mapping):
        return {
            str(key): plain(entry, depth + 1)
            for key, entry in value.items()
            if not isinstance(entry, Undefined)
        }
    if isinstance(value, Iterable):
        return [None if isinstance(entry, Undefined) else plain(entry, depth + 1) for entry in value]
    raise TypeError(f"not a JSON value: {value!r}")


def _double(value: int) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def truthy(value: Any) -> bool:
    """JavaScript's ``Boolean(value)``: empty arrays and objects are true."""
    if isinstance(value, (list, dict)):
        return True
    return bool(value) and value == value


def nullish(value: Any) -> bool:
    return value is None or isinstance(value, Undefined)


def get(value: Any, key: str) -> Any:
    """``value.key``.

    Raises:
        JsError: ``value`` is null or undefined.
    """
    if isinstance(value, dict):
        return value.get(key, UNDEFINED)
    if nullish(value):
        raise JsError(f"reads {key!r} of {to_string(value)}")
    return length(value) if key == "length" and isinstance(value, (str, list)) else UNDEFINED


def maybe(value: Any, key: str) -> Any:
    """``value?.key``."""
    return UNDEFINED if nullish(value) else get(value, key)


def array(value: Any, use: str) -> list[Any]:
    """The value, if it has the methods of an array.

    Raises:
        JsError: it is something else; ``use`` names the method that is missing.
    """
    if isinstance(value, list):
        return value
    raise JsError(f"calls {use} on what is not an array")


def length(value: Any) -> float:
    """``value.length``: UTF-16 units of a text, entries of an array, else what a key of that name
    holds (NaN when there is none)."""
    if isinstance(value, str):
        return utf16_length(value)
    if isinstance(value, list):
        return len(value)
    return to_number(get(value, "length"))


def to_number(value: Any) -> float:
    """``Number(value)``."""
    if isinstance(value, (bool, int, float)):
        return int(value) if isinstance(value, bool) else value
    if value is None:
        return 0
    if isinstance(value, str):
        return _text_number(trim(value))
    if isinstance(value, list):
        return _text_number(trim(to_string(value)))
    return math.nan


def _text_number(text: str) -> float:
    if not text:
        return 0
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _RADIX.fullmatch(text):
        return int(text, 0)
    sign = -1 if text[0] == "-" else 1
    return sign * math.inf if text.lstrip("+-") == "Infinity" and len(text) <= 9 else math.nan


def to_string(value: Any) -> str:
    """``String(value)``, as a template literal prints it."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return join(value, ",")
    return "undefined" if isinstance(value, Undefined) else "[object Object]"


def join(values: Iterable[Any], separator: str) -> str:
    """``Array.prototype.join``: null and undefined print nothing."""
    return separator.join("" if nullish(value) else to_string(value) for value in values)


def number_text(number: float) -> str:
    """``Number.prototype.toString``."""
    if isinstance(number, int) and -_SAFE_INTEGER <= number <= _SAFE_INTEGER:
        return str(number)
    number = float(number)
    if number != number:
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).lstrip("0")
    point = len(text) + exponent  # digits before the decimal point
    text = text.rstrip("0")
    return ("-" if sign else "") + _placed(text, point)


def _placed(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    power = point - 1
    head = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{head}e{'+' if power >= 0 else '-'}{abs(power)}"


def fixed(number: float, places: int) -> str:
    """``Number.prototype.toFixed``: the exact binary value, halves away from zero."""
    if not math.isfinite(number) or abs(number) >= 1e21:
        return number_text(number)
    exact = Decimal(number) if number else Decimal(0)
    return str(exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP))


def stringify(value: Any) -> str:
    """``JSON.stringify(value)`` of a plain value: no blanks, nothing escaped that need not be."""
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts)


def _write(value: Any, parts: list[str]) -> None:
    if isinstance(value, str):
        parts.append(quoted(value))
    elif isinstance(value, dict):
        separator = "{"
        for key in _key_order(value):
            entry = value[key]
            if isinstance(entry, Undefined):
                continue
            if isinstance(entry, str):  # most are: no call for each
                parts.append(f"{separator}{_key(key)}:{quoted(entry)}")
            else:
                parts.append(f"{separator}{_key(key)}:")
                _write(entry, parts)
            separator = ","
        parts.append("{}" if separator == "{" else "}")
    elif isinstance(value, list):
        separator = "["
        for entry in value:
            parts.append(separator)
            _write(entry, parts)
            separator = ","
        parts.append("[]" if separator == "[" else "]")
    elif value is None or isinstance(value, Undefined) or value != value or value in (math.inf, -math.inf):
        parts.append("null")
    else:
        parts.append(to_string(value))


def _key_order(value: dict[str, Any]) -> Iterable[str]:
    """Array indexes first, in number order, then the rest as inserted: how objects enumerate."""
    indexes = [key for key in value if _is_index(key)]
    if not indexes:
        return value
    return [*sorted(indexes, key=int), *(key for key in value if key not in set(indexes))]


@lru_cache(1024)
def _is_index(key: str) -> bool:
    return (
        key.isascii()
        and key.isdigit()
        and (key == "0" or key[0] != "0")
        and len(key) <= 10
        and int(key) < _ARRAY_INDEX_END
    )


@lru_cache(1024)
def _key(key: str) -> str:
    """The name of a property, as it is written: objects of one kind share theirs."""
    return quoted(key)


def quoted(text: str) -> str:
    """A JSON string as ``JSON.stringify`` writes it; only surrogates without a partner are escaped."""
    written = encode_basestring(text)
    if written.isascii() or not _SURROGATE.search(written):
        return written
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", paired(written))


def paired(text: str) -> str:
    """The text with halves of a surrogate pair that stand side by side made one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def substring(text: str, end: float) -> str:
    """``text.substring(0, end)`` in UTF-16 units; a character may be split."""
    units = 0 if end != end or end <= 0 else end
    if units >= utf16_length(text):
        return text
    units = math.floor(units)
    if text.isascii():
        return text[:units]
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "surrogatepass")


def trim(text: str) -> str:
    return text.strip(_SPACE)


def strict_equal(left: Any, right: Any) -> bool:
    """``left === right``; two arrays or objects are equal only when they are the same one."""
    if isinstance(left, (list, dict)) or isinstance(right, (list, dict)):
        return left is right
    if isinstance(left, Undefined) or isinstance(right, Undefined):
        return left is right
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return bool(left == right) and isinstance(left, str) == isinstance(right, str)


def includes(value: Any, wanted: Any) -> bool:
    """``value?.includes(wanted)``, of a text or an array.

    Raises:
        JsError: the value has no such method.
    """
    if nullish(value):
        return False
    if isinstance(value, str):
        return to_string(wanted) in value
    if isinstance(value, list):
        return any(strict_equal(entry, wanted) for entry in value)
    raise JsError("calls includes on what is neither a text nor an array")


def ceil(number: float) -> float:
    return math.ceil(number) if math.isfinite(number) else number


def floor(number: float) -> float:
    return math.floor(number) if math.isfinite(number) else number


def divide(left: float, right: float) -> float:
    """``left / right``: dividing by zero gives an infinity or NaN."""
    if right:
        return left / right
    if not left or left != left or right != right:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def largest(*numbers: float) -> float:
    """``Math.max``: NaN if one is."""
    return math.nan if any(number != number for number in numbers) else max(numbers)


def smallest(*numbers: float) -> float:
    """``Math.min``: NaN if one is."""
    return math.nan if any(number != number for number in numbers) else min(numbers)
