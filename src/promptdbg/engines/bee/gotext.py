"""Text as a Go program sees it: bytes, Go's idea of white space, quoting and JSON.

bee measures and cuts bytes, and a cut may fall inside a character. Everything is therefore kept as
bytes until it is shown or counted; ``wire`` then gives the text a provider receives.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal

from promptdbg.model import Json

# unicode.IsSpace. Python's str.strip() also takes U+001C to U+001F, which Go keeps.
SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

ELLIPSIS = "…".encode()
"""What bee puts after a cut, beyond the cap: 3 bytes."""

_LONE = re.compile("[\ud800-\udfff]")
_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    '"': '\\"',
    "\\": "\\\\",
}


def to_bytes(text: str) -> bytes:
    """The bytes of a text; a byte that was not UTF-8 when it was read is that byte again."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate from a JSON escape: Go reads it as U+FFFD
        return _LONE.sub("\ufffd", text).encode()


def wire(data: bytes) -> str:
    """The text a provider receives: each byte that is not UTF-8 becomes one U+FFFD.

    Go's JSON encoder replaces byte by byte, where Python's decoder would replace a whole broken
    character at once.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _LONE.sub("\ufffd", data.decode("utf-8", "surrogateescape"))


def trim_space(data: bytes) -> bytes:
    """``strings.TrimSpace``."""
    if data and 0x20 < data[0] < 0x7F and 0x20 < data[-1] < 0x7F:
        return data
    return data.decode("utf-8", "surrogateescape").strip(SPACE).encode("utf-8", "surrogateescape")


def is_blank(data: bytes) -> bool:
    """Whether nothing is left after ``trim_space``."""
    return not trim_space(data)


def quote(data: bytes) -> bytes:
    """``strconv.Quote``, which ``%q`` uses: printable Unicode stays, broken bytes become ``\\x..``."""
    text = data.decode("utf-8", "surrogateescape")
    return ('"' + "".join(_quoted(char) for char in text) + '"').encode()


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():  # letters, marks, numbers, punctuation, symbols and the space, as in Go
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_HTML_CHARS = re.compile("[<>&\u2028\u2029]")


def marshal(value: Json) -> bytes:
    """``json.Marshal`` of a decoded JSON value: keys sorted, ``<``, ``>`` and ``&`` escaped."""
    return _marshalled(value).encode("utf-8", "replace")


def _marshalled(value: Json) -> str:
    if isinstance(value, dict):
        items = sorted(value.items(), key=lambda item: to_bytes(item[0]))
        return "{" + ",".join(f"{_string(key)}:{_marshalled(entry)}" for key, entry in items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_marshalled(entry) for entry in value) + "]"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return _number(float(value))


def _string(text: str) -> str:
    clean = _LONE.sub("\ufffd", text)
    return _HTML_CHARS.sub(lambda match: _HTML[match[0]], json.dumps(clean, ensure_ascii=False))


def _number(number: float) -> str:
    """A float64 as Go's encoder writes it: every number of a decoded document is one."""
    if not math.isfinite(number):
        return "null"
    size = abs(number)
    if size == 0 or 1e-6 <= size < 1e21:
        plain = format(Decimal(repr(number)), "f")
        return plain.removesuffix(".0")
    mantissa, _, exponent = repr(number).partition("e")
    power = int(exponent)
    # Go writes two digits of a positive exponent and as few as it can of a negative one.
    return f"{mantissa.removesuffix('.0')}e{f'+{power:02d}' if power > 0 else power}"


def estimate_bytes(count: int) -> int:
    """bee's token estimate of that many bytes: a quarter, rounded down."""
    return count // 4
