"""What the steps of one turn share, and what a step is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from promptdbg.engines.nanobot.dialects import Dialect
from promptdbg.engines.nanobot.estimate import Estimate, Estimator, ToolSet, strict_prompt
from promptdbg.engines.nanobot.events import Step
from promptdbg.engines.nanobot.prose import Prose
from promptdbg.engines.nanobot.rows import Rows
from promptdbg.engines.nanobot.toolresults import Offloaded, ResultRules
from promptdbg.engines.reuse import Reuse


@dataclass
class Governor:
    """What the steps of one turn share; ``compacted`` and ``files`` grow from request to request."""

    dialect: Dialect
    prose: Prose
    estimator: Estimator
    tools: ToolSet
    results: ResultRules
    budget: int
    """Input tokens of a request (section 8.2); 0 switches off what depends on it."""
    inflight_start: int
    reuse: Reuse
    compaction: bool = True
    compacted: list[str] = field(default_factory=list)
    files: dict[str, Offloaded] = field(default_factory=dict)

    def measure(self, rows: Rows) -> Estimate:
        return strict_prompt(self.reuse, self.estimator, rows, self.tools)

    def store(self, files: Iterable[Offloaded]) -> None:
        """Results go to files; one that is there already stays as it is."""
        for file in files:
            self.files.setdefault(file.path, file)


StepFunction = Callable[[Governor, Rows], Step]
"""One step: the list before it to the list after it."""
