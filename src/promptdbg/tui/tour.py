"""The guided tour: what each step says, and how it is known that the person did it. Pure.

The tour never presses a key and no screen knows of it: it looks at what is in front of the person
and goes on when that is what the step asked for. So it can be taken on any workspace, steps that
mean nothing there are left out, and doing something else is never wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from promptdbg.text import one_line, plural
from promptdbg.tui.config import Config
from promptdbg.tui.keys import KEYS, Place
from promptdbg.tui.picture import Picture
from promptdbg.tui.wrapping import Piece


@dataclass(frozen=True, slots=True)
class Seen:
    """What the person has in front of them: the screen, its picture, the item under the cursor.

    ``offered`` is how many changes the report on an item offers to try, ``None`` while they are
    looked for. ``narrowed`` is whether the list shows only some of its rows.
    """

    place: Place
    picture: Picture
    item: str | None = None
    offered: int | None = None
    narrowed: bool = False


Words = Callable[[Seen], str]
"""What a step says; ``{app.undo}`` stands for the key of that id."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do. ``done`` gets what was seen when the step began, and what is seen now."""

    name: str
    words: Words
    done: Callable[[Seen, Seen], bool]
    applies: Callable[[Picture], bool] = lambda picture: True


@dataclass(frozen=True, slots=True)
class Tour:
    """A tour under way: its steps, the place in them, and what was seen when this step began."""

    steps: tuple[Step, ...]
    place: int
    began: Seen

    @property
    def step(self) -> Step:
        return self.steps[self.place]

    @property
    def at_end(self) -> bool:
        return self.place == len(self.steps) - 1


def begin(now: Seen) -> Tour:
    """A tour of what is open, with the steps that mean something there."""
    lost = _MESSAGES + _TRYING if now.picture.messages_lost else _SECTION + _TRYING + _MESSAGES
    steps = (*_FIRST, *lost, *_LAST)
    return Tour(tuple(step for step in steps if step.applies(now.picture)), 0, now)


def looked(tour: Tour, now: Seen) -> Tour:
    """The tour after a look at the screen: at the first step that is still to be done."""
    while not tour.at_end and tour.step.done(tour.began, now):
        tour = skipped(tour, now)
    return tour


def skipped(tour: Tour, now: Seen) -> Tour:
    """The tour at its next step, done or not; the last one stays."""
    return tour if tour.at_end else replace(tour, place=tour.place + 1, began=now)


_KEY = re.compile(r"\{([a-z0-9.-]+)\}")
_BY_ID = {key.id: key for key in KEYS}


def key_ids(words: str) -> list[str]:
    """The ids of the keys that a step's words name, in order."""
    return _KEY.findall(words)


def pieces(tour: Tour, now: Seen, config: Config) -> list[Piece]:
    """What stands on the screen: how far the tour is, what to do, and how to leave it."""
    made: list[Piece] = [(f"TOUR {tour.place + 1}/{len(tour.steps)}  ", "virtual--accent")]
    words = tour.step.words(now) + _LEAVE[tour.at_end]
    for number, part in enumerate(_KEY.split(words)):
        if number % 2:
            made.append((config.named(_BY_ID[part]).shown.split(" ")[0], "virtual--key"))
        elif part:
            made.append((part, ""))
    return made


_LEAVE = {
    False: " ({app.tour-next} skips, {app.tour} leaves)",
    True: " {app.tour} closes this.",
}


# -- the steps ---------------------------------------------------------------------------------------


def _always(*sentences: str) -> Words:
    """Words that are the same whatever is seen."""
    return lambda now: " ".join(sentences)


def _lost_sections(now: Seen) -> str:
    lost = sum(section.lost for section in now.picture.sections.values())
    whole = plural(len(now.picture.sections), "section")
    return f"{lost:,} of {whole} {_do(lost)} not reach the model whole. {{sections.states}} shows only those."


def _next_change(now: Seen) -> str:
    lost = now.picture.messages_lost
    return (
        f"{plural(lost, 'message')} {_do(lost)} not reach the model as stored. "
        "{columns.next} goes from change to change, until the row is one of them."
    )


def _do(count: int) -> str:
    return "does" if count == 1 else "do"


def _why_section(now: Seen) -> str:
    if now.item is not None and now.item in now.picture.lost:
        return "{item.why} says why this one was lost, in full."
    return "Go to a row that is CUT or DROP; {item.why} says why, in full."


