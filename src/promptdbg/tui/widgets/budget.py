"""The budget in two lines: a stacked bar of what the prompt is made of, and a bar to turn.

Figures are the assembly's ledger, in the framework's own unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.message import Message
from textual.strip import Strip

from promptdbg.model import Budget, Part
from promptdbg.text import clip_middle, one_line, width
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.sentences import amount
from promptdbg.tui.widgets.chrome import DrawnLines

FILLS = 6

NAMED = 76
"""Cells from which on the line has room for who measures."""


def parts_of(budget: Budget) -> list[Part]:
    """The ledger's largest parts, the rest as one, so that there are no more than fills."""
    parts = [part for part in budget.parts if part.tokens > 0]
    parts.sort(key=lambda part: -part.tokens)
    if len(parts) <= FILLS:
        return parts
    rest = sum(part.tokens for part in parts[FILLS - 1 :])
    return [*parts[: FILLS - 1], Part("other", rest)]


def cells(amounts: Sequence[int], total: int, room: int) -> list[int]:
    """How many cells each amount gets of ``room`` for ``total``. Rounded on the running sum, so that
    the cells of all amounts never differ from the cells of their sum."""
    if total <= 0:
        return [0] * len(amounts)
    out = []
    running = done = 0
    for each in amounts:
        running += each
        upto = min(round(running * room / total), room)
        out.append(upto - done)
        done = upto
    return out


class TokenBar(DrawnLines):
    """The stacked bar, and under it the legend where there is room."""

    DEFAULT_CSS = "TokenBar { height: 2; padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.budget: Budget | None = None

    async def on_click(self) -> None:
        """The whole ledger: the legend has room for the largest parts alone."""
        await self.run_action("app.ledger")

    def show(self, budget: Budget) -> None:
        self.budget = budget
        self.refresh()

    def render_line(self, y: int) -> Strip:
        if self.budget is None:
            return self.blank(self.size.width)
        return self._bar(self.budget) if y == 0 else self._legend(self.budget)

    def _bar(self, budget: Budget) -> Strip:
        room = self.size.width
        total = max(budget.limit or 0, budget.used, 1)
        parts = parts_of(budget)
        g = self.glyphs
        pieces = [
            (self.fill(number) * count, self.style(f"bar--{number}"))
            for number, count in enumerate(cells([part.tokens for part in parts], total, room))
        ]
        used = sum(width(text) for text, _ in pieces)
        pieces.append((g.free * (room - used), self.style("virtual--muted")))
        return self.strip(pieces, room)

    def _legend(self, budget: Budget) -> Strip:
        """The largest parts, as many as fit; what is free and reserved always."""
        tail: list[tuple[str, str, str]] = []
        if budget.left is not None:
            word = f"free {budget.left:,}" if budget.left >= 0 else f"over by {-budget.left:,}"
            tail.append((f"{self.glyphs.free} ", word, "virtual--muted"))
        if budget.reserved:
            tail.append(("", f"reserved {sum(part.tokens for part in budget.reserved):,}", ""))
        room = self.size.width - sum(width(fill + text) + 3 for fill, text, _ in tail)
        entries = []
        for number, part in enumerate(parts_of(budget)):
            entry = (f"{self.fill(number)} ", f"{_short(part.name)} {part.tokens:,}", f"bar--{number}")
            room -= width(entry[0] + entry[1]) + 3
            if room < 0:
                break
            entries.append(entry)
        muted = self.style("virtual--muted")
        pieces = []
        for fill, text, style in (*entries, *tail):
            pieces += [(fill, self.style(style)), (text, self.plain if fill else muted), ("   ", self.plain)]
        return self.strip(pieces, self.size.width)


def _short(name: str) -> str:
    return clip_middle(one_line(name), 20)


