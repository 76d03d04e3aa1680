"""What the turns of a session say to a person, in one plain sentence each. Texts from disk are in them,
so whoever shows them makes them safe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from promptdbg.analysis.life import Run
from promptdbg.analysis.snapshots import Change, ChangeKind, Drawn, Remains
from promptdbg.analysis.states import Presence
from promptdbg.analysis.turns import Facts
from promptdbg.analysis.why import Compared, arithmetic
from promptdbg.model import Evidence

CHANGE_WORDS: dict[ChangeKind, str] = {
    "came": "came in",
    "returned": "came back",
    "whole": "was made whole again",
    "cut": "was cut",
    "left": "left",
    "unsent": "did not come in",
}
"""What a turn did to an item, in the order it is told; a change of no consequence has no word."""

_NAMES = 4
_NUMBERED = re.compile(r"m(\d+)")


def turn_name(turn: int | None) -> str:
    """``turn 7``, or ``the next turn``: the one to come."""
    return "the next turn" if turn is None else f"turn {turn:,}"


def span(first: int, last: int, places: int) -> str:
    """Which turns a run has, by their places of so many: ``turns 1 to 6``, ``from turn 7 on``."""
    end = places - 1
    if (first, last) == (0, end):
        return "in every turn"
    if first == end:
        return "the next turn"
    if last == end:
        return f"from turn {first + 1:,} on"
    return f"turn {first + 1:,}" if first == last else f"turns {first + 1:,} to {last + 1:,}"


def run_reason(run: Run) -> str:
    """What of the item the model gets in a run of turns, and why."""
    state = run.state
    if state is None or state.presence is Presence.ABSENT:
        return ""
    said = []
    if state.presence is Presence.WHOLE:
        said.append(tokens(state.tokens))
    elif state.presence in (Presence.CUT, Presence.REWRITTEN):
        said.append(f"{state.tokens:,} of {tokens(state.original)}")
    elif state.into:
        held = "In its place" if state.presence is Presence.SUMMARISED else "As part of"
        said.append(f"{held} {state.into}")
    said.append(": ".join(filter(None, (state.because.rstrip("."), _over(state)))))
    return " ".join(sentence(text) for text in said if text)


def drawn_line(drawn: Drawn) -> str:
    """A boundary in few words: what left, what stands for it, what stayed."""
    line = f"{drawn.word}: {_messages(len(drawn.items))} ({_sizes(drawn)})"
    if drawn.into:
        line += " → " + ", ".join(f"{remains.name} ({remains.tokens:,})" for remains in drawn.into)
    line += f" · {f'{drawn.survived:,}' if drawn.survived else 'none'} survived verbatim"
    return line + (" · recorded" if drawn.evidence is Evidence.RECORDED else "")


def drawn_sentences(drawn: Drawn, turn: int | None, *, reason: bool = True) -> tuple[str, ...]:
    """A boundary in full: what it took, what stands for it, what stayed, by which rule and numbers, and how
    this is known. ``reason`` is that of the last item; beside an item's own it says nothing new."""
    seen = "" if drawn.seen == len(drawn.items) else f", {drawn.seen:,} of them still sent the turn before"
    took = f"{_messages(len(drawn.items))} ({_named(drawn.items)}){seen}, {_sizes(drawn)}"
    survived = f"{_messages(drawn.survived)} of earlier turns survived verbatim".capitalize()
    if drawn.survived:
        survived += f" ({tokens(drawn.survived_tokens)})"
    said = [
        f"{drawn.word.capitalize()}: {took}",
        _stands(drawn),
        survived,
        reason and ": ".join(filter(None, (drawn.items[-1], drawn.because.rstrip("."), _over(drawn)))),
        *(f"{rule.title} [{rule.id}]" for rule in drawn.rules),
        *_known(drawn, turn),
    ]
    return tuple(sentence(text) for text in said if text)


def _over(compared: Compared) -> str:
    """The arithmetic of a limit that was passed; others are in the reason as far as they matter."""
    measured, limit = compared.measured, compared.limit
    passed = measured is not None and limit is not None and measured > limit
    return arithmetic(compared) if passed else ""


def _stands(drawn: Drawn) -> str:
    if drawn.into:
        return "In their place: " + ", ".join(map(_remains, drawn.into))
    elsewhere = any(rule.boundary is not None and rule.boundary.into for rule in drawn.rules)
    return "" if elsewhere or drawn.left else "Nothing stands for them"


def _known(drawn: Drawn, turn: int | None) -> tuple[str, ...]:
    if drawn.evidence is not Evidence.RECORDED:
        return ("Computed: what this turn itself would do with the session as it is stored",)
    earliest = f"When is not recorded, and {turn_name(turn)} is the earliest it can have been"
    return ("Recorded: the session says that it was done", earliest)


def sentence(text: str) -> str:
    """A text with a full stop at its end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def changes_line(facts: Facts) -> str:
    """How many items came in, were cut and left: ``4 came in, 1 was cut``."""
    if facts.failure:
        return facts.failure
    if facts.changes is None:
        return ""
    counts = Counter(change.kind for change in facts.changes)
    told = [
        f"{counts[kind]:,} {words.replace('was', 'were') if counts[kind] > 1 else words}"
        for kind, words in CHANGE_WORDS.items()
        if counts[kind]
    ]
    return ", ".join(told) if told else "nothing came in or left"


def change_line(change: Change) -> str:
    """What a turn did to one item, with its tokens and the reason."""
    before, after = change.before, change.after
    if change.kind == "other":
        return sentence(f"{change.name}: {before.word}, now {after.word}")
    size = tokens(after.tokens or before.tokens or after.original)
    if change.kind == "cut":
        size = f"{after.tokens:,} of {tokens(after.original)}"
    reason = f": {after.because}" if after.because and change.kind != "came" else ""
    return sentence(f"{change.name} {CHANGE_WORDS[change.kind]}, {size}{reason}")


def tokens(count: int) -> str:
    return f"{count:,} token{'' if count == 1 else 's'}"


def _messages(count: int) -> str:
    return f"{count:,} message{'' if count == 1 else 's'}" if count else "no message"


def _sizes(drawn: Drawn) -> str:
    return f"{drawn.tokens:,} tokens down to {drawn.left:,}" if drawn.left else tokens(drawn.tokens)


def _remains(remains: Remains) -> str:
    return f"{remains.name} ({tokens(remains.tokens)})"


def _named(items: Sequence[str]) -> str:
    """The items by their ids: as a range where they are one."""
    numbers = [_NUMBERED.fullmatch(item) for item in items]
    first, last = numbers[0], numbers[-1]
    if len(items) > 2 and first and last and int(last[1]) - int(first[1]) == len(items) - 1:
        return f"{items[0]} to {items[-1]}"
    shown = ", ".join(items[:_NAMES])
    return shown if len(items) <= _NAMES else f"{shown} and {len(items) - _NAMES:,} more"
