"""One debugging state: a workspace and session, the settings tried on it, and the assembly.

Both shells drive this and nothing else: they call a method and draw the assembly it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from promptdbg import sessions
from promptdbg.engines import DATA_FILES, ENGINE_NAMES, engine
from promptdbg.engines.base import AnyEngine, Detection, Inputs, LoadRequest
from promptdbg.engines.switching import Switched, Switching
from promptdbg.errors import InputError, PromptdbgError, UsageError
from promptdbg.files.disk import is_file, noting
from promptdbg.model import Assembly, Knob, Settings, Turn, Value
from promptdbg.records import SessionRef
from promptdbg.sessions.choosing import choose, wanted, with_named
from promptdbg.tokens import DEFAULT_ENCODING, TokenCounter, tokenizer
from promptdbg.workspace import MANIFEST_NAME, Workspace, open_folder


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """How to open a workspace; the fields are the common options of the command line."""

    engine: str = "auto"
    session: str | None = None
    message: str | None = None
    now: str | None = None
    trust: bool = False
    home: str | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A workspace, read: the engine that fits and why, its inputs, the sessions there are, and the paths
    that were read."""

    request: OpenRequest
    workspace: Workspace
    engine: AnyEngine
    detection: Detection
    inputs: Inputs
    sessions: tuple[SessionRef, ...] = ()
    read: tuple[str, ...] = ()
    again: Callable[[], Opened] | None = field(default=None, compare=False, repr=False)
    """Reads an assembly that was made elsewhere from its file once more."""
    switching: Switching = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "switching", Switching(self.engine, self.inputs))

    @property
    def knobs(self) -> tuple[Knob, ...]:
        return self.engine.knobs(self.inputs)

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.engine.turns(self.inputs)

    @property
    def watched(self) -> tuple[str, ...]:
        """The paths whose change, appearance or removal may change the picture: those that were read, and
        the manifest; of an assembly made elsewhere its file."""
        return self.read if self.recorded else (str(self.workspace.path / MANIFEST_NAME), *self.read)

    @property
    def recorded(self) -> bool:
        """Whether this is an assembly made elsewhere, in which nothing can be changed."""
        return self.engine.name == "given"

    @property
    def base(self) -> Settings:
        """The settings on disk: the manifest's ``[settings]``, else none."""
        return self.workspace.manifest.settings if self.workspace.manifest else Settings()

    def scenario(self, name: str) -> Settings:
        """The manifest's ``[scenarios.NAME]``, laid over its ``[settings]``.

        Raises:
            UsageError: there is no scenario of that name.
        """
        scenarios = self.workspace.manifest.scenarios if self.workspace.manifest else {}
        if name not in scenarios:
            known = "one of " + ", ".join(sorted(scenarios)) if scenarios else f"{MANIFEST_NAME} has none"
            raise UsageError(f"unknown scenario {name!r}", hint=known)
        return self.base.overlaid(scenarios[name])

    def assemble(self, settings: Settings, counter: TokenCounter) -> Assembly:
        """The assembly that these settings give. What they switch off in vain has a warning in it.

        Raises:
            InputError: a value of the manifest does not fit.
            UsageError: another setting does not.
        """
        return self.switched(settings, counter).assembly

    def switched(self, settings: Settings, counter: TokenCounter) -> Switched:
        """As ``assemble``, with what could not be switched off.

        Raises:
            InputError: a value of the manifest does not fit.
            UsageError: another setting does not.
        """
        try:
            return self.switching.assemble(settings, counter)
        except UsageError as error:
            keys = self._wrong_key(settings, counter, error)
            if keys is None:
                raise
            place = str(self.workspace.source(*keys))
            raise InputError(error.what, where=place, hint=error.hint) from error

    def _wrong_key(
        self, settings: Settings, counter: TokenCounter, error: UsageError
    ) -> tuple[str, ...] | None:
        """The key of the manifest that the error is about: without it there is none, or another."""
        for name, value in settings.values.items():
            keys = self._key_of(name, value)
            if keys is None:
                continue
            try:
                self.engine.assemble(self.inputs, settings.without_value(name), counter)
            except PromptdbgError as other:
                if other.line() == error.line():
                    continue
            return keys
        return None

    def _key_of(self, knob: str, value: Value) -> tuple[str, ...] | None:
        if self.base.values.get(knob) == value:
            return ("settings", knob)
        scenarios = self.workspace.manifest.scenarios if self.workspace.manifest else {}
        found = (name for name, settings in scenarios.items() if settings.values.get(knob) == value)
        return next((("scenarios", name, knob) for name in found), None)


