"""The line under the message lists: what each costs."""

from __future__ import annotations

from textual.strip import Strip

from promptdbg.text import pad, plural
from promptdbg.tui.message_view import Plan
from promptdbg.tui.sentences import signed
from promptdbg.tui.widgets.chrome import DrawnLines


class ColumnTotals(DrawnLines):
    """One line under the columns: what each list costs, and by how much that differs from its left."""

    DEFAULT_CSS = "ColumnTotals { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._plan: Plan | None = None
        self._about = ""

    def show(self, plan: Plan | None, about: str) -> None:
        """``about`` stands before figures that are estimates."""
        self._plan, self._about = plan, about
        self.refresh()

    def render_line(self, y: int) -> Strip:
        plan = self._plan
        total = self.size.width
        if plan is None:
            return self.blank(total)
        head = self.style("virtual--head")
        pieces = [(pad("tok", plan.grid.digits + 1, right=True) + " ", head)]
        for number, cells in zip(plan.grid.shown, plan.grid.widths, strict=True):
            column = plan.alignment.columns[number]
            text = self._about + plural(column.tokens, "token")
            if number:
                text += f" ({signed(column.delta)})"
            pieces.append((self.glyphs.sep, head))
            pieces.append((pad(" " + text, cells), self.plain))
        return self.strip(pieces, total)
