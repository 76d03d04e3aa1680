"""Message lists made by hand, and long ones, for the tests and the benchmarks."""

from __future__ import annotations

from dataclasses import replace

from promptdbg.model import Message, Stage, StageKind


def message(name: str, text: str = "", *sources: str, role: str = "user") -> Message:
    return Message(id=name, role=role, content=text, tokens=len(text), sources=sources or (name,))


def stage(name: str, messages: list[Message], kind: StageKind = StageKind.STEP) -> Stage:
    return Stage(name, kind, name.upper(), tuple(messages), tokens=sum(m.tokens for m in messages))


def long_session(count: int) -> list[Stage]:
    """The three lists of so many messages: one of seven is lost at the end, one of ten rewritten."""
    rows = [message(f"m{i}", f"text {i}") for i in range(count)]
    final = [replace(m, content="cut") if i % 10 == 0 else m for i, m in enumerate(rows) if i % 7]
    system = message("system", "be good", role="system")
    return [
        stage("session", rows, StageKind.SESSION),
        stage("initial", [system, *rows], StageKind.INITIAL),
        stage("final", [system, *final], StageKind.FINAL),
    ]
