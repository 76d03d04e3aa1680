"""Our engine beside the real nanobot, on random workspaces and sessions: equal at every stage.

``PROMPTDBG_PARITY_EXAMPLES`` says how many for each release.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.parity.harness import Real
from tests.parity.workspaces import examples

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
