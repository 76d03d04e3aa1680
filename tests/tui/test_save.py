"""Saving a scenario: added to the manifest, which otherwise stays as its author wrote it."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.errors import InputError, UsageError
from promptdbg.model import Settings
from promptdbg.tui.save import save_scenario, scenario_toml
from promptdbg.workspace import read_manifest

OFF = Settings(off=frozenset({"m1"}))


def test_a_scenario_comes_back_as_it_was(tmp_path: Path) -> None:
    settings = Settings(
        values={"cap": 3, "merge": False, "rate": 0.5, "mark": 'a "b"\n\x7f', "order": ("x", "y")},
        off=frozenset({"context/AGENTS.md", "m1"}),
        priorities={"a b": 5},
        texts={"identity": "new\ttext ☃"},
    )
    manifest = tmp_path / "promptdbg.toml"
    manifest.write_text("# mine\nengine = 'bee'", "utf-8")
    save_scenario(tmp_path, "try this", settings)
    save_scenario(tmp_path, "two", Settings(off=frozenset({"m2"})))
    text = manifest.read_text("utf-8")
    assert text.startswith("# mine\nengine = 'bee'\n\n")
    read = read_manifest(manifest)
    assert read is not None
    assert read.scenarios["try this"] == settings
    assert read.scenarios["two"].off == {"m2"}
    assert [path.name for path in tmp_path.iterdir()] == ["promptdbg.toml"]
    with pytest.raises(UsageError, match="already"):
        save_scenario(tmp_path, "two", settings)
    with pytest.raises(UsageError, match="needs a name"):
        save_scenario(tmp_path, "  ", settings)
    with pytest.raises(UsageError, match="cannot hold"):
        save_scenario(tmp_path, "three", Settings(values={"owner": None}))
    assert manifest.read_text("utf-8") == text


def test_a_broken_manifest_is_not_touched(tmp_path: Path) -> None:
    manifest = tmp_path / "promptdbg.toml"
    manifest.write_text("engine = [", "utf-8")
    with pytest.raises(InputError, match="cannot be added to"):
        save_scenario(tmp_path, "x", Settings(off=frozenset({"m1"})))
    assert manifest.read_text("utf-8") == "engine = ["


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=20), max_size=3))
def test_any_text_can_be_saved(entries: dict[str, str]) -> None:
    document = tomllib.loads(scenario_toml("s", Settings(texts=entries)))
    assert document["scenarios"]["s"].get("texts", {}) == entries


@pytest.mark.parametrize(
    ("old", "gap"),
    [
        (b"", b""),
        (b"engine = 'bee'", b"\n\n"),
        (b"engine = 'bee'\n", b"\n"),
        (b"engine = 'bee'\n\n", b""),
        (b"# mine\r\nengine = 'bee'\r\n", b"\r\n"),
        (b"\xef\xbb\xbfengine = 'bee'\r\n\r\n", b""),
    ],
)
def test_the_lines_of_the_file_and_their_ends_stay(tmp_path: Path, old: bytes, gap: bytes) -> None:
    manifest = tmp_path / "promptdbg.toml"
    manifest.write_bytes(old)
    save_scenario(tmp_path, "a", OFF)
    added = b'[scenarios.a]\noff = ["m1"]\n'
    assert manifest.read_bytes() == old + gap + (added.replace(b"\n", b"\r\n") if b"\r\n" in old else added)


@pytest.mark.parametrize("broken", ["scenarios = 3\n", "scenarios = {a = {}}\n", "[scenarios]\nb = 3\n"])
def test_where_a_table_cannot_be_added_nothing_is(tmp_path: Path, broken: str) -> None:
    manifest = tmp_path / "promptdbg.toml"
    manifest.write_text(broken, "utf-8")
    with pytest.raises(InputError, match=r"promptdbg\.toml"):
        save_scenario(tmp_path, "c", OFF)
    assert manifest.read_text("utf-8") == broken


def test_a_manifest_that_cannot_be_one_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "promptdbg.toml").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        save_scenario(tmp_path, "a", OFF)
    with pytest.raises(InputError, match="cannot be written"):
        save_scenario(tmp_path / ("x" * 300), "a", OFF)


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
def test_a_link_stays_a_link_and_the_mode_stays(tmp_path: Path) -> None:
    real = tmp_path / "real.toml"
    real.write_text("engine = 'bee'\n", "utf-8")
    real.chmod(0o640)
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "promptdbg.toml").symlink_to(real)
    save_scenario(folder, "a", OFF)
    assert (folder / "promptdbg.toml").is_symlink()
    assert "[scenarios.a]" in real.read_text("utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
