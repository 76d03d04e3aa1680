"""The message lists side by side: as stored, as first assembled, every step between, as sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from promptdbg.analysis.align import align, align_assembly
from promptdbg.analysis.alignment import Alignment
from promptdbg.analysis.blocks import full_text
from promptdbg.model import Assembly, Message, Stage, StageKind
from promptdbg.text import clip_middle, one_line, plural, safe
from promptdbg.tui.frame import state_cell
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.message_view import column_title, place_among, row_sentence, summary
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.item import ItemScreen
from promptdbg.tui.screens.stages import StagesBox, did
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.column_totals import ColumnTotals
from promptdbg.tui.widgets.message_columns import MessageColumns
from promptdbg.tui.widgets.virtual import VirtualList

ALIGN_AT_ONCE = 1_000
"""Up to so many messages are aligned on the event loop; more in a thread."""

_KINDS = (StageKind.SESSION, StageKind.INITIAL, StageKind.FINAL)


class MessagesScreen(ItemScreen):
    """Three lists, each of which can show any stage between its neighbours, and a recorded request."""

    places: ClassVar[tuple[Place, ...]] = ("messages", "item")
    about = "messages"
    BINDINGS: ClassVar[list[BindingType]] = bindings("messages", "item")

    DEFAULT_CSS = """
    MessagesScreen MessageColumns { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.id = "messages"
        self._names = ["", "", ""]  # the stage each column shows; empty for the usual one
        self._off: set[int] = set()
        self._slots: Sequence[int] = ()  # the column number (0 to 3) of each column that is drawn
        self._summary = ""
        self._greeted = False
        self._say_next: str | None = ""
        """What to say when the lists are drawn: "" for the row under the cursor, ``None`` nothing."""
        self._goal = ""
        """The message to go to as soon as the lists are there."""

    def compose_body(self) -> Iterable[Widget]:
        yield MessageColumns()
        yield ColumnTotals()

    @property
    def lists(self) -> MessageColumns:
        return self.query_one(MessageColumns)

    # -- aligning

    def show_picture(self, picture: Picture) -> None:
        assembly = picture.assembly
        chosen = self._chosen(assembly)
        recorded = None if 3 in self._off else self.promptdbg.recorded
        self._slots = [*chosen, 3] if recorded is not None else list(chosen)
        names = [stage.name for stage in chosen.values()]
        self.lists.empty_word = "No messages in these lists."
        self._say_next = None  # the app says what led to the picture
        if sum(len(stage.messages) for stage in assembly.stages[:1]) <= ALIGN_AT_ONCE:
            self._draw(picture, _aligned(assembly, names, recorded))
        else:
            # Not while the screen is still being put together: the thread would take half of its time.
            self.call_after_refresh(self._align_in_thread, picture, names, recorded)

    def _align_in_thread(self, picture: Picture, names: Sequence[str], recorded: Stage | None) -> None:
        self.run_worker(
            self._align_later(picture, names, recorded),
            exclusive=True,
            group="align",
            exit_on_error=False,
            description="aligning",
        )

    async def _align_later(self, picture: Picture, names: Sequence[str], recorded: Stage | None) -> None:
        aligned = await asyncio.to_thread(_aligned, picture.assembly, names, recorded)
        if picture is self.picture:
            self._draw(picture, aligned)

    def _draw(self, picture: Picture, aligned: tuple[Alignment, str]) -> None:
        alignment, self._summary = aligned
        row = alignment.row_of(self._goal) if self._goal else None
        self._goal = ""
        self.lists.show(alignment, picture.rules, row)

    def _chosen(self, assembly: Assembly) -> dict[int, Stage]:
        """The stage that each of the three columns shows, of those that are shown.

        Columns that would be out of order go back to the usual lists.
        """
        by_name = {stage.name: stage for stage in assembly.stages}
        usual = {slot: assembly.stage(kind) for slot, kind in enumerate(_KINDS) if slot not in self._off}
        chosen = {
            slot: by_name.get(self._names[slot], stage) for slot, stage in usual.items() if stage is not None
        }
        places = [_place(assembly, stage) for stage in chosen.values()]
        if places != sorted(set(places)):
            self._names = ["", "", ""]
            return {slot: stage for slot, stage in usual.items() if stage is not None}
        return chosen

    # -- what is said

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        assembly, turns = picture.assembly, len(picture.assembly.turns)
        session = one_line(Path(assembly.session or assembly.workspace).name)
        turn = f"turn {assembly.turn} of {turns}" if assembly.turn else f"next turn ({turns + 1})"
        engine = one_line(f"{assembly.engine.title} {assembly.engine.version}")
        alignment = self.lists.alignment
        return (
            Cell("Messages", "virtual--strong"),
            Cell(clip_middle(session, 32), rank=1),
            Cell(turn if turns else "", rank=2),
            Cell(engine, rank=4),
            Cell(self._missing(assembly), "virtual--warning"),
            Cell(self._place_among_changes(alignment) if alignment else "", right=True),
            state_cell(self.promptdbg.watching.state, stale=bool(self.promptdbg.stale), rank=3),
        )

    def _missing(self, assembly: Assembly) -> str:
        """Which of the three lists there is not, and why."""
        names = [kind.value.upper() for kind in _KINDS if assembly.stage(kind) is None]
        if not names:
            return ""
        why = "the framework fails before" if assembly.failure else "not recorded in this file"
        return f"{', '.join(names)}: {why}"

    def _place_among_changes(self, alignment: Alignment) -> str:
        changes, row = alignment.changes, self.lists.row
        if not changes:
            return "no changes"
        at = place_among(changes, row) if row is not None else 0
        return f"{at:,} of {plural(len(changes), 'change')}" if at else plural(len(changes), "change")

    def on_message_columns_drawn(self, message: MessageColumns.Drawn) -> None:
        picture, plan = self.picture, self.lists.plan
        if picture is None or plan is None:
            return
        about = "" if picture.assembly.tokenizer.exact else "≈"
        self.query_one(ColumnTotals).show(plan, about)
        self.show_frame()
        self.show_keys()
        if not self._greeted:
            self._greeted = True
            self.say(f"aligned: {self._summary}")
        elif self._say_next:
            self.say(self._say_next)
        elif self._say_next == "":
            self._say_row()
        self._say_next = ""

    def on_virtual_list_moved(self, message: VirtualList.Moved) -> None:
        self.show_frame()
        self.show_keys()
        self._say_row()

    def _say_row(self) -> None:
        plan, row = self.lists.plan, self.lists.row
        if plan is None:
            return
        if self.lists.view.find and not plan.entries:
            self.say(f'no message holds "{self.lists.view.find}"; esc shows all')
        elif row is not None:
            self.say(row_sentence(plan.alignment, row, self.lists.focus_column))

    # -- columns

    def action_column(self, number: int) -> None:
        """Show or hide a column."""
        slot, picture = number - 1, self.picture
        if picture is None:
            return
        if slot == 3 and self.promptdbg.recorded is None:
            self.refuse("no recorded request is loaded; promptdbg --final FILE shows one beside FINAL")
        elif slot < 3 and picture.assembly.stage(_KINDS[slot]) is None:
            self.refuse(self._missing(picture.assembly))
        elif slot in self._off:
            self._off.discard(slot)
            self._redraw(picture, f"{_list_name(slot)} is shown again")
        elif list(self._slots) == [slot]:
            self.refuse("it is the only list in sight")
        else:
            self._off.add(slot)
            self._redraw(picture, f"{_list_name(slot)} is hidden: {number} shows it again")

    def action_stage(self, direction: int) -> None:
        """Let the column in focus show the stage before or after."""
        picture, slot = self.picture, self._slot
        if picture is not None and slot is not None and slot < 3:
            self._move(
                picture, slot, _place(picture.assembly, self._chosen(picture.assembly)[slot]) + direction
            )
        elif slot == 3:
            self.refuse("this column shows the recorded request")

    def action_stages(self) -> None:
        """Choose the stage of the column in focus from all there are."""
        picture, slot = self.picture, self._slot
        if picture is None or slot is None or slot == 3:
            self.action_stage(0)
            return
        stages = picture.assembly.stages
        place = _place(picture.assembly, self._chosen(picture.assembly)[slot])
        self.app.push_screen(StagesBox(stages, place, lambda wanted: self._move(picture, slot, wanted)))

    @property
    def _slot(self) -> int | None:
        """The number of the column in focus, hidden ones counted."""
        return self._slots[min(self.lists.focus_column, len(self._slots) - 1)] if self._slots else None

    def _move(self, picture: Picture, slot: int, wanted: int) -> None:
        """Show another stage in a column, between those of the columns beside it."""
        stages = picture.assembly.stages
        places = {
            other: _place(picture.assembly, stage) for other, stage in self._chosen(picture.assembly).items()
        }
        left = max((place for other, place in places.items() if other < slot), default=-1)
        right = min((place for other, place in places.items() if other > slot), default=len(stages))
        if not 0 <= wanted < len(stages):
            self.refuse("there is no list " + ("after" if wanted > 0 else "before") + " this one")
        elif wanted <= left:
            self.refuse(f"{column_title(stages[left])} stands to the left; move or hide that column first")
        elif wanted >= right:
            self.refuse(f"{column_title(stages[right])} stands to the right; move or hide that column first")
        else:
            self._names[slot] = stages[wanted].name
            title = safe(stages[wanted].title, lines=False)
            self._redraw(
                picture, f"{wanted + 1} of {len(stages)}: {title}, {did(stages[wanted]) or 'nothing done'}"
            )

    def _redraw(self, picture: Picture, words: str) -> None:
        """Draw other lists of the same picture, and say so."""
        self.show_picture(picture)
        self._say_next = words

    # -- the message under the cursor

    @property
    def message(self) -> Message | None:
        """The message under the cursor."""
        return self.lists.message

    @property
    def item_here(self) -> str | None:
        return self.message.id if self.message is not None else None

    def copied(self) -> str:
        return full_text(self.message) if self.message is not None else ""

    def action_switch(self) -> None:
        """Switch the stored message off, or on again."""
        message, picture = self.message, self.picture
        if message is None or picture is None:
            return
        session = picture.assembly.stage(StageKind.SESSION)
        stored = {entry.id for entry in session.messages} if session else set()
        item = next((name for name in (message.id, *message.sources) if name in stored), None)
        if item is None:
            self.refuse(
                "only stored messages can be switched off; what is in the system prompt, on the first screen"
            )
        else:
            self.promptdbg.toggle(item)

    def action_filter(self) -> None:
        """Show only messages that hold a text."""
        before = self.lists.view.find

        def answered(text: str) -> None:
            self.lists.find(text)

        self.ask(Ask.Question("Find:", answered, before, answered, lambda: self.lists.find(before)))

    def action_back(self) -> None:
        view = self.lists.view
        if view.find:
            self.lists.find("")
        elif view.only_changes:
            self.lists.action_only_changes()
        else:
            self.leave()

    def go_to(self, item: str) -> None:
        """Put the cursor on a message, now or when the lists are there."""
        plan = self.lists.plan if self._composed else None
        if plan is None:
            self._goal = item
        elif (row := plan.alignment.row_of(item)) is not None:
            self.lists.go_to_row(row)
        else:
            self.refuse(f"{one_line(item)} is in none of these lists")


def _place(assembly: Assembly, stage: Stage) -> int:
    return next(place for place, other in enumerate(assembly.stages) if other.name == stage.name)


def _aligned(assembly: Assembly, names: Sequence[str], recorded: Stage | None) -> tuple[Alignment, str]:
    """The lists side by side, and what they differ in."""
    if names or recorded is None:
        alignment = align_assembly(assembly, names, recorded=recorded)
    else:
        alignment = align([recorded])
    return alignment, summary(alignment)


def _list_name(slot: int) -> str:
    return _KINDS[slot].value.upper() if slot < len(_KINDS) else "the recorded request"
