"""Every reference case, made by running the real frameworks, against the engines.

``PROMPTDBG_CASES`` names another folder of the same form.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from tests.reference import Case

FRAMEWORKS = ("nanobot", "orbiter", "bee", "phronomy", "agentos")


def _root() -> Path:
    return Path(os.environ.get("PROMPTDBG_CASES") or Path(__file__).parent / "cases")


def _collect() -> list[tuple[str, Case]]:
    root = _root()
    found: list[tuple[str, Case]] = []
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        if folder.name not in FRAMEWORKS:
            found.append(("", Case(f"{folder.name}/unknown-framework", folder)))
            continue
        adapter = import_module(f"tests.reference.{folder.name}")
        found.extend((folder.name, case) for case in adapter.collect(folder))
    return found


@pytest.mark.parametrize(("framework", "case"), [pytest.param(f, c, id=c.id) for f, c in _collect()])
def test_reference_case(framework: str, case: Case) -> None:
    assert framework, f"no adapter for the cases in {case.path}"
    import_module(f"tests.reference.{framework}").check(case)


def test_there_are_cases() -> None:
    assert _collect(), f"no cases under {_root()}"
