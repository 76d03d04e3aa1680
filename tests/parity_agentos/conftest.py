"""The real AgentOS, in one node process for the whole session.

``PROMPTDBG_AGENTOS_NODE_MODULES`` names the folder of node_modules that has ``@framers/agentos``.
``make parity`` sets it, and ``PROMPTDBG_PARITY=1``: then everything that is missing fails the run.
Without either, these tests do not apply, and say so.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from promptdbg.engines.agentos.texts import Texts
from tests.parity_agentos.real import RealAgentos, real_texts

VERSION = "0.9.164"


def _missing() -> str:
    folder = os.environ.get("PROMPTDBG_AGENTOS_NODE_MODULES", "")
    if shutil.which("node") is None:
        return "node is not installed here; AgentOS parity needs node 20 or newer"
    if not folder:
        return "PROMPTDBG_AGENTOS_NODE_MODULES is not set; make parity installs the package and sets it"
    if not (Path(folder) / "@framers" / "agentos" / "package.json").is_file():
        return f"{folder} has no @framers/agentos; install version {VERSION} there"
    return ""


@pytest.fixture(scope="session")
def real() -> Iterator[RealAgentos]:
    reason = _missing()
    if reason and os.environ.get("PROMPTDBG_PARITY") == "1":
        pytest.fail(reason, pytrace=False)
    if reason:
        pytest.skip(reason)
    process = RealAgentos(Path(os.environ["PROMPTDBG_AGENTOS_NODE_MODULES"]))
    assert process.version == VERSION, f"@framers/agentos {process.version} is installed, not {VERSION}"
    with process:
        yield process


@pytest.fixture(scope="session")
def texts(real: RealAgentos) -> Texts:
    """The framework's own texts, found out from its answers; they stand nowhere in this repository."""
    return real_texts(real)