class BudgetLine(DrawnLines, can_focus=True):
    """The limit as a bar. With focus it turns the knob that sets it: keys, digits, mouse."""

    DEFAULT_CSS = """
    BudgetLine { padding: 0 1; }
    BudgetLine:focus { background: $panel; }
    """

    places: ClassVar[tuple[Place, ...]] = ("budget",)
    BINDINGS = bindings("budget")

    class Stepped(Message):
        """The budget was turned by so many steps."""

        def __init__(self, steps: int) -> None:
            super().__init__()
            self.steps = steps

    class Dragged(Message):
        """The limit was moved by so many units."""

        def __init__(self, change: int) -> None:
            super().__init__()
            self.change = change

    class Typing(Message):
        """A number is to be typed; ``begun`` is what was typed already."""

        def __init__(self, begun: str) -> None:
            super().__init__()
            self.begun = begun

    def __init__(self) -> None:
        super().__init__()
        self.budget: Budget | None = None
        self.by = ""
        self._scale = 0
        self._held = False

    def show(self, budget: Budget, by: str = "") -> None:
        """``by`` is who measures: not the tokenizer that the list of sections is counted with."""
        self.budget, self.by = budget, by
        # While the mouse holds the limit the scale must not move away under it.
        if not self._held:
            self._scale = max(budget.window or 0, 2 * (budget.limit or 0), budget.used * 5 // 4, 1)
        self.refresh()

    @property
    def _bar_start(self) -> int:
        return width("Budget  ")

    def _bar_room(self) -> int:
        return max(self.size.width - self._bar_start - 2 - width(self._figures()), 8)

    def _figures(self) -> str:
        budget = self.budget
        if budget is None:
            return ""
        by = f" by {self.by}" if self.by and self.size.width >= NAMED else ""
        if budget.limit is None:
            return f"no limit  used {amount(budget.used, budget.unit)}{by}"
        left = budget.limit - budget.used
        tail = f"left {left:,}" if left >= 0 else f"over by {-left:,}"
        return f"{amount(budget.limit, budget.unit)}{by}  used {budget.used:,}  {tail}"

    def render_line(self, y: int) -> Strip:
        budget = self.budget
        if budget is None:
            return self.blank(self.size.width)
        g = self.glyphs
        figures = self._figures()
        room = self._bar_room()
        muted = self.style("virtual--muted")
        over = budget.limit is not None and budget.used > budget.limit
        pieces = [
            (
                ("Budget" + (g.cursor if self.has_focus else " ")).ljust(self._bar_start),
                self.style("virtual--strong"),
            )
        ]
        used, limit = self._at(budget.used, room), self._at(budget.limit or 0, room)
        for cell in range(room):
            if budget.limit is not None and cell == limit:
                pieces.append((g.limit, self.style("virtual--error" if over else "virtual--key")))
            elif cell < used:
                pieces.append((g.full, self.style("virtual--error" if over and cell > limit else "bar--0")))
            else:
                pieces.append((g.rest, muted))
        pieces.append(("  ", self.plain))
        pieces.append((figures, self.style("virtual--error") if over else self.plain))
        return self.strip(pieces, self.size.width)

    def _at(self, amount: int, room: int) -> int:
        return min(amount * (room - 1) // max(self._scale, 1), room - 1)

    # -- turning

    def action_step(self, steps: int) -> None:
        self.post_message(self.Stepped(steps))

    def action_type(self) -> None:
        self.post_message(self.Typing(""))

    def on_key(self, event: events.Key) -> None:
        if event.character is not None and event.character.isdecimal():
            event.stop()
            event.prevent_default()
            self.post_message(self.Typing(event.character))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """On the bar: the limit goes there and follows; on the figures: a number is typed."""
        cell = event.get_content_offset_capture(self).x - self._bar_start
        if cell >= self._bar_room():
            self.action_type()
        elif cell >= 0 and self.budget is not None and self.budget.limit is not None:
            self._held = True
            self.capture_mouse()
            self._drag(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held:
            self._drag(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._held:
            self._held = False
            self.release_mouse()
            if self.budget is not None:
                self.show(self.budget, self.by)  # the scale may follow now

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, steps: int) -> None:
        """Only with the focus: a wheel that passes by must not change the prompt."""
        if self.has_focus:
            event.stop()
            self.action_step(steps)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _drag(self, event: events.MouseEvent) -> None:
        budget = self.budget
        offset = event.get_content_offset_capture(self)
        room = self._bar_room()
        if budget is None or budget.limit is None:
            return
        cell = max(0, min(offset.x - self._bar_start, room - 1))  # beyond the ends: the ends
        wanted = round(cell * self._scale / max(room - 1, 1))
        self.post_message(self.Dragged(wanted - budget.limit))
