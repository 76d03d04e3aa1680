"""The system prompt: sections in order, and the reason for everything that is not in it.

``agent/context.py::ContextBuilder.build_system_prompt``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from promptdbg.engines.base import EDITED, SWITCHED_OFF
from promptdbg.engines.nanobot import rules
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.historyfile import HistoryEntry
from promptdbg.engines.nanobot.inputs import BOOTSTRAP, MEMORY, NanobotInputs
from promptdbg.engines.nanobot.prose import Place, Prose
from promptdbg.engines.nanobot.recent import recent_history
from promptdbg.engines.nanobot.sections import Draft, joined
from promptdbg.engines.nanobot.skills import Skill, body_block, listed_line
from promptdbg.files.skills import StrictText
from promptdbg.model import Action, SectionStatus, Source
from promptdbg.paths import inside

SEPARATOR = "\n\n---\n\n"


@dataclass(frozen=True, slots=True)
class Summary:
    """The archived summary of a turn; ``last_active`` is ``None`` where only the text is shown."""

    text: str
    last_active: str | None

    def section(self) -> str:
        if self.last_active is None:
            return f"[Archived Context Summary]\n\n{self.text}"
        head = f"Previous conversation summary (last active {self.last_active}):"
        return f"[Archived Context Summary]\n\n{head}\n{self.text}"


@dataclass(frozen=True)
class PromptRequest:
    """What the builder is called with; a probe differs from the turn in channel and project."""

    channel: str
    project: str
    summary: Summary | None
    session_key: str
    unified: bool
    memory: bool = True
    recent: bool = True
    extra_history: tuple[HistoryEntry, ...] = ()
    summary_problem: str = ""
    """Why the summary that is stored cannot be used."""


@dataclass(frozen=True)
class PromptParts:
    """What stays the same from one prompt of an assembly to the next."""

    inputs: NanobotInputs
    dialect: Dialect
    prose: Prose
    read_skills: Callable[[], tuple[Skill, ...]]
    disabled: frozenset[str]
    off: frozenset[str]
    texts: Mapping[str, str]
    tokenizer: bool

    @cached_property
    def skills(self) -> tuple[Skill, ...]:
        """Judged when a prompt first needs them, since a bad one stops the turn just there.

        Raises:
            Crash: a skill makes nanobot raise.
        """
        return self.read_skills()


@dataclass
class SystemPrompt:
    """The text and its sections."""

    text: str
    drafts: list[Draft] = field(default_factory=list)


def build_prompt(parts: PromptParts, request: PromptRequest) -> SystemPrompt:
    """The system prompt.

    Raises:
        Crash: a file it needs is not valid UTF-8 or cannot be read, as nanobot would.
    """
    drafts = [_identity(parts, request), _bootstrap(parts, request)]
    drafts.append(_fixed(parts, "tool_contract", parts.prose.fixed("tool_contract")))
    if parts.dialect.compacts_requests and request.project != parts.inputs.shown_workspace:
        hint = parts.prose.fixed("current_project_hint")
        text = f"# Current Project\n\nWorking directory: {request.project}\n{hint}"
        drafts.append(_fixed(parts, "current_project", text, passage="current_project_hint"))
    drafts.append(_memory(parts, request))
    drafts.append(_active_skills(parts))
    drafts.append(_skills_list(parts, request))
    if parts.dialect.recent_history:
        drafts.append(_recent(parts, request))
    drafts.append(_summary(parts, request))
    for draft in drafts:
        if draft.id in parts.off and draft.output:
            draft.lose(SectionStatus.DISABLED, Action.DISABLE, SWITCHED_OFF, "switched off here")
            for child in draft.children:
                if child.output:
                    because = f"its section {draft.id} is switched off here"
                    child.lose(SectionStatus.DISABLED, Action.DISABLE, SWITCHED_OFF, because)
    return SystemPrompt(joined(drafts, SEPARATOR), drafts)


def _fixed(parts: PromptParts, name: str, text: str, passage: str = "") -> Draft:
    """A section of nanobot's own words; ``passage`` is which, where the section has another name."""
    edited = parts.texts.get(name)
    if edited is not None:
        return Draft(name, name, name, edited, edited).note(EDITED, "its text is the one edited here")
    return Draft(name, name, name, text, text, stand_in=parts.prose.stands_in(passage or name))


