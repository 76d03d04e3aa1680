"""The pages of the documentation, and how one is filled in."""

from __future__ import annotations

from pathlib import Path

from tests.generate import console, tables

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))


def filled(page: Path) -> str:
    """The page with every output and table made anew.

    Raises:
        console.PageError: it holds something that cannot be run.
    """
    try:
        return console.filled(tables.filled(page.read_text(encoding="utf-8")))
    except console.PageError as error:
        raise console.PageError(f"{page.relative_to(ROOT)}: {error}") from error
