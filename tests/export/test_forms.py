"""The formats: inert whatever the prompt holds, whole or not written at all."""

from __future__ import annotations

import json
import os
import re
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest

from promptdbg.cli import main
from promptdbg.errors import InputError, UsageError
from promptdbg.export.document import document
from promptdbg.export.html import html
from promptdbg.export.levels import export
from promptdbg.export.markdown import markdown
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.export.write import machine_salt, write_atomically
from promptdbg.model import Assembly
from promptdbg.tokens import tokenizer
from tests.fake_engine import install

ATTACK = (
    "<script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)></svg>"
    "</pre></details><style>@import 'http://evil.example/x'</style><!-- -->"
    "&amp; \" ' \x1b]52;c;aGk=\x07 \u202e"
    "\n```\n# heading\n[link](javascript:alert(1)) @someone | cell | ~~x~~\n````\n"
)
SALT = b"0" * 32


def attacked() -> Assembly:
    trace = {
        "schema": "promptdbg/trace/1",
        "program": {"name": ATTACK, "version": ATTACK},
        "sections": [{"name": ATTACK, "kind": ATTACK, "text": ATTACK, "kept": [[0, 20]], "path": ATTACK}],
        "stages": [
            {"name": ATTACK, "messages": [{"id": ATTACK, "role": ATTACK, "content": ATTACK, "name": ATTACK}]},
            {"name": "sent", "messages": [{"id": "b", "role": "user", "content": [{"type": ATTACK}]}]},
        ],
        "decisions": [{"item": ATTACK, "rule": ATTACK, "because": ATTACK, "action": "drop"}],
        "warnings": [ATTACK],
    }
    return assembly_from_trace(trace, tokenizer())


