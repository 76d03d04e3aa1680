"""The bundled example workspaces: one folder each, told apart by the manifest in it.

A manifest's ``[demo]`` table has ``title`` (a few words) and ``question`` (what a user would ask,
answered by what the tool shows). Examples are data; none of them is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from promptdbg.errors import UsageError

FLAGSHIP = "nanobot-lost-rule"
"""The example that ``promptdbg demo`` opens without a name."""


FOLDER = Path(__file__).parent
"""Where the examples lie: in the package itself."""


@dataclass(frozen=True, slots=True)
class Example:
    """One bundled workspace."""

    name: str
    path: Path
    engine: str
    title: str
    question: str


def examples() -> tuple[Example, ...]:
    """Every bundled example: the flagship first, the nasty ones last.

    Raises:
        InputError: an example's manifest is broken.
    """
    from promptdbg.workspace import MANIFEST_NAME

    folders = sorted(path for path in FOLDER.iterdir() if (path / MANIFEST_NAME).is_file())
    found = [_example(folder) for folder in folders]
    return tuple(sorted(found, key=_rank))


def _rank(example: Example) -> tuple[bool, bool, str]:
    return example.name != FLAGSHIP, example.name.endswith("-nasty"), example.name


def find(name: str) -> Example:
    """The example of that name, or the first one of the engine of that name.

    Raises:
        UsageError: there is none; the line names the near ones.
    """
    known = {example.name: example for example in examples()}
    of_engine = (example for example in known.values() if example.engine == name)
    found = known.get(name) or next(of_engine, None)
    if found is None:
        near = get_close_matches(name, known, n=3) or list(known)
        raise UsageError(f"no example {name!r}", hint="one of " + ", ".join(near))
    return found


def folder_of(name: str) -> Path:
    """Where the example of that name lies; as ``find``, but where the name is exact nothing is read:
    the UI has its first frame before anything is.

    Raises:
        UsageError: there is none.
    """
    if name.replace("-", "").isalnum() and (folder := FOLDER / name).is_dir():
        return folder
    return find(name).path


def is_bundled(folder: Path) -> bool:
    """Whether a workspace is one of the examples, so that what is written there changes the package."""
    return folder.resolve().is_relative_to(FOLDER)


def _example(folder: Path) -> Example:
    from promptdbg.workspace import MANIFEST_NAME, read_manifest

    manifest = read_manifest(folder / MANIFEST_NAME)
    assert manifest is not None
    demo = manifest.data.get("demo")
    told = demo if isinstance(demo, dict) else {}
    return Example(
        name=folder.name,
        path=folder,
        engine=manifest.engine or "",
        title=str(told.get("title", "")),
        question=str(told.get("question", "")),
    )
