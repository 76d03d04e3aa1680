"""A screen with an item in charge: the keys of the place "item" are the same on each of them."""

from __future__ import annotations

from typing import TypeAlias

from promptdbg.model import Message, Section, Source
from promptdbg.text import one_line
from promptdbg.tui.changes import RECORDED, cap_of, knob_stepped, no_priority, raised
from promptdbg.tui.screens.base import PictureScreen

Thing: TypeAlias = Section | Message


class ItemScreen(PictureScreen):
    """A subclass says which item is in charge, and what copying copies."""

    # -- what a subclass gives

    @property
    def item_here(self) -> str | None:
        """The id of the item in charge; ``None`` where there is none."""
        return None

    @property
    def source_here(self) -> Source | None:
        """Where what is in charge stands on disk."""
        return thing.source if (thing := self.thing_here) is not None else None

    def copied(self) -> str:
        """What copying copies; empty where there is nothing."""
        return ""

    def no_item(self) -> str:
        """Why there is no item."""
        return "there is no item under the cursor"

    # -- the rest is the same everywhere

    @property
    def thing_here(self) -> Thing | None:
        """The section or message in charge, as far as the picture has it."""
        item, picture = self.item_here, self.picture
        if item is None or picture is None:
            return None
        return picture.sections.get(item) or picture.message(item)

    def idle_keys(self) -> frozenset[str]:
        idle = set(super().idle_keys())
        thing = self.thing_here
        if thing is None:
            idle |= {"item.toggle", "item.why", "item.text"}
        if not isinstance(thing, Section):
            idle.add("item.try-text")
        if self.source_here is None:
            idle.add("item.editor")
        return frozenset(idle)

    def _here(self) -> str | None:
        """The item in charge; without one it is said why."""
        if self.thing_here is None:
            self.refuse(self.no_item())
            return None
        return self.item_here

    def action_switch(self) -> None:
        if self._is_recorded():
            return
        if item := self._here():
            self.promptdbg.toggle(item)

    def action_why(self) -> None:
        if item := self._here():
            self.promptdbg.open_why(item)

    def action_text(self) -> None:
        if item := self._here():
            self.promptdbg.open_text(item)

    def _is_recorded(self) -> bool:
        """Whether nothing can be tried here, which is said."""
        recorded = self.picture is not None and self.picture.recorded
        if recorded:
            self.refuse(RECORDED)
        return recorded

    def action_try_text(self) -> None:
        thing = self.thing_here
        if self._is_recorded():
            return
        if isinstance(thing, Section):
            self.promptdbg.edit_text(thing)
        elif thing is not None:
            self.refuse("only sections can be given another text; e opens the session file")
        else:
            self.refuse(self.no_item())

    def action_priority(self, steps: int) -> None:
        thing, picture = self.thing_here, self.picture
        if self._is_recorded():
            return
        if thing is None or picture is None:
            self.refuse(self.no_item())
        elif not isinstance(thing, Section):
            self.refuse("messages have no priority")
        elif thing.priority is None:
            self.refuse(no_priority(picture, thing))
        else:
            self.promptdbg.driver.change(raised(thing, thing.priority, steps))

    def action_cap(self, steps: int) -> None:
        thing, picture = self.thing_here, self.picture
        if self._is_recorded():
            return
        if thing is None or picture is None:
            self.refuse(self.no_item())
        elif (knob := cap_of(picture, thing)) is not None:
            self.promptdbg.driver.change(knob_stepped(knob, steps, picture.assembly.budget.limit))
        else:
            kind = thing.kind if isinstance(thing, Section) else f"{thing.role} message"
            title = picture.assembly.engine.title
            self.refuse(f"{title} has no cap for a single {one_line(kind)}")

    def action_editor(self) -> None:
        if self.source_here is None and self.thing_here is None:
            self.refuse(self.no_item())
        else:
            self.promptdbg.open_editor(self.source_here)

    def action_copy(self) -> None:
        if text := self.promptdbg.selected or self.copied():
            self.promptdbg.copy(text)
        else:
            self.refuse("there is nothing to copy")

    def action_copy_to_file(self) -> None:
        if text := self.promptdbg.selected or self.copied():
            self.promptdbg.copy_to_file(text)
        else:
            self.refuse("there is nothing to copy")
