"""What an assembly adds up to while it is made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from promptdbg.engines.base import Trace
from promptdbg.engines.phronomy.estimate import Estimate, canonical_json
from promptdbg.engines.phronomy.inputs import Tool
from promptdbg.engines.stages import Stages
from promptdbg.model import Budget, Section, SectionStatus, StageKind
from promptdbg.tokens import TokenCounter


@dataclass(slots=True)
class Outcome:
    """Stages, sections and budget so far; ``where`` is the place of the framework that runs now."""

    counter: TokenCounter
    trace: Trace
    stages: Stages = field(init=False)
    sections: list[Section] = field(default_factory=list)
    budget: Budget | None = None
    where: str = ""

    def __post_init__(self) -> None:
        self.stages = Stages(self.counter)

    def begin(self, stages: Stages, title: str) -> None:
        """Start from a stored list."""
        self.stages = stages
        stages.first("session", title)

    def placed_sections(self) -> tuple[Section, ...]:
        """The sections; offsets only where the list got as far as a system message."""
        kinds = {stage.kind for stage in self.stages.stages}
        if kinds & {StageKind.INITIAL, StageKind.FINAL}:
            return tuple(self.sections)
        return tuple(replace(section, offset=None) for section in self.sections)

    def add_tools(self, tools: tuple[Tool, ...], costs: dict[str, int], off: frozenset[str]) -> None:
        """The tool schemas as sections, under one that holds them all. Costs are by the framework."""
        if not tools:
            return
        sections = []
        for order, tool in enumerate(tools):
            text = canonical_json(dict(tool.definition))
            there = tool.id not in off
            tokens = self.counter.count(text)
            cost = costs.get(tool.id, 0)
            sections.append(
                Section(
                    id=tool.id,
                    name=tool.name,
                    kind="tool",
                    order=order,
                    text=text,
                    output=text if there else "",
                    status=SectionStatus.KEPT if there else SectionStatus.DISABLED,
                    tokens=tokens if there else 0,
                    tokens_original=tokens,
                    size=cost if there else 0,
                    size_original=cost,
                    unit="tokens",
                    parent="tools",
                    place="tools",
                )
            )
        kept = [section for section in sections if section.output]
        self.sections.append(
            Section(
                id="tools",
                name="tools",
                kind="tools",
                order=len(self.sections),
                text="",
                output="".join(section.output for section in kept),
                status=SectionStatus.KEPT if len(kept) == len(sections) else SectionStatus.TRUNCATED,
                tokens=sum(section.tokens for section in kept),
                tokens_original=sum(section.tokens_original for section in sections),
                size=sum(section.size for section in kept),
                size_original=sum(section.size_original for section in sections),
                unit="tokens",
                place="tools",
            )
        )
        self.sections += sections


def tool_text(tool: Tool) -> str:
    """What generation 2 estimates of a tool: its description and parameter names, spaces between."""
    return " ".join([tool.description, *tool.parameters])


def tool_cost(tool: Tool, estimate: Estimate) -> int:
    """Tokens of a tool class; an instance costs nothing."""
    return 0 if tool.instance else estimate(tool_text(tool))
