"""One text in full: what was lost is marked, what is hidden is visible, and it can be searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from promptdbg.analysis.items import message_texts
from promptdbg.model import Source, Span
from promptdbg.text import one_line
from promptdbg.tui.keys import Place, bindings
from promptdbg.tui.picture import Picture
from promptdbg.tui.screens.base import PictureScreen
from promptdbg.tui.sentences import plural
from promptdbg.tui.widgets.ask import Ask
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.widgets.text_view import TextView


class TextScreen(PictureScreen):
    """The text of a section or of a message.

    Args:
        needle: a text to find and go to at once.
    """

    places: ClassVar[tuple[Place, ...]] = ("text",)
    BINDINGS: ClassVar[list[BindingType]] = bindings("text")

    DEFAULT_CSS = "TextScreen #text { border: round $border; height: 1fr; }"

    def __init__(self, item: str, *, needle: str = "") -> None:
        super().__init__()
        self.item = item
        self.as_sent = False
        self._needle = needle

    def compose_body(self) -> Iterable[Widget]:
        yield TextView(id="text")

    def header_cells(self, picture: Picture) -> Sequence[Cell]:
        return (Cell("Text", "virtual--strong"), *super().header_cells(picture))

    def show_picture(self, picture: Picture) -> None:
        view = self.query_one(TextView)
        text, spans, name = self._content(picture)
        view.empty_word = "(nothing stands in the prompt)" if self.as_sent else "(no text)"
        view.show(text, spans, keep_scroll=True)
        kind = "as sent" if self.as_sent else "original"
        view.border_title = view.title(f"{name} · {kind} · {len(text):,} chars")
        lost = sum(1 for span in spans if not span.kept)
        view.border_subtitle = f"{plural(lost, 'stretch', 'stretches')} lost: x" if lost else ""
        if self._needle:
            self.call_after_refresh(self._find, self._needle)
            self._needle = ""

    def _content(self, picture: Picture) -> tuple[str, Sequence[Span], str]:
        section = picture.sections.get(self.item)
        if section is not None:
            name = one_line(section.name)
            return (section.output, (), name) if self.as_sent else (section.text, section.spans, name)
        message = picture.message(self.item) if self.as_sent else picture.first_message(self.item)
        if message is None:
            return "", (), one_line(self.item)
        return "\n".join(message_texts(message)), (), f"{one_line(message.role)} {one_line(message.id)}"

    # -- actions

    def action_find(self) -> None:
        view = self.query_one(TextView)

        def changed(text: str) -> None:
            view.find(text)

        self.ask(Ask.Question("Find:", self._find, "", changed, lambda: changed("")))

    def _find(self, text: str) -> None:
        hits = self.query_one(TextView).find(text)
        if text:
            shown = f'"{one_line(text)}"'
            self.say(f"{plural(hits, 'hit')} of {shown} · n N" if hits else f"no hit of {shown}")

    def action_hit(self, step: int) -> None:
        view = self.query_one(TextView)
        if not view.hits:
            self.refuse("nothing to go to: / finds a text")
            return
        view.go_to_hit(step)
        self.say(f"hit {view.hit + 1:,} of {view.hits:,}")

    def action_cut(self, step: int) -> None:
        view = self.query_one(TextView)
        number = view.go_to_cut(step)
        if number is None:
            self.refuse(
                "nothing of this text was lost" if not self.as_sent else "v shows the original with its cuts"
            )
        else:
            self.say(f"lost stretch {number:,} of {view.cuts:,}")

    def action_output(self) -> None:
        self.as_sent = not self.as_sent
        if self.picture is not None:
            self.show_picture(self.picture)

    def action_wrap(self) -> None:
        view = self.query_one(TextView)
        view.set_wrap(not view.wraps)
        self.say("long lines are wrapped" if view.wraps else "long lines are cut at the edge")

    def action_editor(self) -> None:
        self.promptdbg.open_editor(self._source())

    def _source(self) -> Source | None:
        picture = self.picture
        if picture is None:
            return None
        thing = picture.sections.get(self.item) or picture.message(self.item)
        return thing.source if thing else None

    def action_copy(self) -> None:
        if self.picture is not None:
            self.promptdbg.copy(self._content(self.picture)[0])

    def action_back(self) -> None:
        self.leave()
