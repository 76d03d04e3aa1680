"""Places on disk as people read them, and the versions that rules were read from."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.commands.engines import versions
from promptdbg.model import Rule, Source
from promptdbg.render import on_disk


def test_a_place_below_the_current_folder_is_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = Path.cwd()
    assert on_disk(Source(str(here / "api" / "AGENTS.md"), 3)) == "api/AGENTS.md:3"
    assert on_disk(Source(f"{here}-other/AGENTS.md", 3)) == f"{here}-other/AGENTS.md:3"
    assert on_disk(Source(str(here))) == str(here)


def rule(version: str, framework: str = "frame") -> Rule:
    return Rule("frame.area.name", "Does something", framework, version, "file::function")


def test_versions_are_named_once_in_their_order() -> None:
    rules = [rule("0.2, 0.3"), rule("0.3"), rule("2 (a, b); 1 (c)"), rule("1 (c)"), rule("1", "promptdbg")]
    assert versions(rules) == ["0.2", "0.3", "2 (a, b)", "1 (c)"]


def test_a_version_that_another_says_more_exactly_is_left_out() -> None:
    rules = [Rule("r", "t", "f", version, "s") for version in ("1.0, main", "main (3852956)", "mainline")]
    assert versions(rules) == ["1.0", "main (3852956)", "mainline"]
