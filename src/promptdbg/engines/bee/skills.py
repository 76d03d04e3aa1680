"""bee's skill files: as much of them as the manifest shows (``internal/skills/parse.go::Parse``)."""

from __future__ import annotations

import re

from promptdbg.engines.bee.gotext import SPACE
from promptdbg.engines.bee.manifest import Skill
from promptdbg.files.frontmatter import FrontMatterError, Scalar, parse
from promptdbg.model import Notice, Source

KINDS = frozenset({"prompt", "exec", "mcp", "http", "recipe"})
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def read_skill(path: str, data: bytes) -> tuple[Skill | None, Notice | None]:
    """A skill from its file, or a notice why bee leaves it out."""

    def refused(what: str, line: int = 1) -> tuple[None, Notice]:
        return None, Notice("bee.skill", f"{what}; bee leaves the skill out", Source(path, line, line))

    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lead = len(text) - len(text.lstrip(" \t\r\n"))
    opening = text.count("\n", 0, lead) + 1
    lines = text[lead:].split("\n")
    if not lines[0].startswith("---"):
        return refused("has no front matter")
    close = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip("\r ") == "---"), None)
    if close is None:
        return refused("has front matter without an end")
    try:
        header = parse("\n".join(line.removesuffix("\r") for line in lines[1:close]), opening + 1)
    except FrontMatterError as error:
        return refused(f"front matter: {error.what} (column {error.column})", error.line)
    values = {key: value.text for key, value in header.items() if isinstance(value, Scalar)}
    stem = path.rpartition("/")[2]
    name = values.get("name") or stem[: stem.rfind(".")]
    if not _NAME.fullmatch(name):
        return refused(f"the name {name!r} may hold letters, digits, - and _ only", opening)
    kind = values.get("type", "").strip(SPACE).lower()
    if kind not in KINDS:
        return refused(f"the type {kind!r} is none of {', '.join(sorted(KINDS))}", opening)
    if kind == "prompt" and not "\n".join(lines[close + 1 :]).strip(SPACE):
        return refused("a prompt skill needs a body", opening)
    return Skill(name, values.get("description", "").strip(SPACE), kind), None
