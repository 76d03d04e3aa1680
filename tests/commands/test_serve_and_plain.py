"""The UI in a browser, and the picture as lines."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
import textual_serve

from promptdbg.cli import main
from promptdbg.commands.serve import command, joined, local_templates
from tests.fake_engine import install

EXAMPLES = Path(__file__).parents[2] / "src" / "promptdbg" / "examples"


def test_the_page_asks_for_nothing_from_elsewhere(tmp_path: Path) -> None:
    source = Path(str(textual_serve.__file__)).parent / "templates"
    before = (source / "app_index.html").read_text("utf-8")
    assert re.search(r"<link[^>]*https://", before), (
        "the page changed; the command may have nothing to take out"
    )
    page = (local_templates(source, tmp_path) / "app_index.html").read_text("utf-8")
    assert not re.search(r"(?:href|src)=\"https?://", page)
    assert "js/textual.js" in page


def test_the_served_command_is_the_ui_with_the_same_words() -> None:
    words = ["serve", "a folder", "--port", "9000", "--turn", "2", "--port=1", "--ascii"]
    assert command(words) == f"{sys.executable} -m promptdbg 'a folder' --turn 2 --ascii"


def test_the_words_reach_the_ui_through_either_shell() -> None:
    words = [r"C:\Program Files\py\python.exe", "-m", "a&b", "100%", 'say "x"', "--ascii"]
    assert shlex.split(joined(words, windows=False)) == words
    assert joined(words, windows=True) == (
        r'"C:\Program Files\py\python.exe" -m "a&b" "100%" "say \"x\"" --ascii'
    )


def test_what_cannot_be_served_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(tmp_path / "nothing")]) == 2
    assert "no such folder" in capsys.readouterr().err
    install(monkeypatch)
    (tmp_path / "promptdbg.toml").write_text('engine = "fake"\n')
    assert main(["serve", str(tmp_path), "--port", "99999"]) == 2
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    assert main(["serve", str(tmp_path)]) == 2
    assert "pip install textual-serve where promptdbg is installed" in capsys.readouterr().err


def test_plain_says_every_fact_on_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(EXAMPLES / "nanobot-lost-rule"), "--plain"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "Section 3, AGENTS.md, part of bootstrap: kept, in the prompt, whole. 58 tokens." in said
    at = next(n for n, text in enumerate(said) if text.startswith("Message 2, user, 39 tokens: Let's plan"))
    assert said[at + 1 : at + 3] == [
        "Initial messages: dropped.",
        "Because: m19 (line 21) answers call 'call_05' without its call, which wipes all rows up to it",
    ]
    assert not any(mark in text for text in said for mark in "●◐○│█")


def test_serve_does_not_offer_what_it_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    assert "--plain" not in capsys.readouterr().out
