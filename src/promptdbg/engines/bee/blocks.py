"""A section made of parts, and the budget that takes parts away from the end.

Source: ``internal/prompt/assemble.go::Assemble``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from promptdbg.engines.bee.drafts import Desk, Draft
from promptdbg.engines.bee.gotext import estimate_bytes
from promptdbg.engines.bee.rules import BUDGET_CONTEXT, BUDGET_OVER, BUDGET_RECORDS, BUDGET_SKILLS
from promptdbg.files.imports import Import
from promptdbg.model import Rule, SectionStatus

JOINT = b"\n\n"
SYSTEM_ITEM = "system"


@dataclass(frozen=True, slots=True)
class Inner:
    """Something inside a part: it begins at byte ``at`` of the part, its content ``content`` bytes
    later; ``imports`` are those in its content."""

    draft: Draft
    at: int
    content: int = 0
    imports: tuple[Import, ...] = ()


@dataclass(slots=True)
class Part:
    """A part of a section, and what stands inside it.

    ``gap`` are the bytes of nameless text (blank lines) before it.
    """

    draft: Draft
    inner: list[Inner] = field(default_factory=list)
    gap: int = 0


@dataclass(slots=True)
class Block:
    """A top-level section: a head and its parts, one to a line."""

    draft: Draft
    head: bytes = b""
    parts: list[Part] = field(default_factory=list)

    def refresh(self) -> None:
        """Write the section anew from its parts."""
        lines = b"\n".join(part.draft.output for part in self.parts)
        self.draft.output = (self.head + lines).rstrip(b"\n") if self.parts else b""

    def place(self, at: int) -> None:
        """Tell the section and everything in it that it begins at byte ``at`` of the prompt."""
        self.draft.at = at
        end = at + len(self.draft.output)
        at += len(self.head)
        for part in self.parts:
            at += part.gap
            if at + len(part.draft.output) <= end:
                part.draft.at = at
                for inner in part.inner:
                    inner.draft.at = at + inner.at
            at += len(part.draft.output) + 1


def enforce(
    desk: Desk, limit: int, blocks: Sequence[Block], *, records: Block, skills: Block, context: Block
) -> bool:
    """Take records, then the skills, then context files away until the estimate fits ``limit``
    tokens; whether it is still over. A limit of 0 or less is none.

    The estimate is of the joined text, so it is kept as a number of bytes while parts go.
    """
    if limit <= 0:
        return False
    sizes = [len(block.draft.output) for block in blocks if block.draft.output]
    joints = len(JOINT) * (len(sizes) - 1) if sizes else 0
    scale = _Scale(desk, limit, sum(sizes) + joints, len(sizes))
    scale.drop_parts(records, BUDGET_RECORDS, "records go first, from the end of the list")
    if scale.over and skills.draft.output:
        scale.drop_whole(skills)
    scale.drop_parts(
        context, BUDGET_CONTEXT, "with no record and no skill left, context files go, the last first"
    )
    if scale.over:
        because = f"{scale.words(scale.tokens)}. Nothing more can be dropped; it is sent as it is."
        desk.note(SYSTEM_ITEM, BUDGET_OVER, because, scale.tokens, limit, "tokens")
    return scale.over


@dataclass(slots=True)
class _Scale:
    """The joined prompt's size in bytes while sections shrink; ``sections`` are those not empty."""

    desk: Desk
    limit: int
    size: int
    sections: int

    @property
    def tokens(self) -> int:
        return estimate_bytes(self.size)

    @property
    def over(self) -> bool:
        return estimate_bytes(self.size) > self.limit

    def words(self, tokens: int) -> str:
        return (
            f"The prompt is estimated at {tokens:,} tokens ({self.size:,} bytes / 4), over the budget of "
            f"{self.limit:,}"
        )

    def drop_parts(self, block: Block, rule: Rule, order: str) -> None:
        if not self.over or not block.parts:
            return
        limit = self.limit
        while block.parts and (tokens := estimate_bytes(self.size)) > limit:
            part = block.parts.pop()
            because = f"{self.words(tokens)}; {order}."
            self.size -= len(part.draft.output) + 1
            for inner in part.inner:
                if inner.draft.output:
                    why = f"Goes with its context file. {because}"
                    self.desk.drop(inner.draft, rule, why, tokens, limit, "tokens")
            self.desk.drop(part.draft, rule, because, tokens, limit, "tokens")
        if not block.parts:
            self._without_section(len(block.head) - 1)
        block.refresh()
        block.draft.status = SectionStatus.TRUNCATED if block.parts else SectionStatus.DROPPED

    def _without_section(self, rest: int) -> None:
        """A section vanishes: its last ``rest`` bytes go, and a joint unless it was the only one."""
        self.sections -= 1
        self.size -= rest + (len(JOINT) if self.sections else 0)

    def drop_whole(self, block: Block) -> None:
        tokens = self.tokens
        because = f"{self.words(tokens)}, with all records gone; the skills go whole."
        self._without_section(len(block.draft.output))
        for part in block.parts:
            self.desk.drop(part.draft, BUDGET_SKILLS, because, tokens, self.limit, "tokens")
        block.parts.clear()
        block.draft.output, block.draft.status = b"", SectionStatus.DROPPED
