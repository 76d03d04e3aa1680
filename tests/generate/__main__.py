"""python -m tests.generate [--check] [docs] [screens]: both without a name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.generate import pages, screens
from tests.generate.console import PageError

KINDS = ("docs", "screens")


def main(words: list[str]) -> int:
    """Write what is stale, or with ``--check`` only name it; then 1 where anything is. 2 where a page
    holds something that cannot be run."""
    check = "--check" in words
    kinds = [word for word in words if word != "--check"] or KINDS
    if unknown := set(kinds) - set(KINDS):
        print(f"unknown: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    stale = 0
    try:
        for path, text in _stale(kinds):
            stale += 1
            print(f"{'stale' if check else 'written'}: {path.relative_to(pages.ROOT)}", flush=True)
            if not check:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    except PageError as error:
        print(error, file=sys.stderr)
        return 2
    return 1 if check and stale else 0


def _stale(kinds: list[str] | tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """Every file that is not what it should be, with what it should be."""
    if "docs" in kinds:
        for page in pages.PAGES:
            if (made := pages.filled(page)) != page.read_text(encoding="utf-8"):
                yield page, made
    if "screens" in kinds:
        for picture in screens.PICTURES:
            path = screens.FOLDER / f"{picture.name}.svg"
            made = screens.drawn(picture)
            if not path.exists() or screens.words(path.read_text(encoding="utf-8")) != screens.words(made):
                yield path, made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
