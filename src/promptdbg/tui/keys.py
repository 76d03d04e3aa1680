"""Every key of the UI, once: what it does, in which place, and the words for it.

Bindings, the key line at the bottom, the help and the palette are all made from this table. A
user's own keys refer to the ids.

A key means one thing. What acts on an item is in the place "item", which every screen with an item
under its cursor has: ``i`` is always Why, ``t`` its text, ``space`` off and on. The key that leads
to a screen leads back from it. ``/`` looks for, ``n`` goes to the next of what is looked for, ``f``
narrows, ``o`` orders, ``s`` chooses what is shown, ``w`` wraps, ``z`` folds. A digit takes the thing
with that number in front of you.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from textual.binding import Binding, BindingType

Place: TypeAlias = Literal[
    "app",
    "list",
    "home",
    "sections",
    "knobs",
    "budget",
    "messages",
    "columns",
    "item",
    "text",
    "why",
    "compare",
    "search",
    "findings",
    "turns",
    "export",
    "modal",
    "choose",
    "edit",
    "ask",
]

PLACE_TITLES: dict[Place, str] = {
    "sections": "Sections",
    "knobs": "Knobs",
    "budget": "Budget",
    "text": "Text",
    "why": "Why",
    "compare": "Compare",
    "search": "Search",
    "findings": "Findings",
    "turns": "Turns",
    "export": "Export",
    "messages": "Messages",
    "columns": "Message lists",
    "home": "Inspector",
    "item": "The item under the cursor",
    "list": "Moving",
    "app": "Everywhere",
    "choose": "This list",
    "edit": "This text",
    "ask": "This line",
    "modal": "This box",
}
"""Places in the order the help shows them, with their titles."""


@dataclass(frozen=True, slots=True)
class Key:
    """One thing to press.

    ``keys`` are Textual key names separated by commas, ``shown`` how they are written for people.
    ``words`` is the label of the key line, ``tooltip`` the sentence of the help. ``rank`` orders
    the key line, lowest first; 0 keeps it off the line.
    """

    id: str
    place: Place
    keys: str
    shown: str
    action: str
    words: str
    tooltip: str
    rank: int = 0


def _list_keys() -> Iterable[Key]:
    yield Key("list.up", "list", "up,k", "↑ k", "cursor(-1)", "Up", "One row up")
    yield Key("list.down", "list", "down,j", "↓ j", "cursor(1)", "Down", "One row down")
    yield Key("list.page-up", "list", "pageup,ctrl+u", "PgUp", "page(-1)", "Page up", "One page up")
    yield Key("list.page-down", "list", "pagedown,ctrl+d", "PgDn", "page(1)", "Page down", "One page down")
    yield Key("list.first", "list", "home,g", "g Home", "edge(-1)", "First", "To the first row")
    yield Key("list.last", "list", "end,G", "G End", "edge(1)", "Last", "To the last row")


# One key, one line: as a table it can be read.
# fmt: off
KEYS: tuple[Key, ...] = (
    # everywhere
    Key("app.help", "app", "question_mark", "?", "help", "Help", "The keys that work here", 90),
    Key("app.quit", "app", "q,ctrl+q", "q", "quit", "Quit", "Leave promptdbg", 95),
    Key("app.palette", "app", "ctrl+p", "ctrl+p", "command_palette", "Palette", "Every action, section, message and knob by name"),
    Key("app.tour", "app", "ctrl+t,f1", "ctrl+t F1", "tour", "Tour", "A guided tour of a few minutes; again to leave it"),
    Key("app.tour-next", "app", "ctrl+n", "ctrl+n", "tour_next", "Next step", "The next step of the tour, without doing this one"),
    Key("app.messages", "app", "m", "m", "messages", "Messages", "SESSION, INITIAL and FINAL side by side", 40),
    Key("app.search", "app", "F,ctrl+f", "F ctrl+f", "search", "Search", "Search everything loaded, kept or lost", 62),
    Key("app.turn-before", "app", "[", "[", "turn(-1)", "Turn before", "The prompt of the turn before", 64),
    Key("app.turn-after", "app", "]", "]", "turn(1)", "Turn after", "The prompt of the turn after"),
    Key("app.turns", "app", "T", "T", "turns", "Turns", "Every turn, what came in and left, and the life of the item"),
    Key("app.undo", "app", "u", "u", "undo", "Undo", "Take the last change back", 50),
    Key("app.redo", "app", "ctrl+r", "ctrl+r", "redo", "Redo", "Do again what was undone"),
    Key("app.reset", "app", "R", "R", "reset", "Reset", "Back to the files: drops every change (undo brings them back)"),
    Key("app.compare", "app", "c", "c", "compare", "Compare", "Against the files, a scenario, a turn or a saved prompt", 60),
    Key("app.findings", "app", "p", "p", "findings", "Findings", "Provider rules broken, the cached prefix, what is in it twice", 66),
    Key("app.export", "app", "x,ctrl+e", "x ctrl+e", "export", "Export", "Write the prompt to a file; shows first what is hidden", 68),
    Key("app.ledger", "app", "B", "B", "ledger", "Ledger", "What the prompt costs, part by part, and what is taken off the window"),
    Key("app.warnings", "app", "exclamation_mark", "!", "warnings", "Warnings", "Every warning, with file and line"),
    Key("app.budget", "app", "b", "b", "budget", "Budget", "To the sections, with the budget to turn"),
    Key("app.knobs", "app", "K", "K", "knobs", "Knobs", "To the sections, with every parameter of the engine"),
    Key("app.reload", "app", "r", "r", "reload", "Reload", "Read everything from disk again"),
    Key("app.watch", "app", "W", "W", "watch", "Watch", "Stop or go on watching the files"),
    # moving
    *_list_keys(),
    # the item under the cursor, on every screen that has one
    Key("item.toggle", "item", "space", "space", "switch", "On/off", "Switch the item off, or on again", 10),
    Key("item.why", "item", "i", "i", "why", "Why", "Every decision on the item, and what would keep it", 15),
    Key("item.text", "item", "t", "t", "text", "Text", "The whole text, with what was lost marked", 45),
    Key("item.editor", "item", "e", "e", "editor", "Edit", "Open the source in your editor, at its line", 55),
    Key("item.try-text", "item", "E", "E", "try_text", "Try text", "Try another text for a section; no file is changed"),
    Key("item.raise", "item", "plus,equals_sign", "+", "priority(1)", "Raise", "Try a higher priority (engines with priorities)"),
    Key("item.lower", "item", "minus", "-", "priority(-1)", "Lower", "Try a lower priority (engines with priorities)"),
    Key("item.cap-more", "item", "right_curly_bracket", "}", "cap(1)", "More room", "Raise the cap of items of this kind (where the engine has one)"),
    Key("item.cap-less", "item", "left_curly_bracket", "{", "cap(-1)", "Less room", "Lower the cap of items of this kind (where the engine has one)"),
    Key("item.copy", "item", "y", "y", "copy", "Copy", "Copy what is shown of it (OSC 52: the terminal decides)", 70),
    Key("item.copy-to-file", "item", "Y", "Y", "copy_to_file", "Copy to file", "Write what y would copy to a file"),
    # sections
    Key("sections.open", "sections", "enter", "enter", "choose", "Open", "Why it is so, in full"),
    Key("sections.fold", "sections", "left,h", "← h", "screen.fold(True)", "Fold", "Hide the parts of the item"),
    Key("sections.unfold", "sections", "right,l", "→ l", "screen.fold(False)", "Unfold", "Show the parts of the item"),
    Key("sections.fold-all", "sections", "z", "z", "screen.fold_all", "Fold all", "Hide or show all parts"),
    Key("sections.order", "sections", "o", "o", "screen.sort(1)", "Order", "Order by the next column: order, tokens, priority, state, name"),
    Key("sections.order-reverse", "sections", "O", "O", "screen.sort_reverse", "Reverse", "Order the other way round"),
    Key("sections.states", "sections", "f", "f", "screen.states", "States", "Show all, only lost, only cut, only off, or only changed items"),
    # home
    Key("home.filter", "home", "slash", "/", "filter", "Filter", "Show only items whose name holds a text", 30),
    Key("home.budget", "home", "b", "b", "budget", "Budget", "Change the budget: ← → step, or type a number", 20),
    Key("home.knobs", "home", "K", "K", "knobs", "Knobs", "Every parameter of the engine, changed live", 25),
    Key("home.pane-1", "home", "1", "1", "pane(1)", "Sections", "To the sections"),
    Key("home.pane-2", "home", "2", "2", "pane(2)", "Why", "To the reasons"),
    Key("home.pane-3", "home", "3", "3", "pane(3)", "Text", "To the text"),
    Key("home.back", "home", "escape", "esc", "back", "Back", "Close what is open; clear the filter"),
    # knobs
    Key("knobs.less", "knobs", "left,minus,h", "← -", "step(-1)", "Less", "A step down, or the choice before", 11),
    Key("knobs.more", "knobs", "right,plus,equals_sign,l", "→ +", "step(1)", "More", "A step up, or the next choice", 12),
    Key("knobs.less-fast", "knobs", "shift+left,H", "H", "step(-8)", "Less ×8", "Eight steps down"),
    Key("knobs.more-fast", "knobs", "shift+right,L", "L", "step(8)", "More ×8", "Eight steps up"),
    Key("knobs.type", "knobs", "enter", "enter", "choose", "Type", "Type a value; of a few, choose one", 13),
    Key("knobs.toggle", "knobs", "space", "space", "flip", "Switch", "On or off, or the next choice", 10),
    Key("knobs.default", "knobs", "backspace,d", "d", "default", "Default", "Back to the knob's default", 14),
    Key("knobs.back", "knobs", "escape", "esc", "screen.back", "Close", "Close the knobs", 80),
    # budget
    Key("budget.less", "budget", "left,minus,h", "← -", "step(-1)", "Less", "A step less", 11),
    Key("budget.more", "budget", "right,plus,equals_sign,l", "→ +", "step(1)", "More", "A step more", 12),
    Key("budget.less-fast", "budget", "shift+left,H", "H", "step(-8)", "Less ×8", "Eight steps less", 13),
    Key("budget.more-fast", "budget", "shift+right,L", "L", "step(8)", "More ×8", "Eight steps more", 14),
    Key("budget.type", "budget", "enter", "enter", "type", "Type", "Type the number (a digit begins too)", 15),
    Key("budget.back", "budget", "escape", "esc", "screen.back", "Done", "Back to the sections", 80),
    # message lists
    Key("columns.next", "columns", "n", "n", "change(1)", "Change", "To the next change", 8),
    Key("columns.previous", "columns", "N", "N", "change(-1)", "Change before", "To the change before"),
    Key("columns.open", "columns", "enter", "enter", "choose", "Open", "The row in full, in all columns", 9),
    Key("columns.only-changes", "columns", "f", "f", "only_changes", "Only changes", "Show only what changed", 30),
    Key("columns.words", "columns", "d", "d", "words", "Word diff", "Mark the words that differ in the row", 40),
    Key("columns.wrap", "columns", "w", "w", "wrap", "Wrap", "Two lines of each message, or all of it", 42),
    Key("columns.fold", "columns", "z", "z", "fold", "Close all", "Close every row, fold what is the same"),
    Key("columns.left", "columns", "left,h", "← h", "move_column(-1)", "Left", "The column to the left"),
    Key("columns.right", "columns", "right,l", "→ l", "move_column(1)", "Right", "The column to the right"),
    # messages
    Key("messages.stage-before", "messages", "less_than_sign,comma", "<", "stage(-1)", "Step before", "Show the step before in this column"),
    Key("messages.stage-after", "messages", "greater_than_sign,full_stop", ">", "stage(1)", "Step after", "Show the step after in this column", 44),
    Key("messages.stages", "messages", "s", "s", "stages", "Stages", "Choose what this column shows from all steps", 46),
    Key("messages.column-1", "messages", "1", "1", "column(1)", "SESSION", "Show or hide the first list", 47),
    Key("messages.column-2", "messages", "2", "2", "column(2)", "INITIAL", "Show or hide the second list"),
    Key("messages.column-3", "messages", "3", "3", "column(3)", "FINAL", "Show or hide the third list"),
    Key("messages.column-4", "messages", "4", "4", "column(4)", "Recorded", "Show or hide the recorded one"),
    Key("messages.filter", "messages", "slash", "/", "filter", "Find", "Find a text in the messages"),
    Key("messages.back", "messages", "escape", "esc", "back", "Back", "Clear what is looked for; back to the sections", 80),
    Key("messages.away", "messages", "m", "m", "leave", "Back", "Back to where you came from"),
    # text, in full
    Key("text.find", "text", "slash", "/", "find", "Find", "Find a text", 5),
    Key("text.next", "text", "n", "n", "next(1)", "Next", "To the next hit; without a search, to the next stretch that was lost", 6),
    Key("text.previous", "text", "N", "N", "next(-1)", "Before", "To the hit before, or the lost stretch before"),
    Key("text.output", "text", "v", "v", "output", "As sent", "Show what stands in the prompt, or the original", 40),
    Key("text.wrap", "text", "w", "w", "wrap", "Wrap", "Wrap long lines, or cut them at the edge", 50),
    Key("text.back", "text", "escape,t", "esc", "back", "Back", "Clear the search; back", 80),
    # why, in full
    Key("why.fix", "why", "1,2,3,4,5,6,7,8,9", "1-9", "fix", "Try", "Try the change with that number (undo takes it back)", 5),
    Key("why.back", "why", "escape,i", "esc", "back", "Back", "Back", 80),
    # compare
    Key("compare.others", "compare", "s", "s", "others", "Against", "Choose what to compare with: files, scenario, turn, a prompt elsewhere", 12),
    Key("compare.other-before", "compare", "less_than_sign,comma", "<", "other(-1)", "Before", "Compare with the one before in that list"),
    Key("compare.other-after", "compare", "greater_than_sign,full_stop", ">", "other(1)", "After", "Compare with the one after in that list", 14),
    Key("compare.use", "compare", "a", "a", "use", "Use", "Make the other one the current one (undo works)", 22),
    Key("compare.save", "compare", "ctrl+s", "ctrl+s", "save", "Save", "Save the changes as a scenario in promptdbg.toml", 13),
    Key("compare.pane-1", "compare", "1", "1", "pane(1)", "Sections", "To the sections that differ"),
    Key("compare.pane-2", "compare", "2", "2", "pane(2)", "Messages", "To the messages side by side"),
    Key("compare.open", "compare", "enter", "enter", "choose", "Open", "Why it is so now"),
    Key("compare.back", "compare", "escape", "esc", "back", "Back", "Back", 80),
    Key("compare.away", "compare", "c", "c", "leave", "Back", "Back to where you came from"),
    # search
    Key("search.edit", "search", "slash,F,ctrl+f", "/", "edit", "Find", "Change the text searched for", 5),
    Key("search.lost", "search", "f", "f", "lost", "Only lost", "Show only hits the model did not see", 7),
    Key("search.open", "search", "enter", "enter", "choose", "Go to", "Go to the hit", 6),
    Key("search.back", "search", "escape", "esc", "back", "Back", "Back", 80),
    # findings
    Key("findings.open", "findings", "enter", "enter", "choose", "Go to", "To the message or the section", 5),
    Key("findings.others", "findings", "s", "s", "others", "Against", "Choose a scenario or a turn to compare the cached prefix with", 44),
    Key("findings.back", "findings", "escape", "esc", "back", "Back", "Back", 80),
    Key("findings.away", "findings", "p", "p", "leave", "Back", "Back to where you came from"),
    # turns
    Key("turns.open", "turns", "enter", "enter", "choose", "Show", "The prompt of that turn", 5),
    Key("turns.next", "turns", "n", "n", "stop(1)", "Next", "To the next boundary, or the next change of the item", 6),
    Key("turns.previous", "turns", "N", "N", "stop(-1)", "Before", "To the boundary or the change before"),
    Key("turns.left", "turns", "left,h", "← h", "step(-1)", "Turn before", "To the turn before"),
    Key("turns.right", "turns", "right,l", "→ l", "step(1)", "Turn after", "To the turn after"),
    Key("turns.measure", "turns", "v", "v", "measure", "Used/sent", "Show what is used of the limit, or what is sent", 30),
    Key("turns.life", "turns", "z", "z", "life", "Life", "Show or hide the life of the item", 32),
    Key("turns.back", "turns", "escape,T", "esc", "back", "Back", "Back", 80),
    # export
    Key("export.write", "export", "ctrl+s", "ctrl+s", "write", "Write", "Write the file; asks where, and before replacing one", 10),
    Key("export.other", "export", "right,l,space", "→ l", "other(1)", "Other", "The next level or format", 20),
    Key("export.other-before", "export", "left,h", "← h", "other(-1)", "Other before", "The level or format before"),
    Key("export.choose", "export", "enter", "enter", "choose", "Name", "Name the file; on the other rows, the next choice", 30),
    Key("export.back", "export", "escape", "esc", "back", "Back", "Back; nothing is written", 80),
    Key("export.away", "export", "x,ctrl+e", "x", "leave", "Back", "Back to where you came from; nothing is written"),
    # the line that asks
    Key("ask.done", "ask", "ctrl+j", "enter", "done", "Done", "Take what is typed", 10),
    Key("ask.cancel", "ask", "escape", "esc", "cancel", "Cancel", "As it was before", 20),
    # boxes
    Key("choose.choose", "choose", "enter", "enter", "choose", "Choose", "Take the row", 10),
    Key("edit.done", "edit", "ctrl+s", "ctrl+s", "done", "Try it", "Put it in the prompt (a what-if)", 10),
    Key("edit.close", "edit", "escape", "esc", "close", "Cancel", "Leave the text as it was", 20),
    Key("modal.close", "modal", "escape,q", "esc", "close", "Close", "Close", 80),
)
# fmt: on


def keys_of(*places: Place) -> tuple[Key, ...]:
    """The keys of some places, in the table's order."""
    return tuple(key for key in KEYS if key.place in places)


