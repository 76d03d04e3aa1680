"""Everything an assembly reads, in memory, and reading it.

Beside nanobot's own files a ``promptdbg.toml`` may name: ``config`` (a config.json), ``project`` (a
folder), ``tools`` (a file or a list), ``inflight`` (rows of the turn already produced: a JSONL file
or a list), ``media`` (files of the message), ``runtime_context`` (blocks with source and content),
``message``, ``channel``, ``chat_id``, ``sender``, ``session_key``, ``now``, ``bins`` and ``env`` (the
machine's programs and variables), ``builtin_skills`` (``off`` or ``on``), ``passages`` (``names`` shows
nanobot's own passages by name) and ``[paths]`` with ``workspace`` and ``project`` as the prompt shows
them.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from promptdbg.engines.base import FoundVersion, Inputs, LoadRequest
from promptdbg.engines.nanobot.config import Config, read_config
from promptdbg.engines.nanobot.dialects import DIALECTS, NEWEST
from promptdbg.engines.nanobot.installed import Installed, find_installed, installed_prose
from promptdbg.engines.nanobot.loading import LoadedSession, load_session
from promptdbg.engines.nanobot.manifest import (
    LIST_LIMIT,
    MediaFile,
    Options,
    RuntimeBlock,
    read_blocks,
    read_inflight,
    read_media,
    read_tools,
)
from promptdbg.engines.nanobot.prose import Prose, StandInProse, TokenProse
from promptdbg.engines.nanobot.skills import Machine, required
from promptdbg.engines.reuse import Reuse
from promptdbg.files.disk import entries, expanded, is_file, is_folder, resolved
from promptdbg.files.skills import SkillFile, StrictText, find_skills, read_strict
from promptdbg.model import Json, Notice, Source
from promptdbg.records import StoredSession
from promptdbg.workspace import Workspace

BOOTSTRAP = ("AGENTS.md", "SOUL.md", "USER.md")
MEMORY, HISTORY, CURSOR = "memory/MEMORY.md", "memory/history.jsonl", "memory/.dream_cursor"
COUNTER = "memory/.cursor"
"""The cursor of the newest entry that was ever appended to the history file."""
DEFAULT_MESSAGE = "hello"


@dataclass(frozen=True, kw_only=True)
class NanobotInputs(Inputs):
    """A workspace and a session as nanobot finds them; see the module's text for the manifest."""

    stored: StoredSession | None
    session_key: str
    config: Config
    dialect: str
    shown_workspace: str
    shown_project: str
    """The project folder as the prompt names it; the agent workspace where there is none."""
    agent_files: Mapping[str, StrictText]
    project_files: Mapping[str, StrictText]
    skills: tuple[SkillFile, ...] = ()
    builtin_skills: tuple[SkillFile, ...] = ()
    builtin_root: str = ""
    machine: Machine
    tools: tuple[Json, ...] | None = None
    media: tuple[MediaFile, ...] = ()
    runtime_blocks: tuple[RuntimeBlock, ...] = ()
    inflight: tuple[Mapping[str, Json], ...] = ()
    message: str = DEFAULT_MESSAGE
    message_given: bool = True
    """Whether it is the user's, and not one of ours that stands for it."""
    channel: str = "cli"
    chat_id: str = "direct"
    sender: str = "user"
    now: str
    runtime: str
    system: str
    prose: Mapping[str, Prose]
    cache: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    """Results that depend on nothing but these inputs and the dialect."""
    reuse: Reuse = field(default_factory=Reuse, init=False, compare=False, repr=False)
    """What assemblies of these inputs hand on to the next one."""

    def loaded(self, dialect: str) -> LoadedSession:
        """The session as a dialect loads it."""
        key = ("loaded", dialect)
        if key not in self.cache:
            self.cache[key] = load_session(self.stored, DIALECTS[dialect])
        found: LoadedSession = self.cache[key]
        return found


def load(workspace: Workspace, request: LoadRequest) -> NanobotInputs:
    """Read the workspace, its configuration and the machine.

    Raises:
        InputError: a key of the manifest has the wrong kind of value.
    """
    options = Options(workspace)
    home = Path(request.home) if request.home else Path.home()
    notices: list[Notice] = []
    named = options.choice("passages", ("names",)) == "names"
    with_skills = options.choice("builtin_skills", ("off", "on")) == "on"
    found = find_installed(home) if not named or with_skills else None
    installed = None if named else found
    dialect, reason = _dialect(workspace, options, installed)
    session = load_session(request.session, DIALECTS[dialect])
    config = _config(workspace, options, home, session)
    notices.extend(config.notices)
    key = options.text("session_key") or (request.session.ref.key if request.session else "")
    channel, chat = _route(options, key)
    key = key or f"{channel}:{chat}"
    project, shown_project = _project(workspace, options, session, notices)
    shown = options.path("workspace") or str(workspace.path)
    skills = find_skills(workspace.path / "skills")
    builtin, builtin_root = _builtin(options, found)
    machine = _machine(options, (*skills, *builtin))
    tools = read_tools(workspace, options, notices)
    _notice_plugins(workspace, notices)
    return NanobotInputs(
        workspace=str(workspace.path),
        session=request.session.ref.path if request.session else None,
        warnings=tuple(notices),
        stored=request.session,
        session_key=key,
        config=config,
        dialect=dialect,
        found_version=FoundVersion(dialect, reason, "dialect") if reason else None,
        shown_workspace=shown,
        shown_project=shown_project or shown,
        agent_files=_read(workspace.path, (*BOOTSTRAP, MEMORY, HISTORY, CURSOR, COUNTER)),
        project_files=_read(project, BOOTSTRAP) if project else MappingProxyType({}),
        skills=skills,
        builtin_skills=builtin,
        builtin_root=builtin_root,
        machine=machine,
        tools=tools,
        media=read_media(workspace, options, shown),
        runtime_blocks=read_blocks(options),
        inflight=read_inflight(workspace, options, notices),
        message=request.message
        if request.message is not None
        else options.text("message") or DEFAULT_MESSAGE,
        message_given=request.message is not None or bool(options.text("message")),
        channel=channel,
        chat_id=chat,
        sender=options.text("sender") or "user",
        now=request.now or options.time("now") or _machine_time(),
        runtime=options.text("runtime") or _machine_runtime(),
        system=options.text("system") or platform.system(),
        prose=_prose(named, installed),
    )


