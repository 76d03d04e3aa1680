"""Golden JSON of bundled examples: what ``inspect --json`` gives, paths inside the example relative.

``PROMPTDBG_GOLDEN=write`` writes the files anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import promptdbg.examples
from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.export.document import document
from promptdbg.model import Assembly
from tests import invariants

EXAMPLES = Path(promptdbg.examples.__file__).parent


def opened(example: str, request: OpenRequest | None = None) -> Debugger:
    """A bundled example, opened."""
    return Debugger(open_workspace(EXAMPLES / example, request))


def check_golden(folder: Path, name: str, assembly: Assembly) -> None:
    """Compare an assembly with its golden file, or write that."""
    invariants.check(assembly)
    found = _relative(document(assembly), assembly.workspace)
    path = folder / "golden" / f"{name}.json"
    if os.environ.get("PROMPTDBG_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")
    assert found == json.loads(path.read_text("utf-8"))


def _relative(value: Any, root: str) -> Any:
    if isinstance(value, str):
        return value.replace(root + os.sep, "").replace(root, ".")
    if isinstance(value, list):
        return [_relative(entry, root) for entry in value]
    if isinstance(value, dict):
        return {key: _relative(entry, root) for key, entry in value.items()}
    return value