def open_workspace(path: Path | str, request: OpenRequest | None = None) -> Opened:
    """Open a workspace and its session; reads everything that the engine needs.

    Raises:
        InputError: the folder or the named session cannot be used, or no engine fits.
        UsageError: the named engine does not exist.
    """
    request = request or OpenRequest()
    try:
        return _opened(open_folder(path), request)
    except OSError as error:  # what was there a moment ago is gone, or was swapped for something else
        what = f"changed while it was being read: {error.strerror or error}"
        raise InputError(what, where=str(error.filename or path), hint="try again") from error


def _opened(workspace: Workspace, request: OpenRequest) -> Opened:
    chosen, detection = choose_engine(workspace, request.engine)
    home = _home(request)
    found: tuple[SessionRef, ...] = ()
    reader: sessions.Format | None = None
    ref: SessionRef | None = None
    if chosen.session_format is not None:
        reader = sessions.session_format(chosen.session_format)
        found = reader.find(workspace, home)
        ref = choose(found, wanted(workspace, request.session), chosen.session_format)
    elif request.session not in (None, "latest"):
        raise UsageError(f"engine {chosen.name} reads no session file", where="--session")
    with noting() as read:
        stored = reader.read(ref) if reader and ref else None
        inputs: Inputs = chosen.load(
            workspace,
            LoadRequest(
                session=stored, message=request.message, now=request.now, trust=request.trust, home=str(home)
            ),
        )
    return Opened(request, workspace, chosen, detection, inputs, found, tuple(sorted(read)))


def find_sessions(
    path: Path | str, request: OpenRequest | None = None
) -> tuple[AnyEngine, tuple[SessionRef, ...]]:
    """The engine of a workspace and the stored sessions it has: the one that the manifest names, then
    the newest first; reads none of them.

    Raises:
        InputError: the folder cannot be used, or no engine fits.
        UsageError: the named engine does not exist.
    """
    request = request or OpenRequest()
    workspace = open_folder(path)
    chosen, _ = choose_engine(workspace, request.engine)
    if chosen.session_format is None:
        return chosen, ()
    found = sessions.session_format(chosen.session_format).find(workspace, _home(request))
    return chosen, with_named(workspace, found, chosen.session_format)


def opened_assembly(
    assembly: Assembly, document: str = "", again: Callable[[], Opened] | None = None
) -> Opened:
    """An assembly that was made elsewhere, opened for looking at; nothing in it can be changed.

    Args:
        document: the file it was read from, if any; ``again`` reads that once more.
    """
    from promptdbg.engines.given import ENGINE, GivenInputs

    folder = Path(assembly.workspace or ".")
    detection = Detection(100, f"recorded by {assembly.engine.title} {assembly.engine.version}".strip())
    inputs = GivenInputs(workspace=assembly.workspace, session=assembly.session, assembly=assembly)
    return Opened(
        OpenRequest(),
        Workspace(folder),
        ENGINE,
        detection,
        inputs,
        read=(document,) if document else (),
        again=again,
    )


def _home(request: OpenRequest) -> Path:
    if request.home:
        return Path(request.home)
    try:
        return Path.home()
    except RuntimeError as error:  # a user without an entry and without HOME
        raise InputError("the home folder is not known", hint="set HOME") from error


def choose_engine(workspace: Workspace, name: str = "auto") -> tuple[AnyEngine, Detection]:
    """The engine a workspace is for, and why.

    Raises:
        UsageError: the name is not an engine's.
        InputError: nothing in the folder tells.
    """
    if name != "auto":
        return engine(name), Detection(100, "named on the command line")
    if workspace.manifest and workspace.manifest.engine:
        try:
            named = engine(workspace.manifest.engine)
        except UsageError as error:
            raise InputError(error.what, where=str(workspace.source("engine")), hint=error.hint) from error
        return named, Detection(100, f"{workspace.manifest.path.name} says so")
    best: tuple[AnyEngine, Detection] | None = None
    for candidate in ENGINE_NAMES:
        entry = engine(candidate)
        detection = entry.detect(workspace)
        if detection is not None and (best is None or detection.score > best[1].score):
            best = entry, detection
    if best is None:
        raise InputError(
            "no framework's files found",
            where=str(workspace.path),
            hint=_which_engine(workspace),
        )
    return best


def _which_engine(workspace: Workspace) -> str:
    """What to try where nothing in the folder tells the engine."""
    for name, engines in DATA_FILES.items():
        if is_file(workspace.path / name):
            return f"{name} may be for " + " or ".join(f"--engine {engine}" for engine in engines)
    return "name one with --engine " + "|".join(ENGINE_NAMES) + ", or try: promptdbg demo"


