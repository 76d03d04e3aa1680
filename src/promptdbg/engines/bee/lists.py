"""The tools and skills sections, part by part."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from promptdbg.engines.bee.blocks import Block, Part
from promptdbg.engines.bee.drafts import Desk, Draft
from promptdbg.engines.bee.gotext import marshal
from promptdbg.engines.bee.manifest import (
    Tool,
    capped,
    hidden_by,
    lines_that_fit,
    skills_section,
    tool_line,
    tool_text,
    truncate_manifest,
    without_descriptions,
)
from promptdbg.engines.bee.rules import SKILLS_CAP, SKILLS_OFF, TOOLS_CAP, TOOLS_LINE, TOOLS_SCHEMA
from promptdbg.model import Json, SectionStatus

if TYPE_CHECKING:
    from promptdbg.engines.bee.prompt import PromptInputs


def draft_tools(inputs: PromptInputs, desk: Desk) -> Block:
    """One line for each tool that passes the filters (``assemble.go::toolsManifest``)."""
    block = Block(desk.add(Draft("tools", "Tools", "tools")), b"## Tools\n")
    extra = frozenset((*inputs.config.extra_tools, *inputs.config.user_tools))
    disabled = frozenset(inputs.config.disabled_tools)
    whole: list[bytes] = []
    for tool in inputs.tools:
        draft = desk.add(Draft(f"tools/{tool.name}", tool.name, "tool", parent="tools"))
        _tool(inputs, desk, draft, tool, extra, disabled)
        if draft.output:
            block.parts.append(Part(draft))
            whole.append(draft.whole)
    finish(inputs, desk, block, whole)
    return block


def _tool(
    inputs: PromptInputs,
    desk: Desk,
    draft: Draft,
    tool: Tool,
    extra: frozenset[str],
    disabled: frozenset[str],
) -> None:
    text, first = tool_text(tool)
    edited = inputs.edited(desk, draft.id)
    if edited is not None:
        text = first = edited
    draft.text = text
    draft.whole = draft.output = tool_line(tool.name, text)
    if inputs.is_off(draft.id, "tools"):
        desk.disable(draft)
        return
    if inputs.filtered:
        hidden = hidden_by(tool.name, inputs.config.profile, inputs.mode, extra, disabled)
        if hidden:
            desk.drop(draft, *hidden)
            return
    if len(first) < len(text):
        because = (
            f"The list takes the first line of a description, {len(first):,} of {len(text):,} bytes. "
            "The rest travels with the tool's schema only."
        )
        desk.cut(draft, TOOLS_LINE, tool_line(tool.name, first), because, len(text), len(first), "bytes")
        draft.kept = ((0, len(first)),)
    cap = inputs.profile.tool_desc_chars
    shown = capped(first, cap)
    if shown != first:
        because = (
            f"The text has {len(first):,} bytes and tool_desc_chars is {cap:,}{split_words(first, cap)}."
        )
        desk.cut(draft, TOOLS_CAP, tool_line(tool.name, shown), because, len(first), cap, "bytes")
        draft.kept = ((0, cap),)


def draft_schemas(inputs: PromptInputs, desk: Desk, shown: Collection[str]) -> None:
    """The schemas that travel beside the prompt, of the tools whose section ids are in ``shown``."""
    tools = [tool for tool in inputs.tools if tool.schema is not None and f"tools/{tool.name}" in shown]
    if not tools:
        return
    parent = desk.add(Draft("schemas", "Tool schemas", "schemas", place="tools"))
    parts: list[bytes] = []
    for tool in tools:
        whole = _schema(tool, tool.schema)
        text = whole
        if inputs.config.profile == "tiny":
            text = _schema(tool, without_descriptions(tool.schema))
        item = f"schemas/{tool.name}"
        desk.add(Draft(item, tool.name, "schema", text, text, text, parent="schemas", place="tools"))
        if len(text) < len(whole):
            because = f"Of {len(whole):,} bytes {len(text):,} are sent: no description of a parameter."
            desk.note(item, TOOLS_SCHEMA, because, len(text), len(whole), "bytes")
        parts.append(text)
    parent.text = parent.whole = parent.output = b"\n".join(parts)


def _schema(tool: Tool, schema: Json) -> bytes:
    return marshal({"name": tool.name, "description": tool.description, "schema": schema})


def split_words(text: bytes, at: int) -> str:
    """What a sentence about a cut adds when it falls inside a character."""
    inside = 0 < at < len(text) and text[at] & 0xC0 == 0x80
    return "; the cut falls inside a character" if inside else ""


def finish(inputs: PromptInputs, desk: Desk, block: Block, whole: Sequence[bytes]) -> None:
    """Fill in a section from its live parts; ``whole`` is what they would be without loss."""
    draft = block.draft
    block.refresh()
    draft.whole = (block.head + b"\n".join(whole)).rstrip(b"\n") if whole else b""
    draft.text = draft.whole
    if draft.id in inputs.off:
        desk.disable(draft)
    elif not block.parts:
        draft.status = SectionStatus.EMPTY
    elif any(part.draft.status is SectionStatus.TRUNCATED for part in block.parts):
        draft.status = SectionStatus.TRUNCATED


def draft_skills(inputs: PromptInputs, desk: Desk) -> Block:
    """The manifest's lines while they fit (``assemble.go::truncateManifest, skillsSection``)."""
    top = desk.add(Draft("skills", "Skills", "skills"))
    block = Block(top, b"## Skills\n")
    live: list[tuple[bytes, Draft | None]] = []
    for line in inputs.skills.split(b"\n") if inputs.skills else ():
        draft = _skill(inputs, desk, line)
        if draft is None or draft.status is SectionStatus.EMPTY:
            live.append((draft.text if draft else line, None))
        elif draft.status is SectionStatus.KEPT:
            live.append((draft.text, draft))
    lines = [line for line, _ in live]
    cap = inputs.profile.skill_manifest_chars
    fit = lines_that_fit(lines, cap)
    manifest = truncate_manifest(lines, cap)
    _drop_skills(inputs, desk, live, fit)
    block.parts = _laid_out(manifest, live[:fit])
    top.whole = top.text = skills_section(b"\n".join(lines)).rstrip(b"\n")
    top.output = skills_section(manifest).rstrip(b"\n")
    if "skills" in inputs.off:
        desk.disable(top)
    elif not top.whole:
        top.status = SectionStatus.EMPTY
    elif fit < len(lines):
        top.status = SectionStatus.TRUNCATED if top.output else SectionStatus.DROPPED
    return block