def bindings(*places: Place) -> list[BindingType]:
    """Textual's bindings for some places, the nearest first: a key has the first meaning alone."""
    taken: set[str] = set()
    found: list[BindingType] = []
    for place in places:
        own = keys_of(place)
        for key in own:
            free = [name for name in key.keys.split(",") if name not in taken]
            if free:
                found.append(_binding(key, free))
        taken.update(name for key in own for name in key.keys.split(","))
    return found


def _binding(key: Key, names: list[str]) -> Binding:
    return Binding(
        ",".join(names),
        key.action,
        key.words,
        key_display=key.shown,
        tooltip=key.tooltip,
        id=key.id,
        show=key.rank > 0,
        priority=False,
    )


def here(*places: Place) -> list[Key]:
    """The keys that work in some places, the nearest first: one that means something nearer does
    not mean what it does further out."""
    taken: set[str] = set()
    found: list[Key] = []
    for place in places:
        own = [key for key in keys_of(place) if taken.isdisjoint(key.keys.split(","))]
        found += own
        taken.update(name for key in own for name in key.keys.split(","))
    return found


def node_of(place: Place) -> int:
    """Where the keys of a place are bound: 0 the widget with the focus, 1 the screen, 2 the program. The
    nearer one has a key that both have."""
    return 2 if place == "app" else 0 if place in _WIDGETS else 1


_WIDGETS: frozenset[Place] = frozenset({"list", "sections", "knobs", "budget", "columns", "choose", "ask"})

TOGETHER: tuple[tuple[Place, ...], ...] = (
    ("sections", "list", "home", "item", "app"),
    ("knobs", "list", "home", "item", "app"),
    ("budget", "home", "item", "app"),
    ("columns", "list", "messages", "item", "app"),
    ("columns", "list", "compare", "item", "app"),
    ("list", "home", "item", "app"),
    ("list", "compare", "item", "app"),
    ("list", "text", "item", "app"),
    ("list", "why", "item", "app"),
    ("list", "search", "item", "app"),
    ("list", "findings", "item", "app"),
    ("list", "turns", "item", "app"),
    ("list", "export", "app"),
    ("choose", "list", "modal"),
    ("edit",),
    ("modal",),
    ("ask",),
)
"""The places whose keys work at the same time, the nearest first."""
