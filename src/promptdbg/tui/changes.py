"""Every change of settings that a key can ask for, with the words that undo has for it.

Pure: a change is a function from settings to settings, because by the time its turn comes the
settings may be others than those on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from promptdbg.analysis.presets import KNOB as PRESET
from promptdbg.analysis.presets import preset_value, with_preset
from promptdbg.debug import with_knob
from promptdbg.errors import UsageError
from promptdbg.model import Knob, Message, Section, Settings, Value
from promptdbg.text import one_line
from promptdbg.tui.picture import Picture

Label = str | Callable[[Settings], str]
"""What undo will call a change: words, or words made from the settings it led to."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of settings.

    Attributes:
        key: what it is about; changes about the same thing fold into one while they wait.
        turning: one of many small steps (a knob, a turn), joined for undo.
        said: what stands before the label when it is said that it was done.
    """

    key: str
    label: Label
    change: Callable[[Settings], Settings]
    turning: bool = False
    said: str = ""


def switched(picture: Picture | None, item: str) -> Change:
    """An item switched off, or on again."""
    section = picture.sections.get(item) if picture else None
    name = section.name if section else item
    above = _above(picture, section)

    def change(settings: Settings) -> Settings:
        within = next((parent for parent in above if parent.id in settings.off), None)
        if within is not None and item not in settings.off:
            raise UsageError(f"{one_line(name)} is off with {one_line(within.name)}: switch that on again")
        return settings.toggled(item)

    def label(settings: Settings) -> str:
        if item in settings.off:
            return f"{name} off"
        within = next((parent for parent in above if parent.id in settings.off), None)
        return f"{name} on" if within is None else f"{name} on, but still off with {within.name}"

    return Change(f"toggle:{item}", label, change)


def _above(picture: Picture | None, section: Section | None) -> list[Section]:
    """What a section is part of, the nearest first."""
    found: list[Section] = []
    while picture is not None and section is not None and section.parent is not None:
        section = picture.sections.get(section.parent)
        if section is None or section in found:
            break
        found.append(section)
    return found


def with_text(section: Section, text: str) -> Change:
    """A section with another text."""
    return Change(
        f"text:{section.id}",
        f"{section.name} with another text",
        lambda settings: settings.with_text(section.id, text),
    )


def raised(section: Section, start: float, steps: int) -> Change:
    """A section's priority some steps higher than it is by then; ``start`` where none was set."""
    item = section.id

    def change(settings: Settings) -> Settings:
        return settings.with_priority(item, settings.priorities.get(item, start) + steps)

    def label(settings: Settings) -> str:
        return f"{section.name} priority {settings.priorities.get(item, start):g}"

    return Change(f"priority:{item}", label, change, turning=True)


def no_priority(picture: Picture, section: Section) -> str:
    """Why the priority of a section cannot be raised."""
    if picture.has_priorities:
        return f"{one_line(section.name)} has no priority"
    return f"{picture.assembly.engine.title} has no priorities: it takes sections in its order"


def cap_of(picture: Picture, thing: Section | Message) -> Knob | None:
    """The knob that says how large each item of this kind may be."""
    kind = thing.kind if isinstance(thing, Section) else f"message:{thing.role}"
    return next((knob for knob in picture.knobs if kind in knob.caps), None)


# ---- turns --------------------------------------------------------------------------------------


RECORDED = "this is a recording: changes can be tried in the workspace itself only"
"""Why a recording cannot be changed."""

NO_TURNS = "there are no turns: no session with user messages is open"


def turn_name(turn: int | None, turns: int) -> str:
    """``turn 2 of 5``, or ``next turn (6)``: the one that is not stored yet."""
    return f"turn {turn} of {turns}" if turn else f"next turn ({turns + 1})"


