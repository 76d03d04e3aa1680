"""The system prompt: its sections in order, joined, and brought under the budget.

Source: ``internal/prompt/assemble.go::Assemble``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from promptdbg.engines.base import EDITED
from promptdbg.engines.bee.blocks import JOINT, Block, enforce
from promptdbg.engines.bee.config import Config, Profile, parse_level
from promptdbg.engines.bee.constants import stand_in
from promptdbg.engines.bee.context import ContextFile, Passed
from promptdbg.engines.bee.contextdrafts import draft_context
from promptdbg.engines.bee.drafts import Desk, Draft
from promptdbg.engines.bee.gotext import to_bytes
from promptdbg.engines.bee.knowledge import Record
from promptdbg.engines.bee.lists import draft_schemas, draft_skills, draft_tools
from promptdbg.engines.bee.manifest import Tool
from promptdbg.engines.bee.memory import Offer, draft_memory
from promptdbg.engines.bee.rules import CAVEMAN, DISCIPLINE, MODE_PLAN
from promptdbg.model import SectionStatus


@dataclass(frozen=True, slots=True)
class PromptInputs:
    """What a system prompt is made of, everything chosen and expanded.

    ``records`` are those handed in directly, and offers for those that a selection considered.

    ``config`` is used as it is: ``auto`` in it stays ``auto`` (see ``config.apply_profile``).
    ``level_of_profile`` says that its terseness level was ``auto`` before, and is the profile's now.
    ``real_path`` gives where a file really lies. ``filtered`` says whether the tools go through the
    filters. ``off`` and ``texts`` are the what-ifs of ``Settings``.
    """

    config: Config
    profile: Profile
    cwd: str
    now: datetime
    level_of_profile: bool = False
    git_root: str = ""
    context: tuple[ContextFile | Passed, ...] = ()
    tools: tuple[Tool, ...] = ()
    filtered: bool = True
    mode: str = "edit"
    skills: bytes = b""
    records: tuple[Offer | Record, ...] = ()
    real_path: Callable[[str], str] = str
    off: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def is_off(self, item: str, parent: str) -> bool:
        """Whether the user switched an item off, alone or with the whole section."""
        return item in self.off or parent in self.off

    def edited(self, desk: Desk, item: str) -> bytes | None:
        """The text the user put in an item's place, which is then noted."""
        text = self.texts.get(item)
        if text is None:
            return None
        desk.note(item, EDITED, "The text is edited here; what is on disk is not.")
        return to_bytes(text)


@dataclass(frozen=True, slots=True)
class Prompt:
    """The finished prompt. ``body`` is what the budget measures, ``text`` has the plan block before
    it. ``sizes`` are the bytes of each section in ``body``, without the joints."""

    text: bytes
    body: bytes
    sizes: tuple[tuple[str, int], ...]
    over: bool


def build(inputs: PromptInputs, desk: Desk) -> Prompt:
    """Make every section, enforce the budget, join; drafts and decisions are left on the desk."""
    plan = _plan(inputs, desk)
    fixed = [_rules(inputs, desk), _identity(inputs, desk), _discipline(inputs, desk)]
    context, tools = draft_context(inputs, desk), draft_tools(inputs, desk)
    skills, records = draft_skills(inputs, desk), draft_memory(inputs, desk)
    draft_schemas(inputs, desk, {part.draft.id for part in tools.parts})
    blocks = [*fixed, context, tools, skills, records]
    limit = inputs.profile.system_prompt_budget
    over = enforce(desk, limit, blocks, records=records, skills=skills, context=context)
    return _joined(plan, blocks, over)


def _joined(plan: Draft | None, blocks: Sequence[Block], over: bool) -> Prompt:
    """Join what is left, and tell every draft where it begins."""
    prefix = plan.output + b"\n" if plan and plan.output else b""
    if plan and plan.output:
        plan.at = 0
    shown = [block for block in blocks if block.draft.output]
    at = len(prefix)
    for block in shown:
        block.place(at)
        at += len(block.draft.output) + len(JOINT)
    body = JOINT.join(block.draft.output for block in shown)
    sizes = tuple((block.draft.id, len(block.draft.output)) for block in shown)
    return Prompt(prefix + body, body, sizes, over)


def _simple(inputs: PromptInputs, desk: Desk, item: str, name: str, text: bytes) -> Block:
    """A section that is one text of bee's own: empty, switched off, or as it is."""
    edited = inputs.edited(desk, item)
    text = text if edited is None else edited.rstrip(b"\n")
    instead = "a stand-in of the same size for bee's own words" if text and edited is None else ""
    draft = desk.add(Draft(item, name, item, text, text, text, stand_in=instead))
    if item in inputs.off:
        desk.disable(draft)
    elif not text:
        draft.status = SectionStatus.EMPTY
    return Block(draft)


def _plan(inputs: PromptInputs, desk: Desk) -> Draft | None:
    if inputs.mode != "plan":
        return None
    draft = _simple(inputs, desk, "plan", "Plan mode", stand_in("plan")).draft
    if draft.output:
        desk.note("plan", MODE_PLAN, "Plan mode puts this before the prompt; the budget does not count it.")
    return draft


def _rules(inputs: PromptInputs, desk: Desk) -> Block:
    level = parse_level(inputs.config.caveman)
    text = stand_in(f"caveman.{level}") if level in ("lite", "full", "ultra") else b""
    top = _simple(inputs, desk, "rules", "Terseness rules", text)
    asked = inputs.config.caveman
    if not level:
        because = f"{asked!r} names no level, so there are no rules, yet the identity is the short one."
    else:
        said = f"{asked!r} as configured" if asked.strip() else "by default"
        if inputs.level_of_profile:
            said = "by default, from the profile"
        because = f"The level is {level} ({said}): {len(text):,} bytes of rules."
    desk.note("rules", CAVEMAN, because, measured=len(text), unit="bytes")
    return top


def _identity(inputs: PromptInputs, desk: Desk) -> Block:
    text = identity(inputs.cwd, inputs.git_root, parse_level(inputs.config.caveman))
    return _simple(inputs, desk, "identity", "Identity", text)


def identity(cwd: str, git_root: str, level: str) -> bytes:
    """The identity block: long with the level off, else short, also for an unknown level; the
    project's root only where it is not the working folder."""
    project = to_bytes(git_root) if git_root and git_root != cwd else b""
    where = to_bytes(cwd)
    if level == "off":
        lines = [stand_in("identity.off.head"), stand_in("identity.off.cwd") + where + b"."]
        if project:
            lines.append(stand_in("identity.off.root") + project + b".")
        return b"\n".join(lines)
    text = stand_in("identity.terse.head") + where + b"."
    return text + stand_in("identity.terse.root") + project + b"." if project else text


def _discipline(inputs: PromptInputs, desk: Desk) -> Block:
    tiny = inputs.config.profile == "tiny"
    top = _simple(inputs, desk, "discipline", "Discipline", stand_in("discipline") if tiny else b"")
    if not tiny:
        because = f"The profile's name is {inputs.config.profile!r}; only the name 'tiny' brings this."
        desk.note("discipline", DISCIPLINE, because)
    return top
