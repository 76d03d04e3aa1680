"""Small workspaces made in a test, and the assembly they give."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from promptdbg.debug import Opened, OpenRequest, open_workspace
from promptdbg.model import Assembly, Decision, Section, Settings
from promptdbg.tokens import tokenizer
from tests import invariants

CLOCK = "2026-05-30T12:00:00Z"
HEAD = f'engine = "bee"\nmount = "/w"\nclock = "{CLOCK}"\n'
PLAIN = 'default_model = "vendor/plain"\nprofile = "normal"\ncaveman = "off"\nmode = "edit"\n'


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return root


def opened(
    root: Path,
    files: Mapping[str, str | bytes],
    manifest: str = "",
    config: str = PLAIN,
    message: str | None = None,
) -> Opened:
    """A workspace at ``/w`` with a plain configuration and no home of its own."""
    write(root, {"promptdbg.toml": HEAD + manifest, "bee.toml": config, **files})
    return open_workspace(root, OpenRequest(message=message, home=str(root / "nobody")))


def assembled(workspace: Opened, settings: Settings | None = None) -> Assembly:
    """The assembly, with every invariant checked."""
    assembly = workspace.engine.assemble(workspace.inputs, settings or Settings(), tokenizer())
    invariants.check(assembly)
    return assembly


def section(assembly: Assembly, item: str) -> Section:
    found = assembly.section(item)
    assert found is not None, f"no section {item}: {[entry.id for entry in assembly.sections]}"
    return found


def decision(assembly: Assembly, item: str, rule: str) -> Decision:
    found = [entry for entry in assembly.decisions_on(item) if entry.rule == rule]
    assert len(found) == 1, [(entry.rule, entry.because) for entry in assembly.decisions_on(item)]
    return found[0]


def lost(assembly: Assembly) -> list[str]:
    """The parts that are not whole in the prompt."""
    return [entry.id for entry in assembly.sections if entry.lost and entry.parent]
