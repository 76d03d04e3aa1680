"""Everything one assembly computed, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field

from promptdbg.engines.base import Trace
from promptdbg.engines.nanobot.consolidation import Consolidated
from promptdbg.engines.nanobot.crash import Crash
from promptdbg.engines.nanobot.current import Current
from promptdbg.engines.nanobot.estimate import Estimate, Estimator, ToolSet
from promptdbg.engines.nanobot.events import Step
from promptdbg.engines.nanobot.governor import Governor
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.nanobot.knobs import Options
from promptdbg.engines.nanobot.loading import LoadedSession
from promptdbg.engines.nanobot.prompt import PromptParts, Summary, SystemPrompt
from promptdbg.engines.nanobot.prose import Prose
from promptdbg.engines.nanobot.recorder import Recorder
from promptdbg.engines.nanobot.requests import EVENTS_BEFORE, Request
from promptdbg.engines.nanobot.restore import Restored
from promptdbg.engines.nanobot.rows import Rows
from promptdbg.engines.nanobot.turn import TurnView
from promptdbg.model import Assembly, Settings

TITLES = {
    "session": "Stored session",
    "settings": "Switched off or edited here",
    "restore": "Crashed turn restored",
    "history": "History replayed",
    "initial": "Initial messages",
    EVENTS_BEFORE: "Rows of this turn",
    "strip_placeholder_assistant_messages": "Placeholders removed",
    "strip_malformed_tool_calls": "Malformed calls removed",
    "drop_orphan_tool_results": "Orphan results dropped",
    "backfill_missing_tool_results": "Missing results filled in",
    "microcompact": "Old results compacted",
    "apply_tool_result_budget": "Long results stored in files",
    "compact_inflight_overflow": "Results of this turn compacted",
    "snip_history": "History snipped",
    "snip_history(force)": "History snipped under pressure",
    "drop_orphan_tool_results_2": "Orphan results dropped again",
    "backfill_missing_tool_results_2": "Missing results filled in again",
    "merge_adjacent_user_messages": "User messages merged",
    "compact_request_history": "History replaced by a summary",
    "final": "Sent to the model",
}
_PROJECT_CHANNEL = "websocket"


@dataclass
class Turn:
    """Everything one assembly computed, for tests and for comparing with the real program."""

    inputs: NanobotInputs
    settings: Settings
    options: Options
    loaded: LoadedSession
    seen: TurnView
    prose: Prose
    estimator: Estimator
    tools: ToolSet
    trace: Trace
    recorder: Recorder
    prompt_parts: PromptParts | None = None
    rows: Rows = ()
    archived: int = 0
    restored: Restored | None = None
    summary: Summary | None = None
    consolidated: Consolidated | None = None
    history: Step | None = None
    current: Current | None = None
    prompt: SystemPrompt | None = None
    """The prompt of the last list; compaction builds another than ``first_prompt``."""
    first_prompt: SystemPrompt | None = None
    initial: Rows = ()
    initial_estimate: Estimate | None = None
    governor: Governor | None = None
    request: Request | None = None
    requests: int = 1
    crash: Crash | None = None
    assembly: Assembly | None = field(default=None, repr=False)

    @property
    def session_key(self) -> str:
        return self.inputs.session_key

    @property
    def project(self) -> str:
        """The folder the turn works in, as shown; only the WebUI's channel has projects."""
        scoped = self.options.channel == _PROJECT_CHANNEL
        return self.inputs.shown_project if scoped else self.inputs.shown_workspace

    @property
    def ephemeral(self) -> bool:
        return self.options.ephemeral or not self.options.memory
