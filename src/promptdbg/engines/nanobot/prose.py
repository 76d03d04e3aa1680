"""nanobot's own passages, from one of three makers: an installed copy, stand-ins, or tokens.

Rules of the pipeline compare and insert these texts, so each maker gives all of them: the passages
of the system prompt, the marks that replace tool results, the notes that close a crashed turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from promptdbg.engines.nanobot.passages import Passage, passages
from promptdbg.engines.nanobot.templates import TemplateError, render

IDENTITY_TOKENS = MappingProxyType({"main": 221, "0.3.5": 218, "0.2.2": 462})
"""cl100k tokens of the rendered identity on Linux, channel ``cli``, project = agent workspace."""

IDENTITY, PLATFORM_POLICY = "agent/identity.md", "agent/platform_policy.md"
SKILLS_SECTION, ARCHIVE = "agent/skills_section.md", "agent/consolidator_archive.md"
CONTRACT = "agent/tool_contract.md"


@dataclass(frozen=True, slots=True)
class Place:
    """What the identity passage is told: shown paths, channel, and the machine nanobot runs on."""

    workspace: str
    project: str
    channel: str
    runtime: str
    system: str


class Prose(Protocol):
    """Where nanobot's own words come from."""

    @property
    def fidelity(self) -> str:
        """``exact``, or what is not."""

    def fixed(self, name: str) -> str:
        """A passage without variables, by its name in ``passages``."""

    def about(self, name: str, tool: str) -> str:
        """A passage that names a tool: ``compacted`` or ``empty_result``."""

    def identity(self, place: Place) -> str: ...

    def skills(self, summary: str) -> str:
        """The skills section around its list."""

    def archive_request(self, rows: int) -> str:
        """The instruction that asks the model for a summary."""

    def stands_in(self, name: str) -> str:
        """What is shown in place of a passage, as a clause; empty where it is nanobot's own text."""

    def equals(self, name: str, text: str) -> bool:
        """Whether a text is exactly this passage."""


