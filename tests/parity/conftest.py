"""Parity tests need installed nanobots, so they are collected only where they are asked for.

``make parity`` sets ``PROMPTDBG_PARITY=1`` and the interpreters; then a missing one fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parity.harness import Real

collect_ignore_glob = [] if os.environ.get("PROMPTDBG_PARITY") == "1" else ["test_*.py"]

INTERPRETERS = {"0.3.5": "PROMPTDBG_NANOBOT_035", "0.2.2": "PROMPTDBG_NANOBOT_022"}
"""Release -> the variable that names a Python which has it."""


@pytest.fixture(scope="session", params=list(INTERPRETERS))
def python(request: pytest.FixtureRequest) -> Path:
    """An interpreter with nanobot, one release after the other."""
    variable = INTERPRETERS[request.param]
    named = os.environ.get(variable)
    if not named:
        pytest.fail(f"{variable} must name a Python that has nanobot-ai {request.param}; see: make parity")
    return Path(named)


@pytest.fixture(scope="session")
def real(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    """One child process for all examples of a release: starting it takes seconds, asking milliseconds."""
    with Real(python, tmp_path_factory.mktemp("parity").resolve()) as found:
        yield found