def _skill(inputs: PromptInputs, desk: Desk, line: bytes) -> Draft | None:
    if not line.strip():
        return None
    name = line.partition(b":")[0].strip().decode("utf-8", "replace")
    draft = desk.add(Draft(f"skills/{name}", name, "skill", parent="skills"))
    edited = inputs.edited(desk, draft.id)
    draft.text = draft.whole = draft.output = line if edited is None else edited.replace(b"\n", b" ")
    if inputs.is_off(draft.id, "skills"):
        desk.disable(draft)
    elif not draft.text.strip():
        draft.status = SectionStatus.EMPTY
    return draft


def _drop_skills(
    inputs: PromptInputs, desk: Desk, live: Sequence[tuple[bytes, Draft | None]], fit: int
) -> None:
    cap = inputs.profile.skill_manifest_chars
    written = len(b"\n".join(line for line, _ in live[:fit]).lstrip(b"\n"))
    for line, draft in live[fit:]:
        if draft is None:
            continue
        need = len(line) + 1
        if cap < 0:
            because = f"skill_manifest_chars is {cap}, so no skill is listed."
            desk.drop(draft, SKILLS_OFF, because, measured=need, limit=cap, unit="bytes")
            continue
        because = (
            f"{written:,} bytes are written and this line needs {need:,} with its newline; "
            f"skill_manifest_chars is {cap:,}."
        )
        if written + need <= cap:
            because = f"A line before it did not fit skill_manifest_chars {cap:,}, and listing stops there."
        desk.drop(draft, SKILLS_CAP, because, measured=written + need, limit=cap, unit="bytes")


def _laid_out(manifest: bytes, shown: Sequence[tuple[bytes, Draft | None]]) -> list[Part]:
    """The lines that are shown as parts of one text; blank lines between them are gaps."""
    parts: list[Part] = []
    at = 0
    for line, draft in shown:
        if draft:
            found = manifest.index(line, at)
            parts.append(Part(draft, gap=found - at))
            at = found + len(line) + 1
    return parts
