"""Finding and reading nanobot's session files."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdbg.records import SessionRef, StoredSession
from promptdbg.sessions import nanobot as sessions
from promptdbg.sessions import ref_for
from promptdbg.workspace import Workspace, manifest_from

_ID = "0123456789abcdef0123456789abcdef"


def _write(path: Path, key: str = "cli:direct", rows: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [{"_type": "metadata", "key": key, "metadata": {}, "last_consolidated": 0}]
    lines += [{"role": "user", "content": f"row {number}"} for number in range(rows)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _workspace(tmp_path: Path, **options: str) -> Workspace:
    folder = tmp_path / "home" / ".nanobot" / "workspace"
    folder.mkdir(parents=True, exist_ok=True)
    return Workspace(folder, manifest_from(folder / "promptdbg.toml", options) if options else None)


def _upgraded(tmp_path: Path) -> tuple[Workspace, Path]:
    workspace = _workspace(tmp_path)
    marker = workspace.path / ".nanobot" / "workspace-id"
    marker.parent.mkdir()
    marker.write_text(_ID + "\n")
    return workspace, tmp_path / "home" / ".nanobot" / "sessions" / _ID


@pytest.mark.parametrize(
    ("key", "stem"), [("cli:direct", "Y2xpOmRpcmVjdA"), ("unified:default", "dW5pZmllZDpkZWZhdWx0")]
)
def test_keys_are_base64_without_padding(key: str, stem: str) -> None:
    assert sessions.storage_key(key) == stem
    assert sessions.decoded_key(stem) == key


@pytest.mark.parametrize("stem", ["cli_direct", "session", "Y2xpOmRpcmVjdA=", "****"])
def test_other_names_are_no_keys(stem: str) -> None:
    assert sessions.decoded_key(stem) is None


def test_the_store_of_a_workspace_is_found_by_its_id(tmp_path: Path) -> None:
    workspace, store = _upgraded(tmp_path)
    _write(store / "Y2xpOmRpcmVjdA.jsonl")
    _write(tmp_path / "home" / ".nanobot" / "sessions" / ("f" * 32) / "Y2xpOmRpcmVjdA.jsonl")
    found = sessions.find(workspace, tmp_path / "home")
    assert [(ref.key, ref.readable, ref.reason) for ref in found] == [("cli:direct", True, "")]


def test_a_store_without_a_marker_is_found_by_the_path_it_names(tmp_path: Path) -> None:
    workspace = _workspace(tmp_path)
    store = tmp_path / "home" / ".nanobot" / "sessions" / _ID
    _write(store / "Y2xpOmRpcmVjdA.jsonl")
    (store / ".workspace").write_text(str(workspace.path) + "\n")
    assert [ref.key for ref in sessions.find(workspace, tmp_path / "home")] == ["cli:direct"]


def test_an_upgrade_hides_old_names(tmp_path: Path) -> None:
    workspace, store = _upgraded(tmp_path)
    _write(store / "Y2xpOmRpcmVjdA.jsonl")
    _write(store / "cli_direct.jsonl")
    _write(workspace.path / "sessions" / "telegram_5.jsonl", "telegram:5")
    found = {Path(ref.path).name: ref for ref in sessions.find(workspace, tmp_path / "home")}
    assert found["Y2xpOmRpcmVjdA.jsonl"].readable
    assert not found["cli_direct.jsonl"].readable
    assert "left this one behind" in found["cli_direct.jsonl"].reason
    assert not found["telegram_5.jsonl"].readable
    assert found["telegram_5.jsonl"].key == "telegram:5"


def test_before_an_upgrade_the_workspace_holds_the_sessions(tmp_path: Path) -> None:
    workspace = _workspace(tmp_path)
    _write(workspace.path / "sessions" / "cli_direct.jsonl")
    _write(workspace.path / "sessions" / "dGVsZWdyYW06NQ.jsonl", "telegram:5")
    found = sessions.find(workspace, tmp_path / "home")
    assert {(ref.key, ref.readable) for ref in found} == {("cli:direct", True), ("telegram:5", True)}
    assert all(ref.reason for ref in found)


def test_the_newest_comes_first(tmp_path: Path) -> None:
    workspace = _workspace(tmp_path)
    old = _write(workspace.path / "sessions" / "a_1.jsonl", "a:1")
    _write(workspace.path / "sessions" / "b_2.jsonl", "b:2")
    os.utime(old, (1, 1))
    assert [ref.key for ref in sessions.find(workspace, tmp_path / "home")] == ["b:2", "a:1"]


def test_the_manifest_may_name_another_configuration(tmp_path: Path) -> None:
    workspace = _workspace(tmp_path, config="../conf/config.json")
    marker = workspace.path / ".nanobot" / "workspace-id"
    marker.parent.mkdir()
    marker.write_text(_ID)
    _write(workspace.path.parent / "conf" / "sessions" / _ID / "Y2xpOmRpcmVjdA.jsonl")
    assert [ref.key for ref in sessions.find(workspace, tmp_path / "home")] == ["cli:direct"]


def test_nothing_there_is_nothing_found(tmp_path: Path) -> None:
    assert sessions.find(_workspace(tmp_path), tmp_path / "no-home") == ()


def test_every_line_that_is_not_blank_is_a_record(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"a": 1}\r\n\r\n   \r[1]\n{"cut')
    read = _read(path)
    assert [(record.line, record.value, bool(record.error)) for record in read.records] == [
        (1, {"a": 1}, False),
        (4, [1], False),
        (5, None, True),
    ]


def _read(path: Path) -> StoredSession:
    return sessions.read(SessionRef(str(path), sessions.FORMAT, path.stem))


@given(
    parts=st.lists(
        st.sampled_from(
            [b"a", b"\r", b"\n", b"\r\n", "é".encode(), "\u2028".encode(), "\x85".encode(), b"\xff"]
        )
    )
)
def test_lines_are_those_of_text_mode(parts: list[bytes]) -> None:
    data = b"".join(parts)
    if b"\xff" in data:
        with pytest.raises(UnicodeDecodeError) as raised:
            list(sessions._lines(data))
        assert raised.value.start == data.index(b"\xff")
    else:
        text = io.StringIO(data.decode("utf-8"), newline=None).read()
        assert list(sessions._lines(data)) == text.split("\n")


def test_a_plain_path_gets_the_key_of_its_metadata(tmp_path: Path) -> None:
    path = _write(tmp_path / "session.jsonl", "telegram:77")
    assert sessions.read(ref_for(path, "nanobot", "")).ref.key == "telegram:77"
    stem = _write(tmp_path / "Y2xpOmRpcmVjdA.jsonl", "other:1")
    assert sessions.read(ref_for(stem, "nanobot", "")).ref.key == "cli:direct"


@pytest.mark.parametrize(
    ("name", "code"), [("gone.jsonl", "session.missing"), ("folder", "session.directory")]
)
def test_what_cannot_be_read_is_a_problem(tmp_path: Path, name: str, code: str) -> None:
    (tmp_path / "folder").mkdir()
    read = _read(tmp_path / name)
    assert read.problem is not None
    assert read.problem.code == code
    assert read.records == ()


def test_errors_of_the_parser_itself_are_fatal(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("[" * 100_000 + "\n" + "9" * 5_000 + "\n{bad\n")
    assert [record.fatal for record in _read(path).records] == [True, True, False]


def test_the_checkpoint_beside_a_session_is_its_sidecar(tmp_path: Path) -> None:
    path = _write(tmp_path / "s.jsonl")
    beside = tmp_path / "s.checkpoint.json"
    assert _read(path).sidecar is None
    beside.write_text('{"version": 1}')
    os.utime(path, (1, 1))
    assert _read(path).sidecar == {"path": str(beside), "stale": False, "payload": {"version": 1}}
    os.utime(beside, (0, 0))
    assert _read(path).sidecar["stale"] is True
    beside.write_text("{")
    assert "is not JSON" in _read(path).sidecar["problem"]