class Debugger:
    """What is open, what was changed, and the way back.

    Every method that changes something returns the new assembly and can be undone.
    """

    def __init__(self, opened: Opened, settings: Settings | None = None, counter: TokenCounter | None = None):
        self.opened = opened
        self.counter: TokenCounter = counter or tokenizer(DEFAULT_ENCODING)
        self.settings = settings or self.base
        self._past: list[tuple[str, Settings]] = []
        self._future: list[tuple[str, Settings]] = []
        self.assembly = self._assembled(self.settings)

    def _assembled(self, settings: Settings) -> Assembly:
        return self.opened.assemble(settings, self.counter)

    def apply(self, settings: Settings, label: str, *, joins: bool = False) -> Assembly:
        """Try other settings. ``label`` is what undo will say was undone.

        Args:
            joins: the change goes on with the one before (a knob that is still being turned), so
                that one undo takes both back.

        Raises:
            UsageError: a setting does not fit, or what it newly switches off cannot be; nothing has
                changed then.
        """
        if settings == self.settings:
            return self.assembly
        switched = self.opened.switched(settings, self.counter)
        switched.check(sorted(settings.off - self.settings.off))
        self.assembly = switched.assembly
        if joins and self._past:
            self._past[-1] = (label, self._past[-1][1])
        else:
            self._past.append((label, self.settings))
        self._future.clear()
        self.settings = settings
        return self.assembly

    def preview(self, settings: Settings) -> Assembly:
        """The assembly other settings would give; changes nothing."""
        return self._assembled(settings)

    def set_knob(self, name: str, value: Value) -> Assembly:
        return self.apply(with_knob(self.settings, self.knob(name), value), f"{name} {value}")

    def toggle(self, item: str) -> Assembly:
        state = "on" if item in self.settings.off else "off"
        return self.apply(self.settings.toggled(item), f"{item} {state}")

    def set_turn(self, turn: int | None) -> Assembly:
        return self.apply(self.settings.with_turn(turn), "turn " + ("next" if turn is None else str(turn)))

    def reset(self) -> Assembly:
        """Back to the workspace as it is on disk."""
        return self.apply(replace(self.opened.base, turn=self.settings.turn), "back to the files")

    def knob(self, name: str) -> Knob:
        """
        Raises:
            UsageError: the engine has no such knob.
        """
        known = {knob.name: knob for knob in self.opened.knobs}
        if name not in known:
            raise UsageError(f"unknown knob {name!r}", hint="one of " + ", ".join(sorted(known)))
        return known[name]

    @property
    def undo_label(self) -> str | None:
        """What undo would take back; ``None`` when there is nothing."""
        return self._past[-1][0] if self._past else None

    @property
    def redo_label(self) -> str | None:
        """What redo would do again; ``None`` when there is nothing."""
        return self._future[-1][0] if self._future else None

    @property
    def base(self) -> Settings:
        """The settings of the workspace as it is on disk."""
        return self.opened.base

    def undo(self) -> str | None:
        """Take the last change back; its label, or ``None`` when there is nothing to undo."""
        return self._step(self._past, self._future)

    def redo(self) -> str | None:
        """Do again what was undone; its label, or ``None``."""
        return self._step(self._future, self._past)

    def _step(self, take: list[tuple[str, Settings]], give: list[tuple[str, Settings]]) -> str | None:
        if not take:
            return None
        label, settings = take[-1]
        self.assembly = self._assembled(settings)
        take.pop()
        give.append((label, self.settings))
        self.settings = settings
        return label

    def reload(self) -> Assembly:
        """Read everything from disk again: the workspace, or the document that is shown. The settings
        stay; where nothing was changed they follow the manifest.

        Raises:
            PromptdbgError: something cannot be read now; the state is then as before.
            UsageError: what is shown was never in a file.
        """
        opened = self._reopened()
        untouched = self.settings == replace(self.base, turn=self.settings.turn)
        settings = replace(opened.base, turn=self.settings.turn) if untouched else self.settings
        assembly = opened.assemble(settings, self.counter)
        self.opened, self.assembly, self.settings = opened, assembly, settings
        return assembly

    def _reopened(self) -> Opened:
        if self.opened.again is not None:
            return self.opened.again()
        if self.opened.recorded:
            raise UsageError("this prompt was not read from a file, so there is nothing to read again")
        return open_workspace(self.opened.workspace.path, self.opened.request)


def with_knob(settings: Settings, knob: Knob, value: Value) -> Settings:
    """The settings with a knob set; the knob's default is the same as not setting it.

    Raises:
        UsageError: the value does not fit.
    """
    if knob.check(value) == knob.default:
        return settings.without_value(knob.name)
    return settings.with_value(knob.name, value)