class Tags(HTMLParser):
    """The tags and attributes a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def test_html_is_inert() -> None:
    page = html(attacked(), ATTACK)
    seen = Tags()
    seen.feed(page)
    assert seen.tags <= {
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "h1",
            "h2",
            "p",
            "div",
            "span",
            "table",
            "tr",
            "th",
        ),
        *("td", "details", "summary", "pre", "br", "ul", "li"),
    }
    assert seen.attributes <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "style",
        "colspan",
    }
    assert "default-src 'none'" in page
    assert page.count("<style>") == 1
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_markdown_is_inert() -> None:
    text = markdown(export(attacked(), "full", SALT).document, ATTACK)
    assert "\x1b" not in text
    outside = re.sub(r"(?ms)^(`{3,})text$.*?^\1$", "", text)
    outside = re.sub(r"(?<!\\)`[^`\n]*`", "", outside)
    assert not re.search(r"(?<!\\)<(?!/?(details|summary)>)", outside)
    assert not re.search(r"(?<!\\)@someone", outside)
    assert "\n# heading" not in outside


def test_a_redacted_export_keeps_the_numbers_of_the_real_prompt() -> None:
    key = "ghp_" + "Ab3" * 12
    trace = {
        "schema": "promptdbg/trace/1",
        "sections": [{"name": "a", "text": f"key {key}\nlost {key}\n", "kept": [[0, 45]]}],
        "stages": [{"messages": [{"role": "user", "content": f"mail a.b@example.org {key}"}]}],
    }
    assembly = assembly_from_trace(trace, tokenizer())
    made = export(assembly, "redacted", SALT)
    text = json.dumps(made.document)
    assert key not in text
    assert "a.b@example.org" not in text
    assert made.hidden == {"api-key": 1, "e-mail": 1}
    assert made.report() == "hid 1 api-key, 1 e-mail"
    section = made.document["sections"][0]
    assert section["tokens"] == assembly.sections[0].tokens
    assert section["text"] == "key ‹api-key-1›\nlost ‹api-key-1›\n"
    assert [(s["start"], s["end"]) for s in section["spans"]] == [(0, 16), (16, 33)]
    assert made.document["stages"][0]["messages"][0]["content"] == "mail ‹e-mail-1› ‹api-key-1›"


def test_writing_is_whole_private_and_never_over_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_atomically(path, b"one")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="exists already"):
        write_atomically(path, b"two")
    assert path.read_bytes() == b"one"
    write_atomically(path, b"two", force=True)
    assert path.read_bytes() == b"two"
    with pytest.raises(UsageError, match="is a folder"):
        write_atomically(tmp_path, b"x", force=True)
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically(tmp_path / "no" / "such" / "x", b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_a_device_or_a_pipe_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="device, pipe or socket"):
        write_atomically(pipe, b"x", force=True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("promptdbg.export.write.os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_atomically(path, b"new", force=True)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]


def test_the_salt_stays_the_same_on_one_machine(tmp_path: Path) -> None:
    salt = machine_salt(tmp_path / "config")
    assert (len(salt.value), salt.doubt) == (32, "")
    assert machine_salt(tmp_path / "config") == salt
    assert machine_salt(tmp_path / "other") != salt


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_only_our_own_folder_is_made_for_the_salt_and_for_its_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert machine_salt().doubt == ""
    made = [tmp_path / ".config", tmp_path / ".config" / "promptdbg"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, 0o700]
    assert stat.S_IMODE((made[1] / "salt").stat().st_mode) == 0o600
    named = tmp_path / "named"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(named))
    assert f"{named}/promptdbg cannot be made: No such file" in machine_salt().doubt
    assert not named.exists()
    named.mkdir()
    assert machine_salt().doubt == ""
    assert machine_salt() == machine_salt()


def test_a_salt_that_cannot_be_kept_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch)
    (tmp_path / "promptdbg.toml").write_text('engine = "fake"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nowhere"))
    assert main(["export", str(tmp_path), "-o", "-"]) == 0
    assert "its hashes cannot be compared with those of other exports" in capsys.readouterr().err
    assert main(["export", str(tmp_path), "-o", "-", "--level", "full"]) == 0
    assert "hashes" not in capsys.readouterr().err
    for variable in ("XDG_CONFIG_HOME", "HOME", "USERPROFILE", "APPDATA"):
        monkeypatch.delenv(variable, raising=False)
    assert "there is no home folder" in machine_salt().doubt


def test_a_name_that_no_file_can_have_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="was not written: File name too long"):
        write_atomically(tmp_path / ("x" * 300), b"x")
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically(tmp_path / "a\0b" / "c", b"x")
    assert list(tmp_path.iterdir()) == []


def test_what_may_be_shared_keeps_the_mode_of_the_file_it_replaces(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    mode = stat.S_IMODE(path.stat().st_mode)
    write_atomically(path, b"new", force=True, private=False)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


@pytest.mark.parametrize("form", ["json", "md", "html", "svg"])
@pytest.mark.parametrize("level", ["structure", "redacted", "full"])
def test_the_command_writes_every_form_of_every_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: str, level: str
) -> None:
    install(monkeypatch)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "ws"
    folder.mkdir()
    secret = "ghp_" + "Ab3" * 12
    (folder / "promptdbg.toml").write_text(
        f'engine = "fake"\n[[sections]]\nname = "secret-plan"\ntext = "use {secret} now"\n'
    )
    out = tmp_path / f"out.{form}"
    assert main(["export", str(folder), "-o", str(out), "--level", level]) == 0
    written = out.read_text()
    assert (secret in written) == (level == "full" and form != "svg")
    assert ("secret-plan" in written) == (level != "structure")
    assert "wrote" in capsys.readouterr().err
    assert main(["export", str(folder), "-o", str(out)]) == 2
    assert main(["export", str(folder), "-o", str(tmp_path / "x"), "--dry-run"]) == 0
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("structure", None),
        ("redacted", "names and facts in plain words stay"),
        ("full", "holds every text of the prompt"),
    ],
)
def test_the_command_says_what_is_still_in_the_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    level: str,
    words: str | None,
) -> None:
    install(monkeypatch)
    (tmp_path / "promptdbg.toml").write_text('engine = "fake"\n')
    assert main(["export", str(tmp_path), "--level", level, "-o", "-", "--dry-run"]) == 0
    said = capsys.readouterr().err
    assert ("stay" in said or "every text" in said) is (words is not None)
    assert words is None or words in said


def test_markdown_has_one_word_for_what_became_of_an_item() -> None:
    trace = {
        "schema": "promptdbg/trace/1",
        "sections": [{"name": "rules", "text": "Be brief.", "kept": [[0, 2]]}],
        "decisions": [{"item": "rules", "rule": "cap", "because": "Too long.", "action": "truncate"}],
    }
    text = markdown(document(assembly_from_trace(trace, tokenizer())))
    assert "| ◐ CUT | rules" in text
    assert "- **rules** CUT, `cap`" in text
