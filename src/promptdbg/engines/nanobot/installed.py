"""Finding an installed nanobot-ai and reading its passages as data: nothing of it is imported.

Templates are its Markdown files. Passages that stand in its Python source are taken from the syntax
tree, and only where their fingerprint is the one this dialect is known to send.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from promptdbg.engines.nanobot.passages import passages
from promptdbg.engines.nanobot.prose import (
    ARCHIVE,
    CONTRACT,
    IDENTITY,
    PLATFORM_POLICY,
    SKILLS_SECTION,
    InstalledProse,
    fingerprint,
)
from promptdbg.files.disk import is_file, is_folder, read_file

_SNIPPET = "agent/_snippets/untrusted_content.md"
_RENDERED = (IDENTITY, PLATFORM_POLICY, SKILLS_SECTION, ARCHIVE, _SNIPPET)
_PLAIN = ("AGENTS.md", "USER.md", "SOUL.md", "legacy/SOUL.md", "memory/MEMORY.md")
_SOURCES = (
    "agent/context.py",
    "agent/context_governance.py",
    "agent/loop.py",
    "agent/runner.py",
    "session/recovery.py",
    "session/summary.py",
    "utils/helpers.py",
    "utils/runtime.py",
)
_LIMIT = 4 * 1024 * 1024
_NAMED = ("compacted", "empty_result")
_UNUSED = {
    "main": ("summary_continuation",),
    "0.3.5": (),
    "0.2.2": ("summary_continuation", "placeholder_assistant"),
}
_SAMPLE = "exec"
_TOOLS = (
    ".local/share/uv/tools",
    "AppData/Roaming/uv/tools",
    ".local/share/pipx/venvs",
    ".local/pipx/venvs",
    "Library/Application Support/pipx/venvs",
    "pipx/venvs",
    "AppData/Local/pipx/pipx/venvs",
)
"""Where uv and pipx keep their tools below the home, on Linux, macOS and Windows."""


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed package folder, the dialect it is nearest to, and whether it is that one exactly."""

    path: Path
    dialect: str
    note: str = ""


def find_installed(home: Path) -> Installed | None:
    """The first copy found: this Python's own, then those of uv and pipx under ``home``."""
    for folder in _candidates(home):
        if is_folder(folder / "agent") and is_folder(folder / "templates"):
            return describe(folder)
    return None


def _candidates(home: Path) -> Iterator[Path]:
    try:
        spec = importlib.util.find_spec("nanobot")
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.submodule_search_locations:
        yield from map(Path, spec.submodule_search_locations)
    for tools in _TOOLS:
        for packages in ("lib/python3*/site-packages", "Lib/site-packages"):
            yield from sorted(home.glob(f"{tools}/nanobot-ai/{packages}/nanobot"))


def describe(folder: Path) -> Installed:
    """Which dialect a package folder is, told by the modules it has."""
    if is_file(folder / "session" / "recovery.py"):
        return Installed(folder, "0.3.5")
    if not is_file(folder / "agent" / "context_governance.py"):
        return Installed(folder, "0.2.2")
    manager = _text(folder / "session" / "manager.py") or ""
    if "workspace-id" in manager:
        return Installed(folder, "main")
    return Installed(folder, "main", "this is 0.3.0, which main is nearest to: sessions lie elsewhere")


def installed_prose(installed: Installed) -> InstalledProse:
    """Every passage that this copy has in the words its dialect is known for."""
    table = passages(installed.dialect)
    constants: dict[str, str] = {}
    templates: dict[str, str] = {}
    root = installed.path / "templates"
    for name in _RENDERED:
        if (text := _text(root / name)) is not None:
            templates[name] = text
    for name in _PLAIN:
        if (text := _text(root / name)) is not None:
            constants[f"template:{name}"] = text.strip() if name != "SOUL.md" else text
    contract = (_text(root / CONTRACT) or "").removesuffix("\n")
    if fingerprint(contract) == table["tool_contract"].sha256:
        constants["tool_contract"] = contract
    about: dict[str, tuple[str, str]] = {}
    wanted = {passage.sha256: name for name, passage in table.items()}
    loose: list[str] = []
    for name in _SOURCES:
        if (source := _text(installed.path / name)) is not None:
            _collect(source, wanted, constants, about, loose)
    _join_more(table["persist.more"].sha256, constants, loose)
    given = {
        "skills_intro",
        *(n for n in table if n.startswith(("template:", "compacted:", "empty_result:"))),
    }
    missing = [name for name in table if name not in constants and name not in given]
    missing += [name for name in _NAMED if name not in about and f"{name}:{_SAMPLE}" in table]
    missing += [name for name in (IDENTITY, SKILLS_SECTION) if name not in templates]
    return InstalledProse(
        dialect=installed.dialect,
        origin=str(installed.path),
        constants=MappingProxyType(constants),
        about_tool=MappingProxyType(about),
        templates=MappingProxyType(templates),
        missing=tuple(name for name in missing if name not in _UNUSED[installed.dialect]),
    )


def _collect(
    source: str,
    wanted: dict[str, str],
    constants: dict[str, str],
    about: dict[str, tuple[str, str]],
    loose: list[str],
) -> None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            loose.append(node.value)
            for text in (node.value, node.value.lstrip("\n")):
                if (name := wanted.get(fingerprint(text))) is not None:
                    constants.setdefault(name, text)
        elif isinstance(node, ast.JoinedStr):
            _collect_named(node, wanted, about)


def _collect_named(node: ast.JoinedStr, wanted: dict[str, str], about: dict[str, tuple[str, str]]) -> None:
    """A text with one hole is a passage that names a tool, if it fits with a tool's name in it."""
    holes = [index for index, part in enumerate(node.values) if isinstance(part, ast.FormattedValue)]
    if len(holes) != 1:
        return
    texts = [str(part.value) if isinstance(part, ast.Constant) else "" for part in node.values]
    before, after = "".join(texts[: holes[0]]), "".join(texts[holes[0] + 1 :])
    name = wanted.get(fingerprint(before + _SAMPLE + after))
    if name is not None and name.endswith(f":{_SAMPLE}"):
        about.setdefault(name.removesuffix(f":{_SAMPLE}"), (before, after))


def _join_more(sha256: str, constants: dict[str, str], loose: list[str]) -> None:
    """0.3.5 writes the note under a cut preview in two pieces."""
    tail = constants.get("persist.tail")
    if "persist.more" in constants or tail is None:
        return
    for text in loose:
        if fingerprint(text + tail) == sha256:
            constants["persist.more"] = text + tail
            return


def _text(path: Path) -> str | None:
    read = read_file(path, limit=_LIMIT)
    if read.data is None:
        return None
    try:
        return read.data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return None
