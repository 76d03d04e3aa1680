"""Opening a folder and its manifest: every problem is one line that says where."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from promptdbg.errors import InputError
from promptdbg.workspace import MANIFEST_NAME, open_folder, read_manifest


def refused(folder: Path, content: bytes | str) -> str:
    path = folder / MANIFEST_NAME
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        open_folder(folder)
    line = caught.value.line()
    place, _, what = line.removeprefix(str(path)).partition(": ")
    assert re.fullmatch(r"(:\d+)?", place)
    assert "\n" not in line
    return what


def test_folder_without_a_manifest(tmp_path: Path) -> None:
    workspace = open_folder(tmp_path)
    assert workspace.path == tmp_path.resolve()
    assert workspace.manifest is None
    assert dict(workspace.options) == {}


def test_manifest(tmp_path: Path) -> None:
    (tmp_path / MANIFEST_NAME).write_text(
        'engine = "bee"\nrecords = "r.json"\n'
        '[settings]\nbudget = 100\nstyle = "x"\nlayers = ["a", "b"]\noff = ["m1"]\n'
        "[settings.priorities]\nidentity = 2.5\n[settings.texts]\nidentity = 'new'\n"
        "[scenarios.tight]\nbudget = 10\n",
        encoding="utf-8-sig",
    )
    manifest = open_folder(tmp_path).manifest
    assert manifest is not None
    assert manifest.engine == "bee"
    assert dict(manifest.settings.values) == {"budget": 100, "style": "x", "layers": ("a", "b")}
    assert manifest.settings.off == {"m1"}
    assert dict(manifest.settings.priorities) == {"identity": 2.5}
    assert dict(manifest.settings.texts) == {"identity": "new"}
    assert dict(manifest.scenarios["tight"].values) == {"budget": 10}
    assert manifest.data["records"] == "r.json"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("engine = \n", "is not TOML: Invalid value (at line 1, column 10)"),
        ("a = 1\na = 2\n", "is not TOML: Cannot overwrite a value (at line 2, column 6)"),
        ("[settings\n", "is not TOML: Expected ']' at the end of a table declaration (at line 1, column 10)"),
        ("engine = 5\n", "engine must be a text"),
        ("settings = 5\n", "[settings] must be a table"),
        ("scenarios = [1]\n", "[scenarios] must be a table"),
        ("[scenarios]\ntight = 1\n", "[scenarios.tight] must be a table"),
        ("[settings]\noff = 'm1'\n", "settings.off must be a list of item ids"),
        ("[settings]\noff = [1]\n", "settings.off must be a list of item ids"),
        ("[settings]\npriorities = 1\n", "[settings.priorities] must be a table"),
        ("[settings.priorities]\na = 'x'\n", "settings.priorities.a must be a number"),
        ("[settings.priorities]\na = true\n", "settings.priorities.a must be a number"),
        ("[settings.priorities]\na = nan\n", "settings.priorities.a must be a number"),
        ("[settings.texts]\na = 1\n", "settings.texts.a must be a text"),
        (
            "[settings]\nx = [1]\n",
            "settings.x must be a number, a text, true or false, or a list of texts",
        ),
        (
            "[scenarios.a]\nx = 2020-01-01\n",
            "scenarios.a.x must be a number, a text, true or false, or a list of texts",
        ),
        (b"engine = '\xff'\n", "byte 10 is not UTF-8"),
        (b"a\x00b = 1\n", "is not TOML: Expected '=' after a key in a key/value pair (at line 1, column 2)"),
    ],
)
def test_broken_manifests_say_what_and_where(tmp_path: Path, content: bytes | str, line: str) -> None:
    assert refused(tmp_path, content) == line


def test_number_too_long_for_python_is_a_broken_manifest(tmp_path: Path) -> None:
    assert refused(tmp_path, "a = " + "9" * 5000).startswith("is not TOML: ")


def test_nesting_too_deep_for_python_is_a_broken_manifest(tmp_path: Path) -> None:
    assert refused(tmp_path, "a = " + "[" * 5000 + "]" * 5000) == "is not TOML: nested too deeply"


def test_manifest_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / MANIFEST_NAME).mkdir()
    with pytest.raises(InputError, match="is a folder, not a file"):
        open_folder(tmp_path)


def test_manifest_that_is_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / MANIFEST_NAME)
    with pytest.raises(InputError, match="device, pipe or socket"):
        open_folder(tmp_path)


def test_manifest_that_is_too_large(tmp_path: Path) -> None:
    with (tmp_path / MANIFEST_NAME).open("wb") as file:
        file.truncate(5 * 1024 * 1024)
    with pytest.raises(InputError, match="is 5,242,880 bytes, more than the 4,194,304 that are read"):
        open_folder(tmp_path)


@pytest.mark.parametrize("name", ["nothing", "no\0name", "x" * 5000])
def test_folder_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        open_folder(tmp_path / name)
    assert caught.value.where == str(tmp_path / name)
    assert caught.value.what in ("no such folder", "File name too long")


def test_home_of_nobody() -> None:
    with pytest.raises(InputError, match="no such folder"):
        open_folder("~nobody-of-this-name/work")


def test_file_instead_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is not a folder"):
        open_folder(tmp_path / "file")


def test_link_that_leads_to_itself(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InputError):
        open_folder(tmp_path / "loop")


def test_no_manifest_is_no_error(tmp_path: Path) -> None:
    assert read_manifest(tmp_path / "none" / MANIFEST_NAME) is None
