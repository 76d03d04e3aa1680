"""The tool and skill lists of the prompt, and which tools reach it.

Sources: ``internal/prompt/assemble.go``, ``internal/loop/{turn_profile_filter,mode}.go``,
``internal/skills/registry.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from promptdbg.engines.bee.gotext import ELLIPSIS, is_blank, to_bytes
from promptdbg.engines.bee.rules import TOOLS_DISABLED, TOOLS_MODE, TOOLS_PROFILE
from promptdbg.model import Json, Rule


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is offered. A ``snippet`` takes the place of the description in the prompt;
    ``schema`` is what its parameters look like, where that is known."""

    name: str
    description: str = ""
    snippet: str = ""
    schema: Json = None


_TINY = frozenset({"bash", "read", "write", "edit", "web_fetch", "web_search", "escalate"})
ALLOWED = {
    "tiny": _TINY,
    "normal": _TINY | {"search", "glob", "ls", "knowledge_search", "knowledge_write"},
}
"""The tools a profile shows; a profile that is not here shows all."""

PLAN_TOOLS = frozenset({"read", "search", "glob", "ls", "knowledge_search", "ask_user"})
PLAN_ONLY = frozenset({"ask_user"})


def hidden_by(
    name: str, profile: str, mode: str, extra: Iterable[str] = (), disabled: Iterable[str] = ()
) -> tuple[Rule, str] | None:
    """The first filter that hides a tool, and why; ``None`` when it is shown.

    ``profile`` is the name as configured, after ``auto`` was resolved.
    """
    if name in set(disabled):
        return TOOLS_DISABLED, f"disabled_tools names {name}."
    allowed = ALLOWED.get(profile)
    if allowed is not None and name not in allowed and name not in set(extra):
        return (
            TOOLS_PROFILE,
            f"Profile {profile} shows {len(allowed)} tools and {name} is not one of them; "
            "extra_tools would let it through.",
        )
    if mode == "plan" and name not in PLAN_TOOLS:
        return TOOLS_MODE, f"Plan mode keeps tools that only read; {name} is not one."
    if mode != "plan" and name in PLAN_ONLY:
        return TOOLS_MODE, f"{name} is for plan mode; the mode is {mode}."
    return None


def filter_tools(
    names: Sequence[str], profile: str, mode: str, extra: Iterable[str] = (), disabled: Iterable[str] = ()
) -> list[str]:
    """The tools that reach the prompt, in their order."""
    extra, disabled = tuple(extra), tuple(disabled)
    return [name for name in names if hidden_by(name, profile, mode, extra, disabled) is None]


def tool_text(tool: Tool) -> tuple[bytes, bytes]:
    """A tool's text and what the list takes of it: the snippet, or the description's first line."""
    if tool.snippet:
        snippet = to_bytes(tool.snippet)
        return snippet, snippet
    description = to_bytes(tool.description)
    return description, description.partition(b"\n")[0]


def capped(text: bytes, cap: int) -> bytes:
    """A text over ``cap`` bytes cut there, with an ellipsis after; 0 or less is no cap."""
    return text[:cap] + ELLIPSIS if 0 < cap < len(text) else text


def tool_line(name: str, text: bytes) -> bytes:
    return b"- " + to_bytes(name) + b": " + text


def without_descriptions(schema: Json) -> Json:
    """A schema without any ``description`` in it (``profile_tools.go::scrubDescriptionsAny``)."""
    if isinstance(schema, dict):
        return {key: without_descriptions(value) for key, value in schema.items() if key != "description"}
    if isinstance(schema, list):
        return [without_descriptions(value) for value in schema]
    return schema


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill to list."""

    name: str
    description: str = ""
    kind: str = "prompt"


NO_DESCRIPTION = "[no text]".ljust(16, ".")
"""Stands in for bee's filler, which is as long."""


def skills_manifest(skills: Iterable[Skill]) -> str:
    """One line a skill, by name (``registry.go::Manifest``)."""
    by_name = {skill.name: skill for skill in skills}
    return "\n".join(
        f"{skill.name}: {skill.description or NO_DESCRIPTION} ({skill.kind})"
        for _, skill in sorted(by_name.items(), key=lambda item: to_bytes(item[0]))
    ).rstrip("\n")


def lines_that_fit(lines: Sequence[bytes], cap: int) -> int:
    """How many of a manifest's lines stay under a cap in bytes (``assemble.go::truncateManifest``).

    Below 0 none, 0 all. Each line is charged one byte more than it has, also the first.
    """
    if cap < 0:
        return 0
    if _fits_whole(lines, cap):
        return len(lines)
    written = 0
    for index, line in enumerate(lines):
        if written + len(line) + 1 > cap:
            return index
        written += len(line) + (1 if written else 0)
    return len(lines)


def truncate_manifest(lines: Sequence[bytes], cap: int) -> bytes:
    """The manifest of the lines that fit; cut, it also loses empty lines at its start."""
    if _fits_whole(lines, cap):
        return b"\n".join(lines)
    return b"\n".join(lines[: lines_that_fit(lines, cap)]).lstrip(b"\n")


def _fits_whole(lines: Sequence[bytes], cap: int) -> bool:
    return cap == 0 or sum(map(len, lines)) + len(lines) - 1 <= cap


def skills_section(manifest: bytes) -> bytes:
    """The section, empty for a blank manifest."""
    return b"" if is_blank(manifest) else b"## Skills\n" + manifest
