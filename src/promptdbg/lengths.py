"""The length of a text in units other than code points."""


def utf8_length(text: str) -> int:
    """Bytes of UTF-8; a lone surrogate counts the three bytes of its replacement."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def utf16_length(text: str) -> int:
    """UTF-16 code units, as JavaScript's ``length`` counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
