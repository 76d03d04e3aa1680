"""The generic import walk, apart from any agent: another pattern, another wrapper."""

from __future__ import annotations

import re
from dataclasses import dataclass

from promptdbg.files.imports import Expander, Import, Resolution, source_offset

PATTERN = re.compile(rb"(\A|\s)@([a-z./]+)")


@dataclass(frozen=True)
class Table:
    """Files by name; a folder plays no part."""

    texts: dict[str, bytes]

    def resolve(self, folder: str, ref: str, key: str) -> Resolution:
        if ref not in self.texts:
            return Resolution("missing", f"/{ref}")
        return Resolution("exact", f"/{ref}", self.texts[ref])


def expand(text: bytes, depth: int = 9, **texts: bytes) -> tuple[bytes, tuple[Import, ...]]:
    walk = Expander(
        PATTERN, Table(texts), lambda path, body: b"[" + body + b"]", depth, lambda key, data: data
    )
    made = walk.expand("/top", "/", text)
    return made.body, made.imports


def test_depth_first_in_reading_order_each_path_once() -> None:
    body, imports = expand(b"@a @b @none", a=b"A @b", b=b"B @a")
    assert body == b"[A [B @a]] @b @none"
    assert [made.outcome for made in imports] == ["exact", "visited", "missing"]
    assert [made.key for made in imports[0].children] == ["/@a/@b"]


def test_depth_zero_leaves_everything_as_typed() -> None:
    body, imports = expand(b"x @a", 0, a=b"A")
    assert body == b"x @a"
    assert imports[0].outcome == "depth"


def test_offsets_lead_back_to_what_was_typed() -> None:
    text = b"x @a y @b z"
    body, imports = expand(text, a=b"long content", b=b"B")
    assert body == b"x [long content] y [B] z"
    for made in imports:
        assert body[made.at : made.at + len(made.output)] == made.output
    assert source_offset(len(text), imports, 1) == 1
    assert source_offset(len(text), imports, 8) == text.index(b"@a")
    assert source_offset(len(text), imports, body.index(b"y")) == text.index(b"y")
    assert source_offset(len(text), imports, len(body)) == len(text)


def test_the_same_reference_again_is_numbered() -> None:
    _, imports = expand(b"@a @a @a", a=b"A")
    assert [made.key for made in imports] == ["/@a", "/@a#2", "/@a#3"]
