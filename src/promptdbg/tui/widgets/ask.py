"""The one-line input that opens above the status line: filter, numbers, names.

It has the focus only while it is open, because an input with focus takes every letter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Label

from promptdbg.text import safe
from promptdbg.tui.keys import bindings


def _nothing(text: str) -> None:  # noqa: ARG001 - what every answer is handed to
    return None


class Ask(Horizontal):
    """A label and an input; ``open`` asks, enter answers, escape takes it back."""

    DEFAULT_CSS = """
    Ask {
        height: 1;
        display: none;
        background: $panel;
        & > Label { padding: 0 1; text-style: bold; }
        & > Input { width: 1fr; background: $panel; }
        &.wrong > Label { color: $text-warning; }
    }
    Ask.open { display: block; }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("ask")

    @dataclass(frozen=True)
    class Question:
        """What is asked.

        ``changed`` hears every edit (live filter), ``answered`` the final text, ``cancelled`` is
        called on escape. ``answered`` returns a complaint to keep the input open, or ``None``.
        """

        label: str
        answered: Callable[[str], str | None]
        value: str = ""
        changed: Callable[[str], None] = _nothing
        cancelled: Callable[[], None] = lambda: None

    def __init__(self) -> None:
        super().__init__()
        self._question: Ask.Question | None = None
        self._back: Widget | None = None

    def compose(self) -> ComposeResult:
        yield Label("", markup=False)
        entry = Input(select_on_focus=False, compact=True)
        entry.cursor_blink = False
        yield entry

    @property
    def is_open(self) -> bool:
        return self._question is not None

    def open(self, question: Question) -> None:
        """Ask; the focus comes here and goes back where it was."""
        entry = self.query_one(Input)
        if self._question is None:
            self._back = self.screen.focused
        self._question = None  # the value set now is not an edit
        self._label(question.label)
        with entry.prevent(Input.Changed):
            entry.value = question.value
        entry.cursor_position = len(question.value)
        self._question = question
        self.add_class("open")
        self.screen.set_focus(entry)

    def close(self) -> None:
        """Stop asking."""
        self._question = None
        self.remove_class("open")
        back = self._back
        self.screen.set_focus(back if back is not None and back.is_attached else None)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._question is not None:
            self._question.changed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        question = self._question
        if question is None:
            return
        complaint = question.answered(event.value)
        if complaint is None and self._question is question:
            self.close()
        elif complaint is not None:
            self._label(f"! {complaint}", wrong=True)

    def _label(self, text: str, *, wrong: bool = False) -> None:
        """What stands before the input: the question, or why the answer cannot be taken."""
        self.query_one(Label).update(safe(text, lines=False))
        self.set_class(wrong, "wrong")

    async def action_done(self) -> None:
        await self.query_one(Input).action_submit()

    def action_cancel(self) -> None:
        question = self._question
        self.close()
        if question is not None:
            question.cancelled()
