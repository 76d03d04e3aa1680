"""Changes of settings as a person would say them: "raise the context window to 743 tokens (43 more)".

Each phrase follows "you" or "to". Names come from disk and are made safe here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from promptdbg.model import Knob, Source, Value
from promptdbg.paths import is_windows
from promptdbg.text import one_line, plural

_ROLES = {"tool": "tool result", "user": "user message", "system": "system message"}


def the(knob: Knob) -> str:
    """A knob in a sentence: ``the prompt budget``; a title that begins with an abbreviation keeps it."""
    title = one_line(knob.title)
    plain = title[1:2].islower() or len(title) < 2
    return f"the {title[:1].lower() if plain else title[:1]}{title[1:]}"


def turned(knob: Knob, now: float, value: float) -> str:
    """A number set to another."""
    verb = "raise" if value > now else "lower"
    if value == 0 and knob.zero:
        return f"set {the(knob)} to 0 ({knob.zero})"
    unit = "" if not knob.unit_word else " " + (knob.unit_word[:-1] if value == 1 else knob.unit_word)
    # What a fraction differs by is no more exact than the fraction itself.
    gap = _figure(round(abs(value - now), 6))
    return f"{verb} {the(knob)} to {_figure(value)}{unit} ({gap} {'more' if value > now else 'less'})"


def _figure(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,}"


def chosen(knob: Knob, value: Value) -> str:
    """A toggle switched, or another choice taken."""
    if knob.kind == "toggle":
        return f"switch {the(knob)} {'on' if value else 'off'}"
    return f"set {the(knob)} to {one_line(str(value))}"


def message_name(role: str, item: str, source: Source | None = None) -> str:
    """A message by what it is, and where it stands: ``tool result m19 at session.jsonl:21``."""
    name = f"{_ROLES.get(role, role)} {item}" if role != item else f"{role} message"
    place = f" at {Source(_file(source.path), source.start_line)}" if source else ""
    return one_line(name + place)


def _file(path: str) -> str:
    return (PureWindowsPath if is_windows(path) else PurePosixPath)(path).name


def switched_off(names: Sequence[str], tokens: int) -> str:
    """Items switched off, with what that frees."""
    freed = f"{tokens:,} {'token' if tokens == 1 else 'tokens'}"
    *most, last = [one_line(name) for name in names]
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"switch off {listed} ({freed})"


def ranked(name: str, now: float, priority: float) -> str:
    """An item given another priority."""
    verb = "raise" if priority > now else "lower"
    return f"{verb} the priority of {one_line(name)} to {priority:g} (now {now:g})"


def shortened(name: str, kept: int, lines: int, saved: int) -> str:
    """A text of which only the beginning stays."""
    first = "the first" if kept == 1 else f"the first {kept:,}"
    return f"keep only {first} of {lines:,} lines of {one_line(name)} ({plural(saved, 'token')} less)"
