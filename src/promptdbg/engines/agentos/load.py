"""A workspace's files, read and checked: ``agentos.json``, ``components.json``, ``promptdbg.toml``.

``agentos.json`` holds ``engine_version``, ``model``, ``config``, ``executionContext`` (persona, mood,
preferences, …), ``setCurrentContext``, ``templateName``, ``metadata`` (what travels with a turn),
``summarizer``, ``memory``, ``env`` and ``gmiHistory``. ``components.json`` holds prompt components.
``promptdbg.toml`` may name other files (``agentos``, ``components``).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from promptdbg.engines.agentos import gmi, js, rules
from promptdbg.engines.agentos.components import Prepared, prepare
from promptdbg.engines.agentos.config import DEFAULT_WINDOW, merged, unread
from promptdbg.engines.agentos.memory import SHARES, MemoryInput
from promptdbg.engines.agentos.summarizer import StubSummarizer, from_settings
from promptdbg.engines.agentos.texts import STAND_INS
from promptdbg.engines.base import Inputs, LoadRequest
from promptdbg.engines.named import broken, named_files
from promptdbg.errors import InputError
from promptdbg.files.disk import read_file
from promptdbg.model import Json, Notice, Source, Turn
from promptdbg.text import one_line
from promptdbg.workspace import Workspace

SETTINGS_FILE, COMPONENTS_FILE = "agentos.json", "components.json"
_LIMIT = 64 * 1024 * 1024
_COMPONENT_KEYS = frozenset(
    {
        "systemPrompts",
        "conversationHistory",
        "currentTurnMessageCount",
        "userInput",
        "visionInputs",
        "audioInput",
        "tools",
        "toolSchemas",
        "retrievedContext",
        "assembledMemoryContext",
        "taskSpecificData",
        "customComponents",
    }
)


@dataclass(frozen=True, kw_only=True)
class AgentosInputs(Inputs):
    """Everything one call depends on. ``gmi_prompts`` is how many system prompts the persona and the
    turn put in front of the components' own; ``now`` is in milliseconds since 1970."""

    prepared: Prepared = field(default_factory=lambda: Prepared(raw={}))
    gmi_prompts: int = 0
    model: Json = None
    config: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    context: Json = None
    set_context: bool = True
    template: str | None = None
    version: str = rules.PUBLISHED
    summarizer: StubSummarizer | None = None
    memory: MemoryInput | None = None
    gmi_history: float | None = None
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    now: float = 0
    components_path: str = COMPONENTS_FILE
    settings_path: str = SETTINGS_FILE
    turns: tuple[Turn, ...] = ()


def load_workspace(workspace: Workspace, request: LoadRequest) -> AgentosInputs:
    """Read the workspace. A value that cannot be is a warning, and its default applies.

    Raises:
        InputError: neither file is there, or one is broken.
    """
    return _Loader(workspace, request).load()


