"""What may not be looked at, has no time of this calendar, or is odd in its name or kind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli_hostile.running import EXAMPLES, run

NAMES = ["nanobot-lost-rule", "bee-nasty", "orbiter-nasty", "phronomy-nasty", "agentos-nasty"]
_NOBODY = 65534


@contextmanager
def nobody() -> Iterator[None]:
    """Without the rights of root, for whom nothing is forbidden."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """A folder that everybody may look into, which pytest's own are not."""
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_no_permission_for_any_part(name: str, open_folder: Path) -> None:
    folder = open_folder / name
    shutil.copytree(EXAMPLES / name, folder)
    assert run("inspect", folder)[0] == 0  # everything is imported: the package may be root's alone
    run("sessions", folder)
    for path in [folder, *sorted(folder.rglob("*"))]:
        mode = path.stat().st_mode
        path.chmod(0)
        with nobody():
            code, _, said = run("inspect", folder)
            run("sessions", folder)
        path.chmod(mode)
        if path == folder or path.name == "promptdbg.toml":
            assert code == 2
            assert "permission denied" in said


@pytest.mark.parametrize("name", ["bee-nasty", "nanobot-lost-rule"])
def test_files_changed_outside_of_the_calendar(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    (folder / "sessions").mkdir()
    (folder / "sessions" / "a.jsonl").write_text("{}")
    for seconds in (-(10**14), 10**14):  # the file system may bring them nearer
        for path in folder.rglob("*"):
            os.utime(path, (seconds, seconds))
        for words in (["inspect"], ["sessions"], ["sessions", "--json"]):
            if name.startswith("nanobot") or words == ["inspect"]:
                assert run(words[0], folder, *words[1:])[0] == 0


def test_links_in_a_circle(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(EXAMPLES / "nanobot-lost-rule", folder)
    for name in ("circle", "skills/circle", "sessions"):
        (folder / name).symlink_to(Path(name).name)
    manifest = folder / "promptdbg.toml"
    text = manifest.read_text()
    for key in ("project", "config", "tools", "memory"):
        manifest.write_text(f'{key} = "circle"\n{text}')
        run("inspect", folder)
        manifest.write_text(f'{key} = "a\\u0000b"\n{text}')
        run("inspect", folder)


@pytest.mark.parametrize("value", ["inf", "1", "'x'", "[1]", "{a = 1}", "true", "2026-01-01", '"\\u0000"'])
def test_neurons_of_the_wrong_kind(value: str, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(EXAMPLES / "orbiter-order", folder)
    (folder / "promptdbg.toml").write_text(f'engine = "orbiter"\nneurons = {value}\n')
    code, out, _ = run("inspect", folder)
    assert code == 0
    assert "[[neurons]] must be tables" in out or value == "{a = 1}"


def test_numbers_no_float_can_hold(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(EXAMPLES / "nanobot-lost-rule", folder)
    for table, words in (("settings", []), ("settings.priorities", []), ("scenarios.a", ["--scenario", "a"])):
        text = f'engine = "nanobot"\n[{table}]\ncontext_window = {"9" * 400}\n'
        (folder / "promptdbg.toml").write_text(text)
        code, _, said = run("inspect", folder, *words)
        assert code == 2
        assert "a number has too many digits (at line 3)" in said


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_the_current_folder_is_gone(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    words = ("check", EXAMPLES / "bee-nasty", "--max-tokens", "1", "--format", form)
    code, out, said = run(*words)
    assert (code, said) == (1, "")
    assert "tokens used, 1 allowed" in out


def test_what_the_system_refuses_is_not_called_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("promptdbg.commands.engines.run", refuse)
    code, _, said = run("engines")
    assert (code, said) == (
        2,
        "promptdbg: the system refused: No such file or directory (--debug shows where)\n",
    )
