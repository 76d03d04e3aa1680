"""Verifying an assembly of nanobot: the same turn, run by the installed nanobot on a copy."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import which
from types import MappingProxyType
from typing import Any

from promptdbg.debug import Opened
from promptdbg.engines.nanobot.assemble import rebuild
from promptdbg.engines.nanobot.inputs import NanobotInputs
from promptdbg.engines.nanobot.installed import describe, installed_prose
from promptdbg.engines.nanobot.skills import Machine, required
from promptdbg.engines.nanobot.state import Turn
from promptdbg.errors import UsageError
from promptdbg.files.skills import SkillFile, find_skills
from promptdbg.model import Json, Notice, Settings
from promptdbg.tokens import DEFAULT_ENCODING, TokenCounter, tokenizer
from promptdbg.verify.compare import Answer, compare, real_failure
from promptdbg.verify.copying import Copier
from promptdbg.verify.process import Driver, interpreter
from promptdbg.verify.report import Difference, StageReport, VerifyReport
from promptdbg.verify.request import placed, turn_request

ENGINE = "nanobot"

EXACT_VERSIONS = {"0.3.5": "0.3.5", "0.2.2": "0.2.2"}
"""Release -> the dialect read from it; others are compared with the dialect they are nearest to."""


def verify(
    opened: Opened, settings: Settings, python: Path | None = None, counter: TokenCounter | None = None
) -> VerifyReport:
    """Run the real framework on the same files and settings and compare every list and number.

    It runs in a process of its own, on a copy in a temporary folder, without network, without keys
    and without a model: up to the request that it would send. Nothing of the original is changed.
    The dialect is the installed program's, whatever the settings say.

    Args:
        python: an interpreter that has nanobot installed; ours when ``None``.

    Raises:
        UsageError: not nanobot's engine, a what-if that nanobot cannot be told, or no interpreter.
        InputError: the interpreter, or the nanobot there, cannot be used; too much to copy.
    """
    if opened.recorded:
        raise UsageError(
            "this is a recording: there is no workspace to run nanobot on", hint="open the workspace itself"
        )
    if opened.engine.name != ENGINE:
        raise UsageError(
            f"verify runs nanobot only, and this workspace is read as {opened.engine.name}",
            hint="--engine nanobot if it is one",
        )
    _refuse_what_ifs(settings)
    found = interpreter(python)
    with tempfile.TemporaryDirectory(prefix="promptdbg-verify-") as folder:
        root = Path(folder).resolve()
        with Driver(found, root) as driver:
            return verified(opened, settings, driver, root, counter)


def verified(
    opened: Opened, settings: Settings, driver: Driver, root: Path, counter: TokenCounter | None = None
) -> VerifyReport:
    """``verify`` with a child that is running; ``root`` is an empty folder that it may change."""
    turn = rebuilt(opened, settings, driver.greeting, counter or tokenizer(DEFAULT_ENCODING))
    if settings.turn is not None and turn.loaded.crash is not None:
        raise UsageError(
            "nanobot fails on this session as it is stored, so no earlier turn of it can be run",
            hint="verify without --turn",
        )
    copier = Copier()
    request = turn_request(turn, opened.workspace.options, root)
    answer = driver.ask({**request, **placed(turn, root, copier)})
    return report(turn, answer, driver, tuple(copier.notices))


def rebuilt(opened: Opened, settings: Settings, greeting: Mapping[str, Any], counter: TokenCounter) -> Turn:
    """Our turn, in the dialect and the words of the program that the greeting is from."""
    assert isinstance(opened.inputs, NanobotInputs)
    inputs = _as_installed(opened.inputs, opened.workspace.options, greeting)
    return rebuild(inputs, settings.with_value("dialect", greeting["dialect"]), counter)


def report(turn: Turn, answer: Answer, driver: Driver, notices: tuple[Notice, ...] = ()) -> VerifyReport:
    """Our turn beside the answer of the real one."""
    assert turn.assembly is not None
    return VerifyReport(
        framework=ENGINE,
        version=driver.greeting["version"],
        python=str(driver.python),
        stages=(*compare(turn.assembly, answer), *_probe(turn, answer)),
        failure_ours=turn.assembly.failure,
        failure_real=real_failure(answer),
        notices=(*_notices(turn, answer, driver), *notices),
    )


def _probe(turn: Turn, answer: Answer) -> Iterator[StageReport]:
    """The estimate that decides whether older messages are archived before the turn."""
    consolidated = turn.consolidated
    if consolidated is None or answer["probe"] is None:
        return
    if any(part.overflow for part in consolidated.rounds):
        return  # 0.2.2 measures only after that, so the two are not of the same moment
    probe = consolidated.probe
    ours, real = [probe.tokens, probe.source], list(answer["probe"])
    differences = () if ours == real else (Difference("estimate", ours, real),)
    yield StageReport("consolidation probe", None, differences)


def _refuse_what_ifs(settings: Settings) -> None:
    """Raises UsageError for settings that have no counterpart in the real program."""
    if settings.off or settings.texts or settings.priorities:
        raise UsageError(
            "switched-off items and edited texts exist only here, so nothing real can be compared with them",
            hint="verify without --off and without a scenario that has them",
        )
    for knob, value in (("compaction", False), ("consolidation", "off")):
        if settings.values.get(knob) == value:
            raise UsageError(
                f"{knob} cannot be switched off in the real program", hint=f"verify without {knob}"
            )


def _as_installed(
    inputs: NanobotInputs, manifest: Mapping[str, Json], greeting: Mapping[str, Any]
) -> NanobotInputs:
    """The inputs with what belongs to an installation taken from this one: its passages, its bundled
    skills, and the Python it names in the prompt."""
    installed = describe(Path(greeting["package"]))
    changed: dict[str, Any] = {
        "prose": MappingProxyType({**inputs.prose, installed.dialect: installed_prose(installed)}),
        "runtime": greeting["runtime"],
        "system": greeting["system"],
    }
    if manifest.get("builtin_skills") != "off":
        skills = find_skills(installed.path / "skills")
        changed.update(builtin_skills=skills, builtin_root=str(installed.path / "skills"))
        changed["machine"] = _machine(inputs, manifest, skills)
    return replace(inputs, **changed)


def _machine(inputs: NanobotInputs, manifest: Mapping[str, Json], skills: tuple[SkillFile, ...]) -> Machine:
    """What of the machine all skills need, now that bundled ones were added."""
    bins, env = manifest.get("bins"), manifest.get("env")
    programs, variables = set(inputs.machine.programs), set(inputs.machine.variables)
    given = env if isinstance(env, dict) else os.environ
    for skill in skills:
        wanted, needed = required(skill.file.text or "")
        programs.update(name for name in wanted if (name in bins if isinstance(bins, list) else which(name)))
        variables.update(name for name in needed if given.get(name))
    return Machine(frozenset(programs), frozenset(variables))


def _notices(turn: Turn, answer: Answer, driver: Driver) -> Iterator[Notice]:
    version, dialect = driver.greeting["version"], driver.greeting["dialect"]
    if EXACT_VERSIONS.get(version) != dialect:
        yield Notice("verify.version", f"nanobot {version} is compared with the rules of {dialect}")
    consolidated = turn.consolidated
    if turn.options.consolidation == "predict" and consolidated is not None and consolidated.wanted:
        yield Notice(
            "verify.consolidation",
            "this prompt would make nanobot archive messages first, which needs a model: left out on both "
            "sides (set consolidation to succeeds or fails to compare what follows)",
        )
    if answer["handled"] is not None and answer["sent"] is None:
        yield Notice("verify.command", "nanobot answers this message itself; nothing is sent to a model")
