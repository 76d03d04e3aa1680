"""The cells of the Messages screen as lines of styled text. Pure.

A closed cell is a head line and the beginning of its text; an open one has the decisions behind it
and its full text; in ``words`` it shows what differs from the column to the left. Everything that
came from a file is made safe here.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from promptdbg.analysis.alignment import CHANGES, Cell, CellKind
from promptdbg.analysis.blocks import block_label, blocks, full_text, preview, title
from promptdbg.analysis.diff import pieces as diff_pieces
from promptdbg.analysis.diff import word_diff
from promptdbg.analysis.why import arithmetic
from promptdbg.model import Action, Decision, Message, Rule
from promptdbg.text import clip, one_line, plural, safe, width
from promptdbg.tui.sentences import signed
from promptdbg.tui.wrapping import Piece, facts, layout, line_text, say, wrap

Line: TypeAlias = Sequence[Piece]
Mode: TypeAlias = Literal["closed", "full", "open", "words"]
"""How much of a cell is shown: its beginning, its text, text and reasons, or its difference."""

BODY_LINES = 2
"""Lines of text of a closed cell."""

_QUIET = frozenset({Action.NOTE, Action.PREDICT, Action.KEEP})
_ENDS_SHOWN = 160
"""Code points of a long stretch that a word difference shows at either end."""

STYLES: Mapping[CellKind, str] = {
    CellKind.LISTED: "",
    CellKind.SAME: "virtual--muted",
    CellKind.REWRITTEN: "status--cut",
    CellKind.MERGED: "status--cut",
    CellKind.INSERTED: "status--add",
    CellKind.MOVED: "status--add",
    CellKind.DROPPED: "status--drop",
    CellKind.ELSEWHERE: "status--drop",
    CellKind.GONE: "status--drop",
    CellKind.ABSENT: "",
}


SIGN_MEANINGS = (
    (CellKind.SAME, "", "the same as in the column to the left"),
    (CellKind.INSERTED, "ADD", "only from here on"),
    (CellKind.REWRITTEN, "CUT", "shortened; EDIT changed, REPAIR mended"),
    (CellKind.MERGED, "MERGE", "holds the text of several messages"),
    (CellKind.DROPPED, "DROP", "gone from here on; OFF you switched it off; MOVE elsewhere"),
)
"""For the help: a kind of cell, its word, and what it means."""


class CellLines:
    """The lines of one cell: some made beforehand, then texts that are cut when drawn."""

    def __init__(self, made: Sequence[Line], texts: Sequence[tuple[str, array[int]]] = ()) -> None:
        self._made = made
        self._texts = texts
        self._ends = array("q", [len(made)])
        for _, starts in texts:
            self._ends.append(self._ends[-1] + len(starts) - 1)

    @property
    def count(self) -> int:
        return self._ends[-1]

    def line(self, number: int) -> Line:
        """One line; none beyond the last."""
        if number < len(self._made):
            return self._made[number]
        if number >= self.count:
            return ()
        part = bisect_right(self._ends, number) - 1
        text, starts = self._texts[part]
        return [(" ", ""), (line_text(text, starts, number - self._ends[part]), "")]


def cell_lines(
    cell: Cell, cells: int, mode: Mode, rules: Mapping[str, Rule], *, first: bool, hint: str = ""
) -> CellLines:
    """A cell as lines of at most ``cells`` terminal cells.

    Args:
        rules: the catalogue, for the reasons of an open cell.
        first: it is the leftmost in sight, and shows its text even where nothing changed.
        hint: what happens in a column out of sight.
    """
    head = head_line(cell, cells, first, hint)
    room = cells - 2
    if mode == "words" and cell.kind in CHANGES and cell.message is not None and cell.before is not None:
        return CellLines([head, *_difference(cell.before, cell.message, room)])
    if mode in ("open", "words"):
        return CellLines([head, *_why(cell, room, rules)], _texts(cell, room, first))
    if mode == "full":
        return CellLines([head, *_reason(cell, room)], _texts(cell, room, first))
    return CellLines([head, *_body(cell, room, first)])


def head_line(cell: Cell, cells: int, first: bool, hint: str = "") -> Line:
    """What a cell is: sign, role and tool, what happened to it, tokens at the right."""
    style = STYLES[cell.kind]
    room = cells - 2
    if cell.kind is CellKind.ABSENT or (cell.kind is CellKind.SAME and not first):
        return [(cell.sign, style), (clip(f" {hint}", room) if hint else "", "status--cut")]
    if cell.message is None:
        text = cell.word
        if cell.other is not None:
            text += f" into {cell.other + 1:,}" if cell.word == "MERGE" else f" to {cell.other + 1:,}"
        if first and cell.before is not None:  # what it was stands in a column out of sight
            text += f" {safe(title(cell.before), lines=False)}"
        cost = f"−{cell.before.tokens:,}" if cell.kind is CellKind.DROPPED and cell.before else ""
        return [(cell.sign, style), *_spread(text, style, "", "", cost, room)]
    word, word_style = (cell.word, style) if cell.word else (hint, "status--cut")
    if cell.kind is CellKind.MOVED and cell.other is not None:
        word += f" from {cell.other + 1:,}"
    name = safe(title(cell.message), lines=False)
    return [
        (cell.sign, style),
        *_spread(name, "virtual--strong", word, word_style, f"{cell.message.tokens:,}", room),
    ]


def _spread(left: str, left_style: str, word: str, word_style: str, right: str, room: int) -> Line:
    """A name at the left, a word and a figure at the right; the name gives way."""
    tail = f"{right:>7}" if word else right
    fixed = width(word) + width(tail) + (1 if word else 0)
    name = clip(left, max(room - fixed - 1, 0))
    gap = " " * max(room - width(name) - fixed, 0)
    return [
        (name, left_style),
        (gap, ""),
        (word, word_style),
        (" " if word else "", ""),
        (tail, "virtual--muted"),
    ]


def _body(cell: Cell, room: int, first: bool) -> list[Line]:
    """The lines of a closed row under its head."""
    if cell.message is None:
        return _reason(cell, room)
    if cell.kind is CellKind.SAME and not first:
        return []
    text = preview(cell.message, body_chars(room))
    return [[(" ", ""), (line, "")] for line in beginning(text, room, BODY_LINES)]


def body_chars(room: int) -> int:
    """Code points that may fill the body of a closed cell, and one more to know that it is full."""
    return BODY_LINES * (room + 1) + 1


def _reason(cell: Cell, room: int) -> list[Line]:
    """Why a message is missing."""
    if cell.message is not None:
        return []
    return [
        [(" ", ""), (line, "status--drop")] for line in beginning(because(cell.decisions), room, BODY_LINES)
    ]


def beginning(text: str, room: int, most: int) -> list[str]:
    """The first lines of a text that say something, the last one with an ellipsis if there is more."""
    shown = "\n".join(line for line in safe(text).split("\n") if line.strip())
    if not shown:
        return []
    starts = wrap(shown, room)
    lines = [line_text(shown, starts, number).rstrip() for number in range(min(len(starts) - 1, most))]
    if len(starts) - 1 > most:
        lines[-1] = clip(lines[-1], room - 1, ellipsis="") + "…"
    return lines


def because(decisions: Sequence[Decision]) -> str:
    """The sentence of the decision that counts; empty where there is none."""
    decision = reason(decisions)
    return decision.because if decision is not None else ""


def reason(decisions: Sequence[Decision]) -> Decision | None:
    """The decision that changed something last, else the last one."""
    acting = [decision for decision in decisions if decision.action not in _QUIET] or decisions
    return acting[-1] if acting else None


def _why(cell: Cell, room: int, rules: Mapping[str, Rule]) -> list[Line]:
    """The decisions behind a cell, with rule and numbers."""
    lines: list[Line] = []
    for decision in cell.decisions:
        paragraphs = [say((safe(decision.because, lines=False), STYLES[cell.kind] or "virtual--accent"))]
        figures = [decision.rule]
        if sum_ := arithmetic(decision):
            figures.append(sum_)
        if decision.before is not None and decision.after is not None:
            change = signed(decision.after - decision.before)
            figures.append(f"{decision.before:,} → {plural(decision.after, 'token')} ({change})")
        rule = rules.get(decision.rule)
        if rule is not None:
            figures += [f"{rule.framework} {rule.version}", rule.source]
        paragraphs.append(say((facts(*map(one_line, figures)), "virtual--muted"), hang=2))
        lines += [[(" ", ""), *line] for line in layout(paragraphs, room)]
    return lines


def _texts(cell: Cell, room: int, first: bool) -> list[tuple[str, array[int]]]:
    """The full text of a cell, each block under its label."""
    if cell.message is None or (cell.kind is CellKind.SAME and not first):
        return []
    texts = []
    for block in blocks(cell.message):
        for part in (block_label(block), block.text):
            if part:
                shown = safe(part)
                texts.append((shown, wrap(shown, room)))
    return texts


def _difference(before: Message, after: Message, room: int) -> list[Line]:
    """The word difference as one text: ``[-out-]`` and ``{+in+}``, so that no colour is needed."""
    a, b = full_text(before), full_text(after)
    changes = word_diff(a, b)
    paragraph: list[Piece] = []
    paragraphs = []
    for piece in diff_pieces(a, b, changes):
        text = safe(piece.text)
        if piece.kind == "same":
            text, style = _shortened(text), ""
        elif piece.kind == "removed":
            text, style = f"[-{_shortened(text)}-]", "virtual--lost"
        else:
            text, style = f"{{+{_shortened(text)}+}}", "status--add"
        for number, line in enumerate(text.split("\n")):
            if number:
                paragraphs.append(say(*paragraph))
                paragraph = []
            paragraph.append((line, style))
    paragraphs.append(say(*paragraph))
    if not changes:
        paragraphs.insert(0, say(("the text is the same; another key differs", "virtual--muted")))
    return [[(" ", ""), *line] for line in layout(paragraphs, room, words=False)]


def _shortened(text: str) -> str:
    """A long stretch by its two ends."""
    if len(text) <= 3 * _ENDS_SHOWN:
        return text
    return f"{text[:_ENDS_SHOWN]}‹… {len(text) - 2 * _ENDS_SHOWN:,} characters …›{text[-_ENDS_SHOWN:]}"