def _identity(parts: PromptParts, request: PromptRequest) -> Draft:
    inputs = parts.inputs
    place = Place(inputs.shown_workspace, request.project, request.channel, inputs.runtime, inputs.system)
    return _fixed(parts, "identity", parts.prose.identity(place))


# ---- files ---------------------------------------------------------------------------------------


def strict_text(file: StrictText, where: str, meaning: str) -> str | None:
    """A file's text, ``None`` when it does not exist.

    Raises:
        Crash: it cannot be read, or not as UTF-8.
    """
    if not file.found:
        return None
    if file.text is None:
        error, _, message = file.error.partition(": ")
        raise Crash(error, message, where, meaning)
    return file.text


def _bootstrap(parts: PromptParts, request: PromptRequest) -> Draft:
    inputs, filters = parts.inputs, parts.dialect.bootstrap_filters
    scoped = request.project != inputs.shown_workspace
    children: list[Draft] = []
    for name in BOOTSTRAP:
        in_project = scoped and (name == "AGENTS.md" or not filters)
        files = inputs.project_files if in_project else inputs.agent_files
        children.append(_bootstrap_file(parts, name, files.get(name, StrictText(Path(name), found=False))))
    if scoped and filters:
        children.extend(_unread_copies(parts))
    text = joined(children, "\n\n")
    draft = Draft("bootstrap", "bootstrap", "context", text, text, children=children)
    if not text:
        draft.status = SectionStatus.EMPTY
    return draft


def _unread_copies(parts: PromptParts) -> list[Draft]:
    """SOUL.md and USER.md of a project, which look as if they counted."""
    drafts: list[Draft] = []
    for name in ("SOUL.md", "USER.md"):
        file = parts.inputs.project_files.get(name)
        if file is not None and file.text:
            whole = f"## {name}\n\n{file.text}"
            draft = Draft(
                f"bootstrap/project/{name}", name, "context", file.text, whole, source=Source(str(file.path))
            )
            because = f"{name} is taken from the agent workspace, not from the project"
            drafts.append(draft.lose(SectionStatus.SHADOWED, Action.SHADOW, rules.FILE_ELSEWHERE, because))
    return drafts


def _bootstrap_file(parts: PromptParts, name: str, file: StrictText) -> Draft:
    item = f"bootstrap/{name}"
    meaning = f"{name} cannot be read: every turn fails until it is repaired."
    edited = parts.texts.get(item)
    text = (
        edited
        if edited is not None
        else strict_text(file, "agent/context.py::_load_bootstrap_files", meaning)
    )
    if text is None:
        draft = Draft(item, name, "context", "", "", SectionStatus.EMPTY)
        return draft.note(rules.FILE_MISSING, f"there is no {name}", Action.EMPTY)
    content, replaced = text, False
    if parts.dialect.bootstrap_filters and name == "SOUL.md":
        replaced = parts.prose.equals("template:legacy/SOUL.md", text.strip())
        content = parts.prose.fixed("template:SOUL.md") if replaced else text
    draft = Draft(item, name, "context", text, f"## {name}\n\n{content}", source=Source(str(file.path)))
    if replaced:
        draft.stand_in = parts.prose.stands_in("template:SOUL.md")
        draft.note(
            rules.SOUL_REPLACED, "it is the old default; the new default stands in its place", Action.REWRITE
        )
    if edited is not None:
        draft.note(EDITED, "its text is the one edited here")
    if item in parts.off:
        return draft.lose(SectionStatus.DISABLED, Action.DISABLE, SWITCHED_OFF, "switched off here")
    if not parts.dialect.bootstrap_filters:
        return draft
    if not content.strip():
        return draft.lose(
            SectionStatus.DROPPED, Action.DROP, rules.FILE_BLANK, "it holds nothing but white space"
        )
    if name != "SOUL.md" and parts.prose.equals(f"template:{name}", content.strip()):
        because = f"it is still nanobot's own {name}, word for word"
        return draft.lose(SectionStatus.DROPPED, Action.DROP, rules.FILE_TEMPLATE, because)
    return draft


