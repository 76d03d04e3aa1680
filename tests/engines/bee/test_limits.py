"""Files made to hang, to fill the memory or to run in circles: read within limits, and said so."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from promptdbg.engines.bee import load_context_files
from promptdbg.model import SectionStatus
from tests.engines.bee.workspaces import assembled, decision, opened, section, write

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and links of POSIX")


def test_a_device_a_pipe_and_a_loop_of_links_are_not_opened(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "@zero @pipe @loop @near"})
    (tmp_path / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    assembly = assembled(opened(tmp_path, {}))
    for name in ("zero", "pipe", "loop"):
        item = f"context/AGENTS.md/@{name}"
        assert section(assembly, item).status is SectionStatus.LITERAL
        decision(assembly, item, "bee.import.refused")


def test_a_huge_file_is_read_only_as_far_as_it_counts(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "@huge.txt", "huge.txt": "a" * 4096})
    with (tmp_path / "huge.txt").open("r+b") as file:
        file.truncate(1 << 30)
    tracemalloc.start()
    try:
        workspace = opened(tmp_path, {}, message="and @huge.txt")
        assembly = assembled(workspace)
        assert tracemalloc.get_traced_memory()[1] < 1 << 28, "the whole file was read"
    finally:
        tracemalloc.stop()
    # The zeros of the hole begin after the 4,096 bytes that bee looks at.
    cut = decision(assembly, "context/AGENTS.md/@huge.txt", "bee.import.cut")
    assert (cut.measured, cut.limit) == (1 << 30, 65_536)
    assert section(assembly, "attachments/@huge.txt").status is SectionStatus.TRUNCATED
    assert len(workspace.inputs.tree.files["/w/huge.txt"].data) <= 131_072  # type: ignore[attr-defined]


def test_a_huge_context_file_is_cut_with_a_notice(tmp_path: Path) -> None:
    workspace = opened(tmp_path, {"AGENTS.md": "word " * 400_000})
    assert [notice.code for notice in workspace.inputs.warnings] == ["bee.context-size"]
    assert section(assembled(workspace), "context/AGENTS.md").status is SectionStatus.TRUNCATED


def test_files_that_import_each_other_end(tmp_path: Path) -> None:
    everyone = " ".join(f"@{number}.md" for number in range(12))
    files = {f"{number}.md": everyone for number in range(12)}
    assembly = assembled(opened(tmp_path, {"AGENTS.md": everyone, **files}))
    expanded = [entry for entry in assembly.sections if entry.kind == "import" and entry.size_original > 10]
    assert len({entry.source.path for entry in expanded if entry.source}) == 12


def test_a_folder_that_is_a_loop_of_links_is_not_walked(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "@nowhere-at-all", "a/b.md": "B"})
    (tmp_path / "a" / "up").symlink_to("..")
    workspace = opened(tmp_path, {})
    assembled(workspace)
    listed = workspace.inputs.below("/w").paths  # type: ignore[attr-defined]
    assert listed == ("AGENTS.md", "a/b.md", "a/up", "bee.toml", "promptdbg.toml")


def test_the_search_stops_after_two_thousand_files(tmp_path: Path) -> None:
    for number in range(2_100):
        (tmp_path / f"f{number:04d}").touch()
    write(tmp_path, {"AGENTS.md": "@zz", "z/z.md": "never reached"})
    missing = decision(assembled(opened(tmp_path, {})), "context/AGENTS.md/@zz", "bee.import.missing")
    assert "2,000 files" in missing.because


def test_reading_the_real_file_system_refuses_devices(tmp_path: Path) -> None:
    write(tmp_path, {"AGENTS.md": "@/dev/zero and @/dev/null"})
    loaded = load_context_files(str(tmp_path))
    assert loaded[-1].body == b"@/dev/zero and @/dev/null"