def _dialect(workspace: Workspace, options: Options, installed: Installed | None) -> tuple[str, str]:
    """The version, and by what it was found out; nothing where the manifest names it."""
    if named := options.choice("dialect", DIALECTS):
        return named, ""
    if installed is not None:
        note = f" ({installed.note})" if installed.note else ""
        return installed.dialect, f"installed at {installed.path}{note}"
    if is_file(workspace.path / ".nanobot" / "workspace-id"):
        return (
            NEWEST,
            "sessions lie in the configuration folder, as since main; the newest is taken",
        )
    if is_folder(workspace.path / "sessions"):
        return "0.2.2", "sessions lie in the workspace, as in 0.2.2; later versions move them out"
    return NEWEST, "the newest, for nothing in the folder says which"


def config_path(workspace: Workspace, options: Options, home: Path) -> Path:
    """The configuration that applies: the manifest's, the one above the workspace, or the user's own.

    With a manifest that names none, only a ``config.json`` in the workspace counts, so that an
    example gives the same answer on every machine.
    """
    if named := options.text("config"):
        return workspace.path / named
    if workspace.manifest is not None:
        return workspace.path / "config.json"
    above = workspace.path.parent / "config.json"
    return above if is_file(above) else home / ".nanobot" / "config.json"


def _config(workspace: Workspace, options: Options, home: Path, session: LoadedSession) -> Config:
    pinned = session.metadata.get("_nanobot_model_preset")
    return read_config(config_path(workspace, options, home), pinned if isinstance(pinned, str) else None)


def _route(options: Options, key: str) -> tuple[str, str]:
    """Channel and chat: the manifest's, else those in the session's key."""
    channel, _, chat = key.partition(":")
    if key.startswith("unified:") or not chat:
        channel, chat = "cli", "direct"
    return options.text("channel") or channel, options.text("chat_id") or chat


def _project(
    workspace: Workspace, options: Options, session: LoadedSession, notices: list[Notice]
) -> tuple[Path | None, str]:
    """The project folder on disk and as shown; a session names it in ``workspace_scope``."""
    scope = session.metadata.get("workspace_scope")
    stored = scope.get("project_path") if isinstance(scope, dict) else None
    shown = options.path("project") or (stored if isinstance(stored, str) else "")
    named = options.text("project")
    if named:
        return workspace.path / named, shown or str(resolved(workspace.path / named))
    if not shown:
        return None, ""
    folder = expanded(shown)
    if not is_folder(folder):
        message = f"the session's project folder {shown} does not exist here; the agent workspace stands in"
        notices.append(Notice("project.missing", message))
        return None, ""
    return folder, str(resolved(folder))


def _read(root: Path, names: Iterable[str]) -> Mapping[str, StrictText]:
    return MappingProxyType({name: read_strict(root / name, limit=LIST_LIMIT) for name in names})


def _builtin(options: Options, installed: Installed | None) -> tuple[tuple[SkillFile, ...], str]:
    if options.text("builtin_skills") == "off" or installed is None:
        return (), ""
    root = installed.path / "skills"
    return find_skills(root), str(root)


def _machine(options: Options, skills: tuple[SkillFile, ...]) -> Machine:
    bins, env = options.texts("bins"), options.table("env")
    programs: set[str] = set()
    variables: set[str] = set()
    for skill in skills:
        wanted, needed = required(skill.file.text or "")
        programs.update(wanted)
        variables.update(needed)
    found = set(bins) if bins is not None else {name for name in programs if shutil.which(name)}
    given = os.environ if env is None else env
    return Machine(frozenset(found & programs), frozenset(name for name in variables if given.get(name)))


def _prose(named: bool, installed: Installed | None) -> Mapping[str, Prose]:
    makers: dict[str, Prose] = {}
    for name in DIALECTS:
        if named:
            makers[name] = TokenProse()
        elif installed is not None and installed.dialect == name:
            makers[name] = installed_prose(installed)
        elif installed is not None:
            makers[name] = StandInProse(name, f"the installed copy is {installed.dialect}")
        else:
            makers[name] = StandInProse(name)
    return MappingProxyType(makers)


def _notice_plugins(workspace: Workspace, notices: list[Notice]) -> None:
    if entries(workspace.path / "plugins"):
        message = "skills of agent plugins are not reproduced: which are enabled is not in the workspace"
        notices.append(Notice("skills.plugins", message, Source(str(workspace.path / "plugins"))))


def _machine_time() -> str:
    from datetime import datetime

    return datetime.now().astimezone().isoformat(timespec="seconds")


def _machine_runtime() -> str:
    system = platform.system()
    name = "macOS" if system == "Darwin" else system
    return f"{name} {platform.machine()}, Python {platform.python_version()}"