def _memory(parts: PromptParts, request: PromptRequest) -> Draft:
    file = parts.inputs.agent_files[MEMORY]
    meaning = "MEMORY.md cannot be read: every turn fails until it is repaired."
    edited = parts.texts.get("memory")
    draft = Draft("memory", "memory", "memory", "", "", source=Source(str(file.path)))
    if not request.memory:
        text = edited if edited is not None else file.text or ""
    else:
        text = (
            edited if edited is not None else strict_text(file, "agent/memory.py::read_file", meaning) or ""
        )
    if not text:
        draft.status = SectionStatus.EMPTY
        return draft.note(rules.FILE_MISSING, "there is no memory/MEMORY.md, or it is empty", Action.EMPTY)
    draft.text, draft.output = text, f"# Memory\n\n## Long-term Memory\n{text}"
    if edited is not None:
        draft.note(EDITED, "its text is the one edited here")
    if not request.memory:
        because = "this session is not kept, so it sees no memory"
        return draft.lose(SectionStatus.DROPPED, Action.DROP, rules.MEMORY_OFF, because)
    if parts.prose.equals("template:memory/MEMORY.md", text.strip()):
        because = "it is still nanobot's own MEMORY.md, word for word"
        return draft.lose(SectionStatus.DROPPED, Action.DROP, rules.FILE_TEMPLATE, because)
    return draft


# ---- skills --------------------------------------------------------------------------------------


def skill_id(skill: Skill) -> str:
    """A skill's item id; a bundled one behind a workspace skill of the same name is another item."""
    return f"skills/{skill.name}" if skill.origin == "workspace" else f"skills/builtin/{skill.name}"


def usable_skills(parts: PromptParts) -> list[Skill]:
    """The skills nanobot lists at all, in its order."""
    return [skill for skill in _known_skills(parts) if skill_id(skill) not in parts.off]


def always_skills(parts: PromptParts) -> list[Skill]:
    return [skill for skill in usable_skills(parts) if skill.always and skill.available]


def _known_skills(parts: PromptParts) -> list[Skill]:
    """The skills there would be with none of them switched off here."""
    names = {skill.name for skill in parts.skills if skill.origin == "workspace"}
    return [
        skill
        for skill in parts.skills
        if skill.name not in parts.disabled and (skill.origin == "workspace" or skill.name not in names)
    ]


def _off_active(parts: PromptParts) -> list[Skill]:
    """Skills that are switched off here and would be sent whole."""
    known = (skill for skill in _known_skills(parts) if skill_id(skill) in parts.off)
    return [skill for skill in known if skill.always and skill.available]


def _skill_draft(parts: PromptParts, skill: Skill, output: str) -> Draft:
    draft = Draft(skill_id(skill), skill.name, "skill", skill.text, output, source=Source(skill.file))
    if skill_id(skill) in parts.texts:
        draft.note(EDITED, "its text is the one edited here")
    return draft


def _active_skills(parts: PromptParts) -> Draft:
    children: list[Draft] = []
    for skill in always_skills(parts):
        draft = _skill_draft(parts, skill, body_block(skill) if skill.text else "")
        if not skill.text:
            draft.status = SectionStatus.EMPTY
            draft.note(rules.SKILL_EMPTY, "its file is empty", Action.EMPTY)
        children.append(draft)
    off = [_left_out(parts, skill) for skill in _off_active(parts)]
    head = "# Active Skills\n\n"
    body = joined(children, SEPARATOR, len(head))
    text = head + body if body else ""
    status = SectionStatus.KEPT if text else SectionStatus.EMPTY
    return Draft("active_skills", "active_skills", "skills", text, text, status, children=[*children, *off])


