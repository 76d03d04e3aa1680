"""Whatever is wrong in a manifest is told with the file, the line and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptdbg.cli import main
from promptdbg.debug import Debugger, open_workspace
from promptdbg.files.tomllines import key_line
from promptdbg.workspace import MANIFEST_NAME

DOCUMENT = '''# budget = 1 is only said here
engine = "bee"
title = """
budget = 2
"""
[settings]
  budget = 3
texts = { identity = "x", "a b" = 1 }
order = [
  "one",
  "two",
]
[scenarios.small]
budget = 4
[scenarios."a b".priorities]
x = 1
[[rows]]
budget = 5
'''


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("engine",), 2),
        (("title",), 3),
        (("settings",), 6),
        (("settings", "budget"), 7),
        (("settings", "texts", "a b"), 8),
        (("settings", "order"), 9),
        (("scenarios", "small", "budget"), 14),
        (("scenarios", "a b", "priorities", "x"), 16),
        (("rows",), 17),
        (("nothing",), None),
        (("budget",), None),
    ],
)
def test_the_line_of_a_key(keys: tuple[str, ...], line: int | None) -> None:
    assert key_line(DOCUMENT, *keys) == line
    assert key_line(DOCUMENT.replace("\n", "\r\n"), *keys) == line


def test_looking_for_a_line_has_an_end() -> None:
    assert key_line("a = [\n" * 10_000, "a") is None
    assert key_line('x = """\n' + "a = 1\n" * 10_000 + '"""\n', "a") is None


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ('engine = "nope"\n', "1: unknown engine 'nope'"),
        ("engine = 3\n", "1: engine must be a text"),
        ('engine = "bee"\n[scenarios]\na = 3\n', "3: [scenarios.a] must be a table"),
        ('engine = "bee"\n[settings]\noff = 3\n', "3: settings.off must be a list of item ids"),
        ('engine = "bee"\n[settings]\nx = {}\n', "3: settings.x must be a number, a text"),
        ('engine = "bee"\n[settings.priorities]\nx = "y"\n', "3: settings.priorities.x must be a number"),
        ('engine = "bee"\n\nclock = "x"\n', "3: clock must be an ISO time, not 'x'"),
        ('engine = "bee"\n\ncwd = 3\n', "3: cwd must be a text"),
        ('engine = "bee"\nmount = "/w"\ncwd = "/x"\n', "3: cwd /x is not below mount /w"),
        ('engine = "bee"\nhint_tags = "x"\n', "2: hint_tags must be a list of texts"),
        ('engine = "bee"\n[modified]\na = "x"\n', "3: modified.a must be a time"),
        ('engine = "bee"\nmodified = 3\n', "2: modified must be a table"),
        ('engine = "bee"\n[settings]\nbudget = "x"\n', "3: knob budget cannot be 'x'"),
        ('engine = "bee"\n[settings]\ntop_k = 1\nnope = 3\n', "4: unknown knob 'nope'"),
        ('engine = "bee"\n[settings]\nclock = "x"\n', "3: 'x' is not a time"),
        ('engine = "nanobot"\nnow = "x"\n', "2: now must be an ISO time, not 'x'"),
        ('engine = "nanobot"\nnow = 2026-01-01T00:00:00\n', "2: now must be a text"),
        ('engine = "nanobot"\n[settings]\nnow = "x"\n', "3: knob now cannot be 'x'"),
        ('engine = "nanobot"\ndialect = "x"\n', "2: dialect must be one of "),
        ('engine = "nanobot"\nbins = "x"\n', "2: bins must be a list of texts"),
        ('engine = "nanobot"\nenv = "x"\n', "2: env must be a table"),
        ('engine = "nanobot"\nconfig = 3\n', "2: config must be a text"),
        ('engine = "nanobot"\npaths = 3\n', "2: paths must be a table"),
        ('engine = "nanobot"\n[paths]\nworkspace = 3\n', "3: paths.workspace must be a text"),
        ('engine = "nanobot"\ntools = 3\n', "2: tools must be a file name or a list of tools"),
        ('engine = "nanobot"\nmedia = [3]\n', "2: media must be a list of texts"),
        ('engine = "nanobot"\nbuiltin_skills = "x"\n', "2: builtin_skills must be one of off, on"),
        ('engine = "nanobot"\nsession = 3\n', "2: session must be a file name"),
        ('engine = "phronomy"\n[settings]\ngeneration = "x"\n', "3: knob generation cannot be 'x'"),
    ],
)
def test_a_wrong_value_ends_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], document: str, said: str
) -> None:
    manifest = tmp_path / MANIFEST_NAME
    manifest.write_text(document, "utf-8")
    assert main(["inspect", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"promptdbg: {manifest}:{said}")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ('engine = "orbiter"\n[orbiter]\nclock = "x"\n', "3: clock must be an ISO time, not 'x'"),
        ('engine = "orbiter"\n[orbiter]\nmode = 3\n', "3: mode must be a text, not 3"),
        ('engine = "orbiter"\norbiter = 3\n', "2: [orbiter] must be a table"),
        ('engine = "orbiter"\nstate = 3\n', "2: state must be a file name; state.json is read"),
        ('engine = "orbiter"\nneurons = 3\n', "2: [[neurons]] must be tables with name and text"),
        ('engine = "phronomy"\nconfig = 3\n', "2: config must be a file name; phronomy.yaml is read"),
        ('engine = "phronomy"\nphronomy = 3\n', "2: [phronomy] must be a table"),
        ('engine = "phronomy"\n[phronomy]\nbudget = 3\n', "3: budget must be a table, not 3"),
        ('engine = "agentos"\nagentos = 3\n', "2: agentos must be a file name; agentos.json is read"),
    ],
)
def test_a_value_that_is_passed_over_is_a_warning_with_its_place(
    tmp_path: Path, document: str, said: str
) -> None:
    (tmp_path / MANIFEST_NAME).write_text(document, "utf-8")
    told = [f"{notice.source}: {notice.message}" for notice in open_workspace(tmp_path).inputs.warnings]
    assert f"{tmp_path / MANIFEST_NAME}:{said}" in told


def test_a_scenario_is_named_where_it_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = tmp_path / MANIFEST_NAME
    manifest.write_text('engine = "bee"\n[scenarios.a]\ntop_k = 1\n[scenarios.b]\nbudget = "x"\n', "utf-8")
    assert main(["inspect", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["inspect", str(tmp_path), "--scenario", "b"]) == 2
    assert capsys.readouterr().err.startswith(f"promptdbg: {manifest}:5: knob budget cannot be 'x'")
    assert main(["inspect", str(tmp_path), "--set", "budget=x"]) == 2
    assert MANIFEST_NAME not in capsys.readouterr().err


def test_the_redact_table_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = tmp_path / MANIFEST_NAME
    manifest.write_text('engine = "bee"\n[redact.patterns]\ngood = "x"\nbad = "("\n', "utf-8")
    assert main(["export", str(tmp_path), "-o", "-", "--level", "redacted"]) == 2
    assert f"{manifest}:4: redact.patterns.bad is not a regular expression" in capsys.readouterr().err


def test_a_manifest_that_goes_wrong_while_it_is_open_is_told_so(tmp_path: Path) -> None:
    manifest = tmp_path / MANIFEST_NAME
    manifest.write_text('engine = "bee"\n', "utf-8")
    debugger = Debugger(open_workspace(tmp_path))
    manifest.write_text('engine = "bee"\n[settings]\nbudget = "x"\n', "utf-8")
    with pytest.raises(Exception, match=r"promptdbg\.toml:3: knob budget cannot be"):
        debugger.reload()
