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

# The assembly's stages that are not steps of nanobot's governance, and the reports they match.
_RESTORED, _HISTORY, _BEFORE = "restore", "history", "earlier_requests"


def compare(assembly: Assembly, answer: Answer) -> tuple[StageReport, ...]:
    """Every stage that the real framework reached, the numbers, and how it ended."""
    reports = [_failures(assembly, answer)]
    real = dict(_real_stages(answer))
    steps = (stage for stage in assembly.stages if stage.kind is not StageKind.FINAL)
    ours = {stage.name.removesuffix("(force)"): stage for stage in steps}
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
    stored, restored, history = answer["stored"], answer["restored"], answer["history"]
    if stored is not None:
        yield "session", stored
    if restored is not None and restored["messages"] != stored["messages"]:
        yield _RESTORED, restored
    if history is not None:
        yield _HISTORY, {"messages": history}
    before = answer["initial"]
    if before is None:
        return
    yield "initial", before
    given = answer["given"]
    # A request that failed before it was sent is not counted, but its steps are what was noted.
    if answer["requests"] > 1 or (given is not None and given["messages"] != before["messages"]):
        if given is None:
            return
        before = given
        yield _BEFORE, before
    for step in answer["steps"]:
        before = step if step["changed"] else before
        yield step["name"], before


def _failures(assembly: Assembly, answer: Answer) -> StageReport:
    """How both ended. An assembly writes ``Class: message``, without nanobot's own words before it."""
    failure, real = assembly.failure, answer["failure"]
    told = ABSENT if failure is None else f"{failure.error} in {failure.where}"
    raised = ABSENT if real is None else f"{real['type']}: {real['message']} in {real['where']}"
    if failure is None or real is None:
        same = failure is None and real is None
        return StageReport("outcome", None, () if same else (Difference("outcome", told, raised),))
    kind, _, message = failure.error.partition(": ")
    same = kind == real["type"] and real["message"].endswith(message)
    same = same and _place(failure.where) == _place(real["where"])
    return StageReport("outcome", None, () if same else (Difference("outcome", told, raised),))


def _place(where: str) -> str:
    """``file::function``, without the line some frames carry."""
    return re.sub(r":\d+(?=::|$)", "", where)


def _one_side(name: str, is_ours: bool) -> StageReport:
    difference = Difference("stage", *(("present", ABSENT) if is_ours else (ABSENT, "present")))
    return StageReport(name, None, (difference,))


def _stage(ours: Stage, real: Mapping[str, Any]) -> StageReport:
    messages = _messages(real)
    stored = ours.kind is StageKind.SESSION or ours.name == _RESTORED
    report = _list(ours.name, [_row(m) if stored else m.to_json() for m in ours.messages], messages, stored)
    numbers = tuple(_numbers(ours, real))
    return StageReport(report.name, report.messages, (*report.differences, *numbers))


def _row(message: Message) -> dict[str, Json]:
    """A stored row: what is sent of it, and the keys that stay behind."""
    return {**message.to_json(), **message.extra}


def _messages(snapshot: Mapping[str, Any]) -> list[Json]:
    found: list[Json] = json.loads(snapshot["messages"])
    return found


def _numbers(ours: Stage, real: Mapping[str, Any]) -> Iterator[Difference]:
    """The estimates, wherever the assembly has them."""
    if ours.size is not None and real.get("size") is not None and ours.size != real["size"]:
        yield Difference("estimate", ours.size, real["size"])
    measured = real.get("measured_by", "")
    if ours.measured_by and measured and ours.measured_by != measured:
        yield Difference("measured by", ours.measured_by, measured)
    sizes = real.get("sizes")
    if sizes is not None and len(sizes) == len(ours.messages):
        yield from _sizes(ours.messages, sizes)


def _sizes(messages: Sequence[Message], sizes: Sequence[int]) -> Iterator[Difference]:
    for number, (message, size) in enumerate(zip(messages, sizes, strict=True)):
        if message.size is not None and message.size != size:
            yield Difference(f"message {number} estimate", message.size, size)


def _list(name: str, ours: Sequence[Json], real: Sequence[Json], stored: bool = False) -> StageReport:
    differences: list[Difference] = []
    if len(ours) != len(real):
        differences.append(Difference("messages", len(ours), len(real)))
    for number in range(max(len(ours), len(real))):
        left = ours[number] if number < len(ours) else ABSENT
        right = real[number] if number < len(real) else ABSENT
        differences.extend(_message(f"message {number}", left, right, stored))
        if len(differences) >= MESSAGE_DIFFERENCES:
            break
    return StageReport(name, len(real), tuple(differences[:MESSAGE_DIFFERENCES]))


def _message(where: str, ours: Json, real: Json, stored: bool) -> Iterator[Difference]:
    """
    Args:
        stored: a row of the session, whose key order the assembly does not keep.
    """
    if not isinstance(ours, dict) or not isinstance(real, dict):
        if ours is ABSENT or real is ABSENT or _text(ours) != _text(real):
            yield Difference(where, ours, real)
        return
    found = False
    for key in dict.fromkeys([*real, *ours]):
        left, right = ours.get(key, ABSENT), real.get(key, ABSENT)
        if key == "role" and not isinstance(right, str) and right is not ABSENT:
            right = "" if right is None else str(right)  # the model's role is always a text
        if left is ABSENT or right is ABSENT or _text(left) != _text(right):
            found = True
            yield Difference(f"{where} {key}", left, right)
    if not found and not stored and list(ours) != list(real):
        yield Difference(f"{where} key order", list(ours), list(real))


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
