"""Running a workspace's own Python neurons, with the user's consent only.

The file sees ``orbiter.context`` (or ``exo.context``) as the framework has it, given by our own
classes where the framework is not installed. What its neurons print is kept as text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from promptdbg.engines.orbiter import neurons as neuron_module
from promptdbg.engines.orbiter import state as state_module
from promptdbg.engines.orbiter import variables as variable_module
from promptdbg.engines.orbiter.config import AutomationMode, ContextConfig, make_config
from promptdbg.engines.orbiter.driving import drive
from promptdbg.engines.orbiter.inputs import Entry
from promptdbg.engines.orbiter.neurons import Fragment, Neuron, Registry, builtin_registry
from promptdbg.engines.orbiter.state import Context, ContextState
from promptdbg.engines.orbiter.variables import DynamicVariableRegistry
from promptdbg.files.disk import read_file
from promptdbg.model import Failure, Notice, Source

_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Trusted:
    """What the file gave; ``ran`` is false where it was not run."""

    entries: tuple[Entry, ...] = ()
    variables: DynamicVariableRegistry | None = None
    notices: tuple[Notice, ...] = ()
    failure: Failure | None = None
    ran: bool = False


def run_trusted(path: Path, task_id: str, state: ContextState, clock: str, platform: str) -> Trusted:
    """Run the file and format its neurons against a copy of the state."""
    source = Source(str(path))
    read = read_file(path, limit=_LIMIT)
    if read.data is None:
        assert read.problem is not None
        notice = Notice(f"file.{read.problem.kind}", read.problem.message, source)
        return Trusted(notices=(notice,), ran=True)
    registry = builtin_registry()
    known = set(registry.list_all())
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    try:
        with _framework(registry):
            exec(compile(read.data, str(path), "exec"), module.__dict__)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        message = f"{path.name} failed: {type(error).__name__}: {error}"
        return Trusted(
            notices=(Notice("orbiter.python-failed", message, _line_of(error, path)),),
            failure=Failure(type(error).__name__, path.name, str(error)),
            ran=True,
        )
    context = Context(task_id, state=ContextState(state.to_dict()), clock=clock, platform=platform)
    names = [name for name in registry.list_all() if name not in known]
    entries = drive(_entries([(name, registry.get(name)) for name in names], context, source))
    found = [v for v in vars(module).values() if isinstance(v, DynamicVariableRegistry)]
    return Trusted(entries, found[0] if found else None, ran=True)


async def _entries(neurons: list[tuple[str, Any]], context: Context, source: Source) -> tuple[Entry, ...]:
    entries = []
    for name, neuron in neurons:
        fragment, failed = None, None
        try:
            text = await neuron.format(context)
            fragment = Fragment(text if isinstance(text, str) else str(text or ""))
        except Exception as error:  # kept: the framework raises it when the prompt is built
            failed = error
        priority = getattr(neuron, "priority", None)
        entries.append(Entry(name, name, "python", priority, fragment=fragment, error=failed, source=source))
    return tuple(entries)


def _line_of(error: BaseException, path: Path) -> Source:
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return Source(str(path), line if line is not None else getattr(error, "lineno", None))


@contextmanager
def _framework(registry: Registry[Any]) -> Iterator[None]:
    """``orbiter.context`` and ``exo.context`` as modules with our classes, for the time of a run."""
    names = {
        name: getattr(module, name)
        for module in (neuron_module, state_module, variable_module)
        for name in dir(module)
        if not name.startswith("_")
    }
    names.update(
        neuron_registry=registry,
        section_registry=registry,
        PromptSection=Neuron,
        ContextConfig=ContextConfig,
        AutomationMode=AutomationMode,
        make_config=make_config,
    )
    added = {}
    for root in ("orbiter", "exo"):
        for name in (root, f"{root}.context", *(f"{root}.context.{part}" for part in _SUBMODULES)):
            module = ModuleType(name)
            module.__dict__.update(names)
            module.__path__ = []
            added[name] = module
    before = {name: sys.modules.get(name) for name in added}
    sys.modules.update(added)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = old


_SUBMODULES = ("neuron", "state", "variables", "context", "config")
