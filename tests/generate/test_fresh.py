"""Everything that is made is as it would be made now: ``make docs`` writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.generate import console, pages, screens
from tests.generate.pages import PAGES, ROOT

_LINK = re.compile(r"\]\((?!https?://)([^)#]*)(?:#([^)]+))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_page(page: Path) -> None:
    assert pages.filled(page) == page.read_text(encoding="utf-8"), "stale; write it anew with: make docs"


@pytest.mark.parametrize("picture", screens.PICTURES, ids=lambda picture: picture.name)
def test_picture(picture: screens.Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NO_COLOR", "VISUAL", "EDITOR"):
        monkeypatch.delenv(variable, raising=False)
    kept = (screens.FOLDER / f"{picture.name}.svg").read_text(encoding="utf-8")
    assert screens.words(screens.drawn(picture)) == screens.words(kept), "stale; draw it anew with: make docs"


def test_no_picture_is_left_over() -> None:
    assert {path.stem for path in screens.FOLDER.iterdir()} == {p.name for p in screens.PICTURES}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in _LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target) if target else page
        assert path.exists(), target
        if anchor:
            assert anchor in _anchors(path), f"{target}#{anchor}"


def _anchors(path: Path) -> set[str]:
    headings = _HEADING.findall(path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs/README.md"
    listed = {
        (index.parent / target).resolve() for target, _ in _LINK.findall(index.read_text(encoding="utf-8"))
    }
    assert {page for page in PAGES if page.is_relative_to(index.parent)} - listed == {index}


LINES = ["$ x", "a", "b", "BUDGET", "c", "d", "e"]


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ("1-7", LINES),
        ("1-2", ["$ x", "a", "…"]),
        ("1 /BUDGET/+1", ["$ x", "…", "BUDGET", "c", "…"]),
        ("2 5-", ["…", "a", "…", "c", "d", "e"]),
        ("/BUDGET/-", ["…", "BUDGET", "c", "d", "e"]),
    ],
)
def test_parts_of_an_output(parts: str, shown: list[str]) -> None:
    assert console.chosen(LINES, parts) == shown


@pytest.mark.parametrize(
    ("page", "error"),
    [
        ("```console\n$ rm -rf x\n```", "cannot run: rm -rf x"),
        ("```console\noutput\n```", "without a command"),
        ("<!-- show 1 -->\n```console\n$ promptdbg --version\n$ echo $?\n```", "not of several"),
        ("<!-- show /none/ -->\n```console\n$ promptdbg --version\n```", "no line /none/"),
    ],
)
def test_what_cannot_be_run_is_named(page: str, error: str) -> None:
    with pytest.raises(console.PageError, match=error):
        console.filled(page)


def test_an_output_is_put_below_its_command() -> None:
    page = "a\n```console\n$ promptdbg why nowhere m0\nstale\n$ echo $?\n```\nz"
    made = console.filled(page)
    assert made.startswith("a\n```console\n$ promptdbg why nowhere m0\npromptdbg: nowhere: no such folder")
    assert made.endswith("$ echo $?\n2\n```\nz")
    assert console.filled(made) == made
