"""Skills as nanobot takes them: which there are, which are always on, how they are listed.

``agent/skills.py::SkillsLoader``. Availability is that of the machine at load time: programs on the
PATH and environment variables that are set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.files.skills import SkillFile
from promptdbg.model import Json

_FRONTMATTER = re.compile(r"^---\s*\r?\n(.*?)\r?\n---\s*\r?\n?", re.DOTALL)
_REFERENCE = re.compile(r"(?<![\w$])\$([A-Za-z0-9_-]+)")
_JSON_DEPTH_ERRORS = (ValueError, TypeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill, read and judged. ``missing`` are unmet requirements as nanobot words them."""

    name: str
    origin: str
    """``workspace`` or ``builtin``."""
    text: str
    path: str
    """As nanobot has it, in the prompt."""
    file: str
    """The file that was read."""
    body: str
    description: str
    always: bool
    missing: tuple[str, ...]

    @property
    def available(self) -> bool:
        return not self.missing


@dataclass(frozen=True, slots=True)
class Machine:
    """What requirements are checked against."""

    programs: frozenset[str]
    variables: frozenset[str]


def required(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Programs and variables a skill asks for; none where its metadata cannot be read."""
    try:
        return _requirements(_nanobot_metadata(_metadata(text, "")), strict=False)
    except Crash:
        return (), ()


def judge(file: SkillFile, origin: str, path: str, text: str, machine: Machine, dialect: Dialect) -> Skill:
    """One skill from its text.

    Raises:
        Crash: its metadata makes nanobot raise.
    """
    metadata = _metadata(text, path)
    own = _nanobot_metadata(metadata)
    programs, variables = _requirements(own, strict=not dialect.skill_groups)
    missing = [f"CLI: {name}" for name in programs if name not in machine.programs]
    missing += [f"ENV: {name}" for name in variables if name not in machine.variables]
    return Skill(
        name=file.name,
        origin=origin,
        text=text,
        path=path,
        file=str(file.file.path),
        body=_body(text),
        description=_description(metadata, file.name, path, dialect),
        always=bool(own.get("always") or metadata.get("always")),
        missing=tuple(missing),
    )


def _metadata(text: str, path: str) -> Mapping[str, Json]:
    match = _FRONTMATTER.match(text)
    if match is None:
        return {}
    try:
        parsed = yaml.safe_load(match.group(1))
        return {str(key): value for key, value in parsed.items()} if isinstance(parsed, dict) else {}
    except yaml.YAMLError:
        return {}
    except Exception as error:  # whatever else a value's constructor raises reaches nanobot's turn
        raise _crash(error, "parse_skill_metadata", path) from error


def _crash(error: Exception, function: str, path: str) -> Crash:
    meaning = f"The frontmatter of {path} makes every turn fail."
    return Crash(type(error).__name__, str(error), f"agent/skills.py::{function}", meaning)


def _nanobot_metadata(metadata: Mapping[str, Json]) -> Mapping[str, Json]:
    raw = metadata.get("metadata")
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except _JSON_DEPTH_ERRORS:
            return {}
    if not isinstance(raw, dict):
        return {}
    own = raw.get("nanobot", raw.get("openclaw", {}))
    return own if isinstance(own, dict) else {}


def _requirements(own: Mapping[str, Json], *, strict: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Programs and variables; 0.2.2 (``strict``) raises on shapes that later versions tolerate."""
    requires = own.get("requires")
    if strict and "requires" in own and not isinstance(requires, dict):
        raise Crash(
            "AttributeError",
            f"'{type(requires).__name__}' object has no attribute 'get'",
            "agent/skills.py::_check_requirements",
            "A skill's requires is not a mapping: every turn fails in 0.2.2.",
        )
    if not isinstance(requires, dict):
        return (), ()
    return _names(requires.get("bins")), _names(requires.get("env"))


def _names(value: Json) -> tuple[str, ...]:
    return tuple(n for n in value if isinstance(n, str) and n.strip()) if isinstance(value, list) else ()


def _description(metadata: Mapping[str, Json], name: str, path: str, dialect: Dialect) -> str:
    described = metadata.get("description")
    if isinstance(described, str) and described:
        return described
    if not dialect.skill_groups and isinstance(described, (int, float)) and described:
        try:
            return str(described)
        except ValueError as error:  # a number of thousands of digits
            raise _crash(error, "build_skills_summary", path) from error
    return name


def _body(text: str) -> str:
    match = _FRONTMATTER.match(text) if text.startswith("---") else None
    return text[match.end() :].strip() if match else text


def body_block(skill: Skill) -> str:
    """A skill's text as it stands in a prompt."""
    return f"### Skill: {skill.name}\n\n{skill.body}"


def listed_line(skill: Skill, dialect: Dialect) -> str:
    """A skill's line in the list."""
    suffix = f" (unavailable: {', '.join(skill.missing)})" if skill.missing else ""
    path = f"{skill.name}/SKILL.md" if dialect.skill_groups else skill.path
    return f"- **{skill.name}** — {skill.description}{suffix}  `{path}`"


def invoked(text: str, skills: Sequence[Skill]) -> list[Skill]:
    """The available skills a message names with ``$name``, in the order of their first mention."""
    available = {skill.name: skill for skill in skills if skill.available}
    found: dict[str, Skill] = {}
    for match in _REFERENCE.finditer(text):
        if match[1] in available:
            found.setdefault(match[1], available[match[1]])
    return list(found.values())


def explicit_block(text: str, skills: Sequence[Skill]) -> str:
    """The runtime-context block of the skills a message invokes; empty when there is none."""
    bodies = [body_block(skill) for skill in invoked(text, skills) if not skill.always and skill.text]
    if not bodies:
        return ""
    joined = "\n\n---\n\n".join(bodies)
    return f"[Active Skills — instructions for this user turn]\n{joined}\n[/Active Skills]"
