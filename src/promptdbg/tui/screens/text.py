"""One text in full: what was lost is marked, what is hidden is visible, and it can be searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from promptdbg.analysis.cut import message_spans
from promptdbg.analysis.items import message_texts
from promptdbg.model import Message, Span, StageKind
from promptdbg.text import one_line, plural
from promptdbg.tui.inspector import STAND_IN
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.item import ItemScreen
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.text_view import TextView


class TextScreen(ItemScreen):
    """The text of a section or of a message.

    Args:
        needle: a text to find and go to at once.
    """

    places: ClassVar[tuple[Place, ...]] = ("text", "item")
    BINDINGS: ClassVar[list[BindingType]] = bindings("text", "item")

    DEFAULT_CSS = "TextScreen #text { height: 1fr; }"

    def __init__(self, item: str, *, needle: str = "") -> None:
        super().__init__()
        self.item = item
        self.about = f"text {item}"
        self.as_sent = False
        self._needle = needle
        self._looking = False  # for a text that was typed here, which escape clears

    @property
    def item_here(self) -> str | None:
        return self.item

    def copied(self) -> str:
        return self._content(self.picture)[0] if self.picture is not None else ""

    def no_item(self) -> str:
        return "it is not in this prompt any more"

    def compose_body(self) -> Iterable[Widget]:
        yield TextView(id="text", classes="pane")

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Text", "virtual--strong"), *super().header_cells(picture))

    def show_picture(self, picture: Picture) -> None:
        view = self.query_one(TextView)
        text, spans, name = self._content(picture)
        view.empty_word = "(nothing stands in the prompt)" if self.as_sent else "(no text)"
        view.show(text, spans, keep_scroll=True)
        kind = "as sent" if self.as_sent else "original"
        section = picture.sections.get(self.item)
        not_own = STAND_IN if section is not None and section.stand_in else ""
        view.border_title = view.title(f"{name} · {kind} · {plural(len(text), 'char')}{not_own}")
        lost = sum(1 for span in spans if not span.kept)
        view.border_subtitle = f"{plural(lost, 'stretch', 'stretches')} lost: n" if lost else ""
        if self._needle:
            self.call_after_refresh(self._find, self._needle, came_for=True)
            self._needle = ""

    def _content(self, picture: Picture) -> tuple[str, Sequence[Span], str]:
        section = picture.sections.get(self.item)
        if section is not None:
            name = one_line(section.name)
            return (section.output, (), name) if self.as_sent else (section.text, section.spans, name)
        given, sent = picture.first_message(self.item), picture.sent_message(self.item)
        message = sent if self.as_sent else given
        if message is None:
            return "", (), _name(given) if given is not None else one_line(self.item)
        text = "\n".join(message_texts(message))
        # Where the framework fails there is no final list: nothing is sent, and nothing was lost on the way.
        if self.as_sent or picture.assembly.stage(StageKind.FINAL) is None:
            return text, (), _name(message)
        return text, message_spans(text, "\n".join(message_texts(sent)) if sent else None), _name(message)

    # -- actions

    def action_find(self) -> None:
        view = self.query_one(TextView)

        def changed(text: str) -> None:
            view.find(text)

        self.ask(Ask.Question("Find:", self._find, "", changed, lambda: changed("")))

    def _find(self, text: str, *, came_for: bool = False) -> None:
        """Look for a text. From one that one has come for, escape leads back to where one has come from."""

        def found(hits: int) -> None:
            self._looking = bool(hits) and not came_for
            if text:
                shown = f'"{one_line(text)}"'
                self.say(f"{plural(hits, 'hit')} of {shown} · n N" if hits else f"no hit of {shown}")

        self.query_one(TextView).find(text, found)

    def action_next(self, step: int) -> None:
        """To the next hit; where nothing is looked for, to the next stretch that was lost."""
        view = self.query_one(TextView)
        if view.hits:
            view.go_to_hit(step)
            self.say(f"hit {view.hit + 1:,} of {view.hits:,}")
        else:
            self._next_cut(view, step)

    def _next_cut(self, view: TextView, step: int) -> None:
        number = view.go_to_cut(step)
        if number is None:
            self.refuse(self._no_cut())
        else:
            self.say(f"lost stretch {number:,} of {view.cuts:,}")

    def _no_cut(self) -> str:
        """Why there is no lost stretch to go to."""
        if self.as_sent:
            return "v shows the original with its cuts"
        picture = self.picture
        if picture is not None and self.item not in picture.sections:
            given, sent = picture.first_message(self.item), picture.sent_message(self.item)
            if given and sent and [*message_texts(given)] != [*message_texts(sent)]:
                return "the model gets it in another form: v shows that"
        return "nothing of this text was lost; / finds a text"

    def action_output(self) -> None:
        self.as_sent = not self.as_sent
        if self.picture is not None:
            self.show_picture(self.picture)

    def action_wrap(self) -> None:
        view = self.query_one(TextView)
        view.set_wrap(not view.wraps)
        self.say("long lines are wrapped" if view.wraps else "long lines are cut at the edge")

    def action_back(self) -> None:
        if self._looking:
            self._looking = False
            self.query_one(TextView).find("")
            self.say("")
        else:
            self.leave()


def _name(message: Message) -> str:
    return f"{one_line(message.role)} {one_line(message.id)}"
