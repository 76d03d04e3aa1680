"""Our engine beside the real nanobot, on random workspaces and sessions: equal at every stage.

``PROMPTDBG_PARITY_EXAMPLES`` says how many for each release.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.parity.harness import Real
from tests.parity.workspaces import Example, examples

EXAMPLES = int(os.environ.get("PROMPTDBG_PARITY_EXAMPLES", "200"))


@pytest.mark.timeout(3600)
def test_random_examples(real: Real) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        # The same examples in every CI run; a long run looks for new ones.
        derandomize="CI" in os.environ,
        print_blob=True,
    )
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        real.check(data.draw(examples(real.words)))

    check()


ONE_CALL = {"id": "r00", "type": "function", "function": {"name": "exec", "arguments": '{"value": "x"}'}}
SECOND_REQUEST_FAILS = {
    "session_key": "cli:direct",
    "channel": "cli",
    "chat_id": "direct",
    "unified_session": False,
    "current_message": "What did we decide?",
    "media": [],
    "now": "2026-08-20T09:30:00",
    "timezone": "UTC",
    "context_window_tokens": 3500,
    "max_tokens": 256,
    "max_tool_result_chars": 16000,
    "consolidation_ratio": 0.5,
    "context_block_limit": None,
    "max_messages": 120,
    "disabled_skills": [],
    "ephemeral": False,
    "tools": [],
    "tokenizer": "cl100k_base",
    "consolidation": {"mode": "fail"},
    "inflight": [
        {"role": "assistant", "content": "river glass", "tool_calls": [ONE_CALL]},
        {"role": "tool", "tool_call_id": "r00", "name": "exec", "content": "<|endoftext|>"},
    ],
}
"""A special token makes the second request too large by its estimate; no step changes a message."""


EMPTY = (
    b'{"_type": "metadata", "key": "cli:direct", "created_at": "2026-08-19T07:59:00", '
    b'"updated_at": "2026-08-19T08:30:00", "metadata": {}, "last_consolidated": 0}\n'
)


def test_a_later_request_that_fails_before_it_is_sent(real: Real) -> None:
    real.check(Example(files={}, session=EMPTY, params=SECOND_REQUEST_FAILS, turn=None))