def _fix(now: Seen) -> str:
    if now.offered is None:
        return "Now the smallest changes that would keep it are looked for, by trying them …"
    if not now.offered:
        return "No single change would keep this one. {why.back} goes back."
    return (
        "The smallest changes that would keep it have numbers ({why.fix}): press 1 to try the first. "
        "No file is changed."
    )


def _undo(now: Seen) -> str:
    label = now.picture.undo
    what = f" ({one_line(label)})" if label else ""
    return f"Every change can be taken back{what}: {{app.undo}}."


def _budget(now: Seen) -> str:
    if now.place != "home":
        return "The budget can be turned live. First back to the sections: {home.back}."
    number = tight(now.picture)
    typed = f", or type {number} and {{ask.done}}" if number else ""
    return f"The budget is turned live: {{home.budget}}, then {{budget.less}} or {{budget.more}}{typed}."


def tight(picture: Picture) -> int | None:
    """A value of the budget that leaves too little room, rounded: where the window is large and little of
    it used, a step changes nothing. ``None`` where the knob is no amount of what the budget is in."""
    knob, budget = picture.budget_knob, picture.assembly.budget
    if knob is None or knob.unit != budget.unit:
        return None
    value = picture.knob_value(knob)
    start = value if isinstance(value, (int, float)) else budget.limit or 0
    wanted = int(start - (budget.limit or 0) + budget.used * 9 / 10)
    rough = 10 ** max(len(str(wanted)) - 2, 0)
    return wanted // rough * rough or None


def _has_lost_sections(picture: Picture) -> bool:
    return any(section.lost for section in picture.sections.values())


def _has_messages(picture: Picture) -> bool:
    return any(stage.messages for stage in picture.assembly.stages)


def _has_lost_messages(picture: Picture) -> bool:
    return picture.messages_lost > 0


def _has_losses(picture: Picture) -> bool:
    return bool(picture.lost)


def _changed(began: Seen, now: Seen) -> bool:
    return now.picture.assembly.settings != began.picture.assembly.settings


_FIRST = (
    Step(
        "sections",
        _always(
            "Each row is a part of the prompt: KEEP is whole, CUT shortened, DROP left out. The reason",
            "stands beside the list or under it. {list.down} goes to the next row.",
        ),
        lambda began, now: now.item != began.item or now.place != "home",
        lambda picture: len(picture.roots) > 1,
    ),
    Step(
        "lost sections",
        _lost_sections,
        lambda began, now: now.narrowed or now.place != "home",
        _has_lost_sections,
    ),
)

_MESSAGES = (
    Step(
        "messages",
        _always(
            "These were the sections. {app.messages} shows the messages: as they are stored, as they were",
            "first assembled, and as they are sent.",
        ),
        lambda began, now: now.place == "messages",
        _has_messages,
    ),
    Step(
        "next change",
        _next_change,
        lambda began, now: now.place == "why" or (now.item != began.item and now.item in now.picture.lost),
        _has_lost_messages,
    ),
    Step(
        "why",
        _always("{item.why} says why: the message's life, the rule, its numbers, and where it was read."),
        lambda began, now: now.place == "why",
        _has_lost_messages,
    ),
)

_SECTION = (
    Step("why of a section", _why_section, lambda began, now: now.place == "why", _has_lost_sections),
)

_TRYING = (
    Step("fix", _fix, lambda began, now: now.place != "why" or _changed(began, now), _has_losses),
    Step(
        "effect",
        _always(
            "The line below says what that did: tokens before and after, what came in, what fell out.",
            "{why.back} goes back to where you were.",
        ),
        lambda began, now: now.place != "why",
        _has_losses,
    ),
    Step(
        "undo",
        _undo,
        lambda began, now: now.picture.undo is None or _changed(began, now),
        _has_losses,
    ),
)

_LAST = (
    Step("budget", _budget, _changed, lambda picture: picture.budget_knob is not None),
    Step(
        "search",
        _always(
            "Where did a sentence go? {app.search} searches everything that was loaded, kept or lost, and",
            "files that were not read at all.",
        ),
        lambda began, now: now.place == "search",
    ),
    Step(
        "searching",
        _always(
            "Type some words and press {ask.done}: each hit says whether the model saw it.",
            "{search.back} goes back.",
        ),
        lambda began, now: now.place != "search",
    ),
    Step(
        "export",
        _always("{app.export} writes the prompt to a file to share, and shows first what it hides."),
        lambda began, now: now.place == "export",
    ),
    Step(
        "end",
        _always(
            "That was it. {app.help} shows the keys of a screen, {app.palette} finds all by name; promptdbg",
            "FOLDER opens a workspace of yours.",
        ),
        lambda began, now: False,
    ),
)
"""The last step is never done."""
