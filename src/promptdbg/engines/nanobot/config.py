"""nanobot's ``config.json``: the few settings that change a prompt, with the framework's defaults.

Keys count in camelCase and snake_case. A broken file is an error, for nanobot would refuse to start; a
value that cannot be is a notice and the default applies.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from promptdbg.engines.named import broken
from promptdbg.files.disk import read_file
from promptdbg.files.structured import json_reason
from promptdbg.model import Json, Notice, Source, is_finite

_LIMIT = 4 * 1024 * 1024
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Config:
    """What the prompt depends on. ``context_window`` is the least over all fallback models."""

    path: str = ""
    model: str = "anthropic/claude-opus-4-5"
    max_output: int = 8_192
    context_window: int = 200_000
    block_limit: int | None = None
    tool_result_cap: int = 16_000
    consolidation_ratio: float = 0.5
    max_messages: int = 120
    unified_session: bool = False
    disabled_skills: tuple[str, ...] = ()
    timezone: str = "UTC"
    extract_documents: bool = True
    notices: tuple[Notice, ...] = field(default=())


class _Reader:
    """Typed look-ups with both spellings of a key, and a notice for each value of the wrong kind."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self.path = path
        self.notices: list[Notice] = []
        self._environment = environment

    def warn(self, code: str, message: str) -> None:
        self.notices.append(Notice(f"config.{code}", message, Source(str(self.path))))

    def get(self, table: Mapping[str, Json], *names: str) -> Json:
        for name in names:
            for spelling in (_camel(name), name):
                if table.get(spelling) is not None:
                    return self._resolved(table[spelling], name)
        return None

    def _resolved(self, value: Json, name: str) -> Json:
        if not isinstance(value, str):
            return value

        def variable(match: re.Match[str]) -> str:
            if match[1] not in self._environment:
                self.warn(
                    "variable", f"{name} uses ${{{match[1]}}}, which is not set: nanobot refuses to start"
                )
            return self._environment.get(match[1], "")

        return _VARIABLE.sub(variable, value)

    def number(self, table: Mapping[str, Json], default: int, *names: str) -> int:
        value = self.get(table, *names)
        if value is None:
            return default
        if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,300}\s*", value):
            value = int(value)
        if isinstance(value, bool) or not _is_number(value) or value != int(value):
            self.warn(
                "value", f"{_camel(names[0])} must be a whole number, not {value!r}; {default:,} is used"
            )
            return default
        return int(value)

    def table(self, table: Mapping[str, Json], name: str) -> dict[str, Any]:
        value = self.get(table, name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.warn("value", f"{_camel(name)} must be an object")
            return {}
        return value


def _is_number(value: Json) -> bool:
    """Whether a value is a number that can be reckoned with."""
    return isinstance(value, (int, float)) and is_finite(value)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def read_config(
    path: Path, preset: str | None = None, environment: Mapping[str, str] | None = None
) -> Config:
    """The configuration at ``path``; the defaults where there is none.

    Args:
        preset: the model preset a session pins (metadata ``_nanobot_model_preset``).
        environment: stands in for the process's environment.

    Raises:
        InputError: it is broken.
    """
    reader = _Reader(path, os.environ if environment is None else environment)
    data = _document(path)
    if data is None:
        return Config(path=str(path), notices=tuple(reader.notices))
    defaults = reader.table(reader.table(data, "agents"), "defaults")
    presets = reader.table(data, "model_presets")
    chosen = _preset(reader, defaults, presets, preset)
    window = reader.number(chosen, Config.context_window, "context_window_tokens")
    ratio = reader.get(defaults, "consolidation_ratio")
    disabled = reader.get(defaults, "disabled_skills")
    timezone = reader.get(defaults, "timezone")
    block = reader.number(defaults, 0, "context_block_limit")
    channels = reader.table(data, "channels")
    return Config(
        path=str(path),
        model=str(reader.get(chosen, "model") or Config.model),
        max_output=reader.number(chosen, Config.max_output, "max_tokens"),
        context_window=min([window, *_fallback_windows(reader, defaults, presets, window)]),
        block_limit=block or None,
        tool_result_cap=reader.number(defaults, Config.tool_result_cap, "max_tool_result_chars"),
        consolidation_ratio=float(ratio) if _is_number(ratio) else Config.consolidation_ratio,
        max_messages=reader.number(defaults, Config.max_messages, "max_messages"),
        unified_session=reader.get(defaults, "unified_session") is True,
        disabled_skills=tuple(str(name) for name in disabled) if isinstance(disabled, list) else (),
        timezone=timezone if isinstance(timezone, str) else Config.timezone,
        extract_documents=reader.get(channels, "extract_document_text") is not False,
        notices=tuple(reader.notices),
    )


def _document(path: Path) -> dict[str, Json] | None:
    """The document; ``None`` where there is none. nanobot does not start with a broken one.

    Raises:
        InputError: it cannot be read, or is not an object.
    """
    read = read_file(path, limit=_LIMIT)
    if read.problem is not None:
        if read.problem.kind == "missing":
            return None
        raise broken(read.problem.message, Source(str(path)))
    assert read.data is not None
    try:
        data = json.loads(read.data.decode("utf-8"))
    except json.JSONDecodeError as error:
        what = f"column {error.colno}: {error.msg}"
        raise broken(what, Source(str(path), error.lineno)) from error
    except (ValueError, RecursionError) as error:
        raise broken(f"is not JSON: {json_reason(error)}", Source(str(path))) from error
    if not isinstance(data, dict):
        raise broken("must hold an object", Source(str(path)))
    return data


def _preset(
    reader: _Reader, defaults: dict[str, Json], presets: dict[str, Json], pinned: str | None
) -> dict[str, Json]:
    """The table that model, window and output size come from."""
    name = pinned or reader.get(defaults, "model_preset")
    if not name or name == "default":
        return defaults
    chosen = presets.get(str(name))
    if not isinstance(chosen, dict):
        reader.warn(
            "preset", f"model preset {name!r} does not exist: nanobot refuses to start; defaults are used"
        )
        return defaults
    return chosen


def _fallback_windows(
    reader: _Reader, defaults: dict[str, Json], presets: dict[str, Json], window: int
) -> list[int]:
    models = reader.get(defaults, "fallback_models")
    windows: list[int] = []
    for model in models if isinstance(models, list) else []:
        table = presets.get(model) if isinstance(model, str) else model
        if not isinstance(table, dict):
            reader.warn("fallback", f"fallback model {model!r} is not a preset; ignored")
            continue
        default = Config.context_window if isinstance(model, str) else window
        windows.append(reader.number(table, default, "context_window_tokens"))
    if windows and min(windows) < window:
        least = min(windows)
        message = (
            f"a fallback model has a window of {least:,} tokens: nanobot budgets every request for {least:,}"
        )
        reader.warn("fallback-window", message)
    return windows