class _Loader:
    def __init__(self, workspace: Workspace, request: LoadRequest) -> None:
        self.workspace, self.request = workspace, request
        usual = {"agentos": SETTINGS_FILE, "components": COMPONENTS_FILE}
        names, self.warnings = named_files(workspace, "agentos", usual)
        self.settings_name, self.components_name = names["agentos"], names["components"]

    def load(self) -> AgentosInputs:
        settings, components = self._object(self.settings_name), self._object(self.components_name)
        if settings is None and components is None and not self.warnings:
            where = str(self.workspace.path)
            raise InputError(f"neither {self.settings_name} nor {self.components_name} is there", where=where)
        settings, components = settings or {}, components or {}
        self._unknown(settings, _SETTINGS, self.settings_name)
        self._unknown(components, _COMPONENT_KEYS, self.components_name)
        config = self._config(settings)
        context = self._value(settings, "executionContext", dict)
        prompts = self._gmi_prompts(context, settings)
        prepared = prepare(self._components(components, prompts))
        return AgentosInputs(
            workspace=str(self.workspace.path),
            prepared=prepared,
            turns=tuple(_turns(prepared)),
            gmi_prompts=len(prompts),
            model=self._model(settings),
            config=config,
            context=context,
            set_context=self._value(settings, "setCurrentContext", bool, True),
            template=self._value(settings, "templateName", str),
            version=self._version(settings),
            summarizer=self._summarizer(settings),
            memory=self._memory(settings, components),
            gmi_history=self._number(settings, "gmiHistory"),
            env=self._env(settings),
            now=self._now(),
            components_path=str(self.workspace.path / self.components_name),
            settings_path=str(self.workspace.path / self.settings_name),
            warnings=tuple(self.warnings),
        )

    # ---- files ------------------------------------------------------------------------------------

    def _object(self, name: str) -> dict[str, Json] | None:
        """One of the two files; ``None`` where it is not there.

        Raises:
            InputError: it cannot be read, or is not an object of JSON as JavaScript has it.
        """
        path = self.workspace.path / name
        place = Source(str(path))
        read = read_file(path, limit=_LIMIT)
        if read.problem is not None:
            if read.problem.kind == "missing":
                return None
            raise broken(read.problem.message, place)
        assert read.data is not None
        try:
            value = js.plain(json.loads(read.data.decode("utf-8-sig"), parse_constant=_no_constant))
        except UnicodeDecodeError as error:
            raise broken(f"byte {error.start} is not UTF-8", place) from error
        except json.JSONDecodeError as error:
            text = f"column {error.colno}: {error.msg}"
            raise broken(text, Source(str(path), error.lineno)) from error
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, (RecursionError, js.TooDeep)) else str(error)
            raise broken(reason, place) from error
        if not isinstance(value, dict):
            raise broken("must hold an object", place)
        return value

    def _warn(self, code: str, message: str, path: str) -> None:
        self.warnings.append(Notice(code, message, Source(str(self.workspace.path / path))))

    def _unknown(self, found: Mapping[str, Json], known: frozenset[str], name: str) -> None:
        for key in sorted(set(found) - known):
            self._warn("agentos.unknown-key", f"nothing reads the key {key}", name)

    # ---- keys of agentos.json -----------------------------------------------------------------------

    def _value(self, settings: Mapping[str, Json], key: str, kind: type, default: Any = None) -> Any:
        value = settings.get(key)
        if value is None:
            return default
        if isinstance(value, kind):
            return value
        self._wrong(key, _KINDS[kind])
        return default

    def _wrong(self, key: str, wanted: str) -> None:
        self._warn("agentos.kind", f"{key} must be {wanted}; ignored", self.settings_name)

    def _number(self, settings: Mapping[str, Json], key: str) -> float | None:
        value = settings.get(key)
        if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            return value
        self._wrong(key, "a number")
        return None

    def _version(self, settings: Mapping[str, Json]) -> str:
        version = settings.get("engine_version", rules.PUBLISHED)
        if version in rules.VERSIONS:
            return str(version)
        self._wrong("engine_version", "one of " + ", ".join(rules.VERSIONS))
        return rules.PUBLISHED

    def _model(self, settings: Mapping[str, Json]) -> Json:
        model = self._value(settings, "model", dict, {})
        return {
            "modelId": "",
            "maxContextTokens": DEFAULT_WINDOW,
            "toolSupport": {"supported": False},
            **model,
        }

    def _config(self, settings: Mapping[str, Json]) -> dict[str, Json]:
        changes = self._value(settings, "config", dict, {})
        for name in unread(changes):
            text = f"{name} has no effect; nothing in the engine reads it"
            self._warn("agentos.unread", text, self.settings_name)
        return merged(changes)

    def _summarizer(self, settings: Mapping[str, Json]) -> StubSummarizer | None:
        if settings.get("summarizer") is None:
            return None
        try:
            return from_settings(settings["summarizer"])
        except ValueError as error:
            self._warn("agentos.summarizer", str(error), self.settings_name)
            return None

    def _env(self, settings: Mapping[str, Json]) -> Mapping[str, str]:
        env = self._value(settings, "env", dict, {})
        return MappingProxyType({name: value for name, value in env.items() if isinstance(value, str)})

    def _now(self) -> float:
        if self.request.now is None:
            return time.time() * 1000
        try:
            moment = datetime.fromisoformat(self.request.now)
        except ValueError:
            raise InputError(f"{self.request.now!r} is not a time", hint="as in 2026-01-31T12:00") from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000

    # ---- components and memory ------------------------------------------------------------------------

    def _gmi_prompts(self, context: Json, settings: Mapping[str, Json]) -> list[Json]:
        persona = context.get("activePersona") if isinstance(context, dict) else None
        return gmi.system_prompts(persona, settings.get("metadata"), STAND_INS)

    def _components(self, components: dict[str, Json], prompts: list[Json]) -> dict[str, Json]:
        own = components.get("systemPrompts")
        found = dict(components)
        if prompts and (own is None or isinstance(own, list)):
            found["systemPrompts"] = [*prompts, *(own or [])]
        if self.request.message is not None:
            found["userInput"] = self.request.message
        return found

    def _memory(self, settings: Mapping[str, Json], components: Mapping[str, Json]) -> MemoryInput | None:
        memory = self._value(settings, "memory", dict)
        if memory is None:
            return None
        retrieved = components.get("retrievedContext")
        if js.truthy(retrieved) and not isinstance(retrieved, str):
            text = (
                "the retrieved context is a list, and a GMI joins memory to a text only; memory is not used"
            )
            self._warn("agentos.memory", text, self.settings_name)
            return None
        budget = memory.get("totalTokenBudget")
        if not isinstance(budget, (int, float)) or isinstance(budget, bool):
            self._wrong("memory.totalTokenBudget", "a number")
            return None
        return MemoryInput(
            budget=budget,
            traits=memory["traits"] if isinstance(memory.get("traits"), dict) else {},
            traces=self._list(memory, "retrievedTraces", dict),
            allocation=self._allocation(memory),
            working=self._value(memory, "workingMemoryText", str, ""),
            persistent=self._value(memory, "persistentMemoryText", str, ""),
            prospective=self._list(memory, "prospectiveAlerts", str),
            graph=self._list(memory, "graphContext", str),
            observations=self._list(memory, "observationNotes", str),
        )

    def _list(self, memory: Mapping[str, Json], key: str, kind: type) -> list[Json]:
        entries = self._value(memory, key, list, [])
        good = [entry for entry in entries if isinstance(entry, kind)]
        if len(good) < len(entries):
            self._wrong(f"memory.{key}", f"a list of {'objects' if kind is dict else 'texts'}")
        return good

    def _allocation(self, memory: Mapping[str, Json]) -> dict[str, float]:
        shares = self._value(memory, "allocation", dict, {})
        good = {
            key: value
            for key, value in shares.items()
            if key in SHARES and isinstance(value, (int, float)) and not isinstance(value, bool)
        }
        if len(good) < len(shares):
            self._wrong("memory.allocation", "numbers by the names " + ", ".join(SHARES))
        return good


_KINDS: Mapping[type, str] = {dict: "an object", str: "a text", bool: "true or false", list: "a list"}
_SETTINGS = frozenset(
    {
        "engine_version",
        "model",
        "config",
        "executionContext",
        "setCurrentContext",
        "templateName",
        "metadata",
        "summarizer",
        "memory",
        "env",
        "gmiHistory",
    }
)


def _turns(prepared: Prepared) -> Iterator[Turn]:
    users = ((row, m) for row, m in enumerate(prepared.history or ()) if m.role == "user")
    for number, (row, message) in enumerate(users, 1):
        content = js.get(message.raw, "content")
        yield Turn(number, one_line(content) if isinstance(content, str) else "(parts)", row)


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")
