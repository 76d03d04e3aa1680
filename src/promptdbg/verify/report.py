"""What verifying found: every list and number of ours beside the real framework's, as values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from promptdbg.model import Failure, Json, Notice
from promptdbg.text import safe

SCHEMA = "promptdbg/verify/1"

_SHOWN = 240
_BEFORE = 40
"""Code points of a value in a plain line, and of what is shown before the first that differs; the
JSON form has all of it."""


class _Absent:
    """Marks a value that one side does not have at all."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that is not the same. ``where`` is a path such as ``message 3 content``."""

    where: str
    ours: Json
    real: Json


@dataclass(frozen=True, slots=True)
class StageReport:
    """One list or figure, compared. ``messages`` is the length of the real list, ``None`` for a figure."""

    name: str
    messages: int | None
    differences: tuple[Difference, ...] = ()

    @property
    def equal(self) -> bool:
        return not self.differences


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """One assembly beside one run of the real framework on a copy of the same files.

    ``version`` is the installed framework's, ``python`` the interpreter it ran on.
    ``failure_real`` is set where the real framework raised: then the stages end there, and being
    equal means that the assembly says so too.
    """

    framework: str
    version: str
    python: str
    stages: tuple[StageReport, ...]
    failure_ours: Failure | None = None
    failure_real: Failure | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether nothing differs, at any stage."""
        return all(stage.equal for stage in self.stages)

    @property
    def differences(self) -> int:
        return sum(len(stage.differences) for stage in self.stages)


def lines(report: VerifyReport) -> Iterator[str]:
    """The report as plain text, safe for a terminal."""
    yield f"{report.framework} {report.version} on {safe(report.python)}"
    for stage in report.stages:
        count = "" if stage.messages is None else f"  {_count(stage.messages, 'message')}"
        mark = "same     " if stage.equal else "DIFFERENT"
        yield f"{mark}  {stage.name}{count}"
        for difference in stage.differences:
            yield f"    {safe(difference.where)}"
            start = _first_difference(difference.ours, difference.real)
            yield f"      ours: {_short(difference.ours, start)}"
            yield f"      real: {_short(difference.real, start)}"
    if report.failure_real is not None:
        failure = report.failure_real
        yield safe(f"the real framework raises {failure.error} in {failure.where}: {failure.message}")
    for notice in report.notices:
        yield safe(f"note: {notice.source}: {notice.message}" if notice.source else f"note: {notice.message}")
    if report.equal:
        yield f"no difference in {_count(len(report.stages), 'comparison')}"
    else:
        yield _count(report.differences, "difference")


def to_json(report: VerifyReport) -> dict[str, Json]:
    """The report as the document of ``promptdbg verify --json``."""
    return {
        "schema": SCHEMA,
        "framework": {"name": report.framework, "version": report.version, "python": report.python},
        "equal": report.equal,
        "stages": [
            {
                "name": stage.name,
                "equal": stage.equal,
                "messages": stage.messages,
                "differences": [_difference(difference) for difference in stage.differences],
            }
            for stage in report.stages
        ],
        "failure": {"ours": _failure(report.failure_ours), "real": _failure(report.failure_real)},
        "notices": [
            {"code": n.code, "message": n.message, "source": str(n.source) if n.source else None}
            for n in report.notices
        ],
    }


def _difference(difference: Difference) -> dict[str, Json]:
    document: dict[str, Json] = {"where": difference.where}
    # A side that has no such value has no such key: null is a value.
    if difference.ours is not ABSENT:
        document["ours"] = difference.ours
    if difference.real is not ABSENT:
        document["real"] = difference.real
    return document


def _failure(failure: Failure | None) -> Json:
    if failure is None:
        return None
    return {"error": failure.error, "where": failure.where, "message": failure.message}


def _first_difference(ours: Json, real: Json) -> int:
    """Where two texts part, a few characters before it; 0 for anything but two texts."""
    if not isinstance(ours, str) or not isinstance(real, str):
        return 0
    pairs = enumerate(zip(ours, real, strict=False))
    same = next((at for at, (left, right) in pairs if left != right), min(len(ours), len(real)))
    return max(0, same - _BEFORE)


def _short(value: Json, start: int = 0) -> str:
    if value is ABSENT:
        return "(absent)"
    text = json.dumps(value[start:] if start else value, ensure_ascii=False)
    shown = safe(text if len(text) <= _SHOWN else text[:_SHOWN] + "…", lines=False)
    at = f"from character {start:,}: " if start else ""
    return f"{at}{shown}" if len(text) <= _SHOWN else f"{at}{shown} ({len(text):,} characters)"


def _count(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"
