"""An assembly beside the real framework's report, value by value.

Two JSON values are the same when they are written the same, key order included: nanobot estimates
tokens of a call by its JSON text, and ``true`` is not ``1``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from promptdbg.model import Assembly, Failure, Json, Message, Stage, StageKind
from promptdbg.verify.report import ABSENT, Difference, StageReport

Answer = Mapping[str, Any]

MESSAGE_DIFFERENCES = 20
"""Differences listed of one stage; a stage that went another way differs in every row."""

# An estimate's origin as nanobot names it, and as the assembly does.
_MEASURES = {"heuristic": "bytes"}


def compare(assembly: Assembly, answer: Answer) -> tuple[StageReport, ...]:
    """Every stage that the real framework reached, the numbers, and how it ended."""
    reports = [_failures(assembly, answer)]
    real = dict(_real_stages(answer))
    ours = {stage.name: stage for stage in assembly.stages if stage.kind is not StageKind.FINAL}
    for name in dict.fromkeys([*real, *ours]):
        if name in real and name in ours:
            reports.append(_stage(ours[name], real[name]))
        elif answer["failure"] is None or name in real:
            reports.append(_one_side(name, name in ours))
    final = assembly.stage(StageKind.FINAL)
    if answer["sent"] is not None and final is not None:
        reports.append(_list("final", [m.to_json() for m in final.messages], _messages(answer["sent"])))
    return tuple(reports)


def real_failure(answer: Answer) -> Failure | None:
    """How the real run ended, if not in a request."""
    failure = answer["failure"]
    if failure is None:
        return None
    return Failure(failure["type"], failure["where"], failure["message"])


def _real_stages(answer: Answer) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and snapshot of each list; a step that changed nothing has the snapshot before it."""
    if answer["stored"] is not None:
        yield "session", answer["stored"]
    before = answer["initial"]
    if before is None:
        return
    yield "initial", before
    if answer["requests"] > 1:
        before = answer["given"]
        yield "in-flight", before
    for step in answer["steps"]:
        before = step if step["changed"] else before
        yield step["name"], before


def _failures(assembly: Assembly, answer: Answer) -> StageReport:
    ours, real = assembly.failure, answer["failure"]
    differences = []
    if (ours is None) != (real is None):
        differences.append(
            Difference(
                "outcome",
                ABSENT if ours is None else f"{ours.error} in {ours.where}: {ours.message}",
                ABSENT if real is None else f"{real['type']} in {real['where']}: {real['message']}",
            )
        )
    elif ours is not None and real is not None:
        if ours.error != real["type"]:
            differences.append(Difference("error", ours.error, real["type"]))
        if _place(ours.where) != _place(real["where"]):
            differences.append(Difference("where", ours.where, real["where"]))
    return StageReport("outcome", None, tuple(differences))


def _place(where: str) -> str:
    """``file::function``, without the line some frames carry."""
    return re.sub(r":\d+(?=::|$)", "", where)


def _one_side(name: str, is_ours: bool) -> StageReport:
    difference = Difference("stage", *(("present", ABSENT) if is_ours else (ABSENT, "present")))
    return StageReport(name, None, (difference,))


def _stage(ours: Stage, real: Mapping[str, Any]) -> StageReport:
    messages = _messages(real)
    report = _list(ours.name, [message.to_json() for message in ours.messages], messages)
    numbers = tuple(_numbers(ours, real))
    return StageReport(report.name, report.messages, (*report.differences, *numbers))


def _messages(snapshot: Mapping[str, Any]) -> list[Json]:
    found: list[Json] = json.loads(snapshot["messages"])
    return found


def _numbers(ours: Stage, real: Mapping[str, Any]) -> Iterator[Difference]:
    """The estimates, wherever the assembly has them."""
    if ours.size is not None and real.get("size") is not None and ours.size != real["size"]:
        yield Difference("estimate", ours.size, real["size"])
    measured = _MEASURES.get(real.get("measured_by", ""), real.get("measured_by", ""))
    if ours.measured_by and measured and ours.measured_by not in (measured, real["measured_by"]):
        yield Difference("measured by", ours.measured_by, measured)
    sizes = real.get("sizes")
    if sizes is not None and len(sizes) == len(ours.messages):
        yield from _sizes(ours.messages, sizes)


def _sizes(messages: Sequence[Message], sizes: Sequence[int]) -> Iterator[Difference]:
    for number, (message, size) in enumerate(zip(messages, sizes, strict=True)):
        if message.size is not None and message.size != size:
            yield Difference(f"message {number} estimate", message.size, size)


def _list(name: str, ours: Sequence[Json], real: Sequence[Json]) -> StageReport:
    differences: list[Difference] = []
    if len(ours) != len(real):
        differences.append(Difference("messages", len(ours), len(real)))
    for number in range(max(len(ours), len(real))):
        left = ours[number] if number < len(ours) else ABSENT
        right = real[number] if number < len(real) else ABSENT
        differences.extend(_message(f"message {number}", left, right))
        if len(differences) >= MESSAGE_DIFFERENCES:
            break
    return StageReport(name, len(real), tuple(differences[:MESSAGE_DIFFERENCES]))


def _message(where: str, ours: Json, real: Json) -> Iterator[Difference]:
    if not isinstance(ours, dict) or not isinstance(real, dict):
        if ours is ABSENT or real is ABSENT or _text(ours) != _text(real):
            yield Difference(where, ours, real)
        return
    found = False
    for key in dict.fromkeys([*real, *ours]):
        left, right = ours.get(key, ABSENT), real.get(key, ABSENT)
        if left is ABSENT or right is ABSENT or _text(left) != _text(right):
            found = True
            yield Difference(f"{where} {key}", left, right)
    if not found and list(ours) != list(real):
        yield Difference(f"{where} key order", list(ours), list(real))


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
