"""What a prompt can be compared with: the files, a scenario, a turn, a prompt elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from promptdbg.debug import Debugger
from promptdbg.export.opening import prompt_at
from promptdbg.model import Assembly, Settings
from promptdbg.text import clip, one_line
from promptdbg.tui.picture import Picture


@dataclass(frozen=True, slots=True)
class Other:
    """One of them. ``name`` is a scenario's name or a path, ``turn`` a turn's number (``None``: the one
    to come)."""

    kind: Literal["files", "scenario", "turn", "place"]
    name: str = ""
    turn: int | None = None

    @property
    def title(self) -> str:
        """What it is called."""
        match self.kind:
            case "files":
                return "the files"
            case "scenario":
                return f"scenario {one_line(self.name)}"
            case "turn":
                return f"turn {self.turn}" if self.turn else "the turn to come"
            case _:
                return one_line(self.name)


FILES = Other("files")
"""The one that is always there: the workspace as it is on disk."""


def others_of(picture: Picture, places: tuple[str, ...]) -> list[Other]:
    """Everything there is to compare a picture with, in the order it is offered.

    Args:
        places: paths that were typed before.
    """
    return [
        FILES,
        *(Other("scenario", name) for name in picture.scenarios),
        *(Other("place", place) for place in places),
        *_turns(picture.assembly),
    ]


def _turns(assembly: Assembly) -> Iterator[Other]:
    """The latest first: it is what one mostly wants."""
    for turn in (None, *(turn.number for turn in reversed(assembly.turns))):
        if turn != assembly.turn and assembly.turns:
            yield Other("turn", turn=turn)


def about(other: Other, picture: Picture) -> str:
    """A word about one, for the list to choose from."""
    match other.kind:
        case "files":
            return "as they are on disk, without your changes"
        case "scenario":
            return "of promptdbg.toml"
        case "turn":
            turns, place = picture.assembly.turns, (other.turn or 0) - 1  # they are numbered from 1
            return clip(one_line(turns[place].title), 60) if 0 <= place < len(turns) else ""
        case _:
            return "a prompt elsewhere"


def settings_of(other: Other, debugger: Debugger, current: Settings) -> Settings | None:
    """The settings that make it of the files that are open; ``None`` for a prompt elsewhere."""
    match other.kind:
        case "files":
            return replace(debugger.base, turn=current.turn)
        case "scenario":
            return replace(debugger.opened.scenario(other.name), turn=current.turn)
        case "turn":
            return current.with_turn(other.turn)
        case _:
            return None


def assembly_of(other: Other, debugger: Debugger, current: Assembly) -> Assembly:
    """The prompt to compare with; called in a thread.

    Raises:
        PromptdbgError: it cannot be made.
    """
    settings = settings_of(other, debugger, current.settings)
    if settings is None:
        return prompt_at(other.name, debugger, current)
    return current if settings == current.settings else debugger.preview(settings)
