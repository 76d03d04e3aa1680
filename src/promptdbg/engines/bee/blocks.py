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
    scale = _Scale(desk, limit, sum(sizes), len(sizes))
    scale.drop_parts(records, BUDGET_RECORDS, "records go first, from the end of the list")
    if scale.over and skills.draft.output:
        scale.drop_whole(skills)
    scale.drop_parts(
        context, BUDGET_CONTEXT, "with no record and no skill left, context files go, the last first"
    )
    if scale.over:
        because = f"Nothing more can be dropped and the prompt is {scale.words()}; it is sent as it is."
        desk.note(SYSTEM_ITEM, BUDGET_OVER, because, measured=scale.tokens, limit=limit, unit="tokens")
    return scale.over


@dataclass(slots=True)
class _Scale:
    """The joined prompt's size while sections shrink."""

    desk: Desk
    limit: int
    bytes: int
    sections: int

    @property
    def size(self) -> int:
        return self.bytes + len(JOINT) * max(0, self.sections - 1)

    @property
    def tokens(self) -> int:
        return estimate_bytes(self.size)

    @property
    def over(self) -> bool:
        return self.tokens > self.limit

    def words(self) -> str:
        estimate = f"estimated at {self.tokens:,} tokens ({self.size:,} bytes / 4)"
        return f"{estimate}, over the budget of {self.limit:,}"

    def drop_parts(self, block: Block, rule: Rule, order: str) -> None:
        before = self.over
        while self.over and block.parts:
            part = block.parts.pop()
            because = f"The prompt is {self.words()}; {order}."
            numbers = {"measured": self.tokens, "limit": self.limit}
            self._shrink(block, len(part.draft.output))
            for inner in part.inner:
                if inner.draft.output:
                    self.desk.drop(
                        inner.draft, rule, "Goes with its context file. " + because, unit="tokens", **numbers
                    )
            self.desk.drop(part.draft, rule, because, unit="tokens", **numbers)
        if before:
            block.refresh()
            block.draft.status = SectionStatus.TRUNCATED if block.parts else SectionStatus.DROPPED

    def _shrink(self, block: Block, part: int) -> None:
        if block.parts:
            self.bytes -= part + 1
        else:
            self.bytes -= len(block.head) + part
            self.sections -= 1

    def drop_whole(self, block: Block) -> None:
        because = f"With all records gone the prompt is {self.words()}; the skills go whole."
        numbers = {"measured": self.tokens, "limit": self.limit}
        self.bytes -= len(block.draft.output)
        self.sections -= 1
        for part in block.parts:
            self.desk.drop(part.draft, BUDGET_SKILLS, because, unit="tokens", **numbers)
        block.parts.clear()
        block.draft.output, block.draft.status = b"", SectionStatus.DROPPED