def _skills_list(parts: PromptParts, request: PromptRequest) -> Draft:
    usable = usable_skills(parts)
    always = {skill.name for skill in always_skills(parts)}
    listed = [skill for skill in usable if skill.name not in always]
    children = [_listed(parts, skill) for skill in listed]
    by_id = {child.id: child for child in children}
    mark = "\0"  # stands for the list while the passage around it is rendered
    before, _, after = parts.prose.skills(mark).partition(mark)
    if parts.dialect.skill_groups:
        summary = _grouped(parts, request, listed, by_id, len(before))
    else:
        summary = joined(children, "\n", len(before))
    text = before + summary + after if summary else ""
    wanted = {id(skill) for skill in (*usable, *_off_active(parts))}
    children.extend(_left_out(parts, skill) for skill in parts.skills if id(skill) not in wanted)
    status = SectionStatus.KEPT if text else SectionStatus.EMPTY
    around = parts.prose.stands_in("skills_intro") if text else ""
    stand_in = f"around the list {around}" if around else ""
    return Draft("skills", "skills", "skills", text, text, status, children=children, stand_in=stand_in)


def _listed(parts: PromptParts, skill: Skill) -> Draft:
    draft = _skill_draft(parts, skill, listed_line(skill, parts.dialect))
    if skill.always and not skill.available:
        because = f"it is always on, but unmet ({', '.join(skill.missing)}), so it is only listed"
        draft.note(rules.SKILL_UNAVAILABLE, because)
    else:
        draft.note(rules.SKILL_LISTED, "only its name and description are sent; the model may read the file")
    return draft


def _grouped(
    parts: PromptParts, request: PromptRequest, listed: list[Skill], drafts: Mapping[str, Draft], offset: int
) -> str:
    same = request.project == parts.inputs.shown_workspace
    roots = {
        "workspace": inside(parts.inputs.shown_workspace, "skills"),
        "builtin": parts.inputs.builtin_root,
    }
    titles = {"workspace": "Workspace skills", "builtin": "Built-in skills"}
    groups: list[str] = []
    for origin, title in titles.items():
        members = [drafts[skill_id(skill)] for skill in listed if skill.origin == origin]
        if not members:
            continue
        head = f"### {title} (`{'skills' if same else roots[origin]}`)\n"
        start = offset + sum(len(group) + 2 for group in groups) + len(head)
        groups.append(head + joined(members, "\n", start))
    return "\n\n".join(groups)


def _left_out(parts: PromptParts, skill: Skill) -> Draft:
    draft = _skill_draft(parts, skill, listed_line(skill, parts.dialect))
    if skill_id(skill) in parts.off:
        return draft.lose(SectionStatus.DISABLED, Action.DISABLE, SWITCHED_OFF, "switched off here")
    if skill.name in parts.disabled:
        because = "disabledSkills names it"
        return draft.lose(SectionStatus.DISABLED, Action.DISABLE, rules.SKILL_DISABLED, because)
    because = f"the workspace has a skill {skill.name} of its own"
    return draft.lose(SectionStatus.SHADOWED, Action.SHADOW, rules.SKILL_SHADOWED, because)


# ---- history and summary -------------------------------------------------------------------------


def _recent(parts: PromptParts, request: PromptRequest) -> Draft:
    return recent_history(
        parts.inputs,
        parts.dialect,
        session_key=request.session_key,
        unified=request.unified,
        summary=request.summary.text if request.summary else None,
        shown=request.recent,
        extra=request.extra_history,
        off=parts.off,
        texts=parts.texts,
        tokenizer=parts.tokenizer,
    )


def _summary(parts: PromptParts, request: PromptRequest) -> Draft:
    draft = Draft("archived_summary", "archived_summary", "summary", "", "")
    edited = parts.texts.get("archived_summary")
    summary = request.summary
    if summary is None or not summary.text:
        draft.status = SectionStatus.EMPTY
        if request.summary_problem:
            draft.note(rules.SUMMARY_INVALID, request.summary_problem, Action.EMPTY)
        return draft
    if edited is not None:
        summary = Summary(edited, summary.last_active)
        draft.note(EDITED, "its text is the one edited here")
    draft.text, draft.output = summary.text, summary.section()
    if parts.dialect.compacts_requests and summary.text == "(nothing)":
        because = "the model had nothing to keep"
        return draft.lose(SectionStatus.DROPPED, Action.DROP, rules.SUMMARY_NOTHING, because)
    return draft