def fingerprint(text: str) -> str:
    """SHA-256 of the text as nanobot would write it; lone surrogates do not matter here."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _known_as(table: Mapping[str, Passage], name: str, text: str) -> bool:
    known = table.get(name)
    return known is not None and len(text) == known.chars and fingerprint(text) == known.sha256


@dataclass(frozen=True)
class TokenProse:
    """Every passage is its name in double braces, as the reference cases have it."""

    fidelity: str = "passages of nanobot are shown by name"

    def fixed(self, name: str) -> str:
        return f"{{{{nanobot:{name}}}}}"

    def about(self, name: str, tool: str) -> str:
        return self.fixed(f"{name}:{tool}")

    def identity(self, place: Place) -> str:
        return self.fixed("identity")

    def skills(self, summary: str) -> str:
        return self.fixed("skills_intro") + summary

    def archive_request(self, rows: int) -> str:
        return self.fixed("consolidator_archive")

    def stands_in(self, name: str) -> str:
        return "the name of nanobot's own text stands for it"

    def equals(self, name: str, text: str) -> bool:
        return text == self.fixed(name)


STAND_INS: Mapping[str, str] = MappingProxyType(
    {
        "tool_contract": "[nanobot: how to use tools]",
        "skills_intro": "# Skills\n\n[nanobot: how to read a skill]\n\n",
        "backfill": "[no result was recorded for this call]",
        "placeholder_assistant": "[an assistant message left out]",
        "persist.head": "[result stored in a file]\nFile: ",
        "persist.size": "\nLength: ",
        "persist.preview": " chars\nBeginning:\n",
        "persist.more": "\n...\n[the file has the rest]",
        "persist.tail": "\n[the file has all of it]",
        "interrupted_tool": "[the tool was interrupted before it finished]",
        "interrupted_turn": "[the turn was interrupted before an answer]",
        "summary_continuation": "[continue from the summary above]",
        "current_project_hint": "[nanobot: relative paths start here]",
        "template:AGENTS.md": "[nanobot: default AGENTS.md]",
        "template:USER.md": "[nanobot: default USER.md]",
        "template:SOUL.md": "[nanobot: default SOUL.md]",
        "template:legacy/SOUL.md": "[nanobot: older default SOUL.md]",
        "template:memory/MEMORY.md": "[nanobot: default MEMORY.md]",
    }
)


@dataclass(frozen=True)
class StandInProse:
    """Short neutral words of ours where nanobot would speak; texts on disk are told by fingerprint."""

    dialect: str
    reason: str = "no installed copy of nanobot-ai was found"
    table: Mapping[str, Passage] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", MappingProxyType(passages(self.dialect)))

    @property
    def fidelity(self) -> str:
        real = IDENTITY_TOKENS[self.dialect] + self.table["tool_contract"].tokens
        return (
            f"stand-ins for nanobot's own passages ({self.reason}); the real identity and tool contract "
            f"are about {real:,} tokens (cl100k)"
        )

    def fixed(self, name: str) -> str:
        return STAND_INS[name]

    def about(self, name: str, tool: str) -> str:
        if name == "compacted":
            return f"[the result of {tool} was removed to make room]"
        return f"[{tool}: no output]"

    def identity(self, place: Place) -> str:
        text = f"[nanobot: who it is and where it runs]\nWorkspace: {place.workspace}"
        return text if place.project == place.workspace else f"{text}\nProject: {place.project}"

    def skills(self, summary: str) -> str:
        return self.fixed("skills_intro") + summary

    def archive_request(self, rows: int) -> str:
        return f"[nanobot: summarise the {rows} messages above]"

    def stands_in(self, name: str) -> str:
        known = self.table.get(name)
        tokens = IDENTITY_TOKENS[self.dialect] if name == "identity" else known.tokens if known else 0
        size = f"about {tokens:,} tokens (cl100k)" if tokens else "words"
        return f"a stand-in for {size} of nanobot's own"

    def equals(self, name: str, text: str) -> bool:
        return text == STAND_INS.get(name) or _known_as(self.table, name, text)


@dataclass(frozen=True)
class InstalledProse:
    """The passages of an installed copy, read as data from its files and proved by fingerprint.

    What this copy does not have, or has otherwise than the dialect, comes from the stand-ins.
    """

    dialect: str
    origin: str
    constants: Mapping[str, str]
    about_tool: Mapping[str, tuple[str, str]]
    """Passage name -> the text before and after the tool's name."""
    templates: Mapping[str, str]
    missing: tuple[str, ...] = ()
    fallback: StandInProse = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fallback", StandInProse(self.dialect))

    @property
    def fidelity(self) -> str:
        if not self.missing:
            return "exact"
        return "stand-ins for passages the installed copy does not have: " + ", ".join(self.missing)

    def fixed(self, name: str) -> str:
        known = self.constants.get(name)
        return self.fallback.fixed(name) if known is None else known

    def about(self, name: str, tool: str) -> str:
        around = self.about_tool.get(name)
        return self.fallback.about(name, tool) if around is None else around[0] + tool + around[1]

    def identity(self, place: Place) -> str:
        try:
            values = {
                "workspace_path": place.project,
                "agent_workspace_path": place.workspace,
                "runtime": place.runtime,
                "system": place.system,
                "channel": place.channel,
            }
            values["platform_policy"] = self._render(PLATFORM_POLICY, values)
            return self._render(IDENTITY, values)
        except TemplateError:
            return self.fallback.identity(place)

    def skills(self, summary: str) -> str:
        try:
            return self._render(SKILLS_SECTION, {"skills_summary": summary})
        except TemplateError:
            return self.fallback.skills(summary)

    def archive_request(self, rows: int) -> str:
        try:
            return self._render(ARCHIVE, {"archive_count": str(rows)}).rstrip()
        except TemplateError:
            return self.fallback.archive_request(rows)

    def stands_in(self, name: str) -> str:
        templates = {"identity": IDENTITY, "skills_intro": SKILLS_SECTION}
        own = templates.get(name, name) not in self.missing
        return "" if own else self.fallback.stands_in(name)

    def equals(self, name: str, text: str) -> bool:
        return text == self.constants.get(name) or self.fallback.equals(name, text)

    def _render(self, name: str, values: Mapping[str, str]) -> str:
        return render(self._source(name), values, self._source)

    def _source(self, name: str) -> str:
        if name not in self.templates:
            raise TemplateError(f"no template {name}")
        return self.templates[name]