def turned(turns: int, step: int) -> Change:
    """Some turns on, not before the first and not behind the one to come."""

    def turn(now: int | None) -> int | None:
        place = (turns + 1 if now is None else now) + step
        return None if place > turns else max(place, 1)

    return Change(
        "turn",
        lambda settings: turn_name(settings.turn, turns),
        lambda settings: settings.with_turn(turn(settings.turn)),
        turning=True,
    )


def turn_chosen(turn: int | None) -> Change:
    """One turn, by its number."""
    label = f"turn {turn}" if turn else "the turn to come"
    return Change("turn", label, lambda settings: settings.with_turn(turn))


# ---- knobs --------------------------------------------------------------------------------------


def knob_set(knob: Knob, value: Value, *, turning: bool = False) -> Change:
    """A knob with a value."""
    return _knob_change(knob, lambda settings: with_knob(settings, knob, value), turning=turning)


def knob_stepped(knob: Knob, steps: int, limit: int | None) -> Change:
    """A knob some steps from where it is by then; a number without a value starts at ``limit``."""

    def step(settings: Settings) -> Settings:
        value = settings.values.get(knob.name, knob.default)
        if value is None and knob.kind == "number":
            value = limit if limit is not None else knob.minimum or 0
        return with_knob(settings, knob, stepped(knob, value, steps))

    return _knob_change(knob, step, turning=knob.kind == "number")


def knob_moved(knob: Knob, value: Value, limit: int | None, by: int) -> Change:
    """A number moved by an amount within its range, as the mouse drags it."""
    start = value if isinstance(value, (int, float)) else limit or 0
    wanted = int(start) + by
    low = int(knob.minimum) if knob.minimum is not None else 0
    high = int(knob.maximum) if knob.maximum is not None else wanted
    return knob_set(knob, max(low, min(wanted, high)), turning=True)


OWN_MODEL = "the workspace's own"
"""What is said instead of a model's name where no preset is in force."""


def preset_chosen(knobs: Sequence[Knob], name: str | None) -> Change:
    """The window and the answer's reserve of a model; without a name the workspace's own."""
    label = f"{PRESET.title}: {name or OWN_MODEL}"
    return Change("preset", label, lambda settings: with_preset(knobs, settings, name))


def preset_stepped(knobs: Sequence[Knob], steps: int) -> Change:
    """The figures of the model some steps on from the one whose figures there are by then."""

    def change(settings: Settings) -> Settings:
        name = stepped(PRESET, preset_value(knobs, settings), steps)
        return with_preset(knobs, settings, name if isinstance(name, str) else None)

    def label(settings: Settings) -> str:
        return f"{PRESET.title}: {preset_value(knobs, settings) or OWN_MODEL}"

    return Change("preset", label, change, turning=True)


def _knob_change(knob: Knob, change: Callable[[Settings], Settings], *, turning: bool) -> Change:
    def label(settings: Settings) -> str:
        return f"{knob.title}: {value_text(settings.values.get(knob.name, knob.default))}"

    return Change(f"knob:{knob.name}", label, change, turning)


def value_text(value: Value) -> str:
    """A knob's value for a person."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, str):
        return one_line(value) or '""'
    return f"{value:,}"


def stepped(knob: Knob, value: Value, steps: int) -> Value:
    """The value some steps on: numbers by the knob's step within its range, choices in their order."""
    match knob.kind:
        case "toggle":
            return not value
        case "choice":
            choices: list[Value] = [*([None] if knob.optional else []), *knob.choices]
            place = choices.index(value) if value in choices else 0
            return choices[(place + (1 if steps > 0 else -1)) % len(choices)]
        case "number":
            start = value if isinstance(value, (int, float)) else knob.default
            number = start if isinstance(start, (int, float)) else (knob.minimum or 0)
            wanted = number + steps * knob.step
            if knob.minimum is not None:
                wanted = max(wanted, knob.minimum)
            if knob.maximum is not None:
                wanted = min(wanted, knob.maximum)
            return int(wanted) if float(wanted).is_integer() else round(wanted, 6)
        case _:
            return value
