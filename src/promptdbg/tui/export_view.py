"""What an export of a prompt would hold and hide, as paragraphs to read before it is written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from promptdbg.analysis.items import message_texts
from promptdbg.export.levels import Export, Level
from promptdbg.model import Assembly
from promptdbg.text import named, one_line, pad, plural, safe
from promptdbg.tui.picture import messages_of
from promptdbg.tui.wrapping import BLANK, Paragraph, say

LEVEL_WORDS: dict[Level, str] = {
    "structure": "sizes and rules; no text, only well-known names",
    "redacted": "texts; what has the shape of a secret is hidden",
    "full": "every text as it is",
}
"""Short enough to be read whole in the smallest window with room for them, 80 columns."""
FORM_WORDS = {
    "json": "for programs; opens here again",
    "md": "for an issue",
    "html": "one page for a browser",
    "svg": "a picture of the sections",
}

_PLACEHOLDER = re.compile(r"‹([a-z][a-z0-9-]*)-\d+›")
_PLACES_SHOWN = 4
_AROUND = 40
"""Characters shown on either side of a placeholder."""
_NAMES_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Hidden:
    """One place where something was hidden: the item's name and the redacted text around it."""

    name: str
    before: str
    placeholder: str
    after: str


@dataclass(frozen=True, slots=True)
class Preview:
    """An export, made but not written, and where in it something was hidden, by kind."""

    made: Export
    places: Mapping[str, tuple[Hidden, ...]]


def preview_of(made: Export) -> Preview:
    """Finds the places; the texts they are shown with are the redacted ones."""
    places: dict[str, list[Hidden]] = {}
    if made.level == "redacted" and made.assembly is not None:
        for place in _places(made.assembly):
            kind = place.placeholder.strip("‹›").rpartition("-")[0]
            if kind in made.hidden:  # what the prompt itself writes that way was not hidden by us
                places.setdefault(kind, []).append(place)
    return Preview(made, {kind: tuple(found) for kind, found in places.items()})


def _places(assembly: Assembly) -> Iterator[Hidden]:
    parents = {section.parent for section in assembly.sections if section.parent}
    for section in assembly.sections:
        if section.id not in parents:
            yield from _places_in(section.name, section.text)
    for message in messages_of(assembly):
        if message.role != "system" or not assembly.sections:
            for text in message_texts(message):
                yield from _places_in(named(message.role, message.id), text)


def _places_in(name: str, text: str) -> Iterator[Hidden]:
    for match in _PLACEHOLDER.finditer(text):
        start, end = match.span()
        before = text[max(0, start - _AROUND) : start].rpartition("\n")[2]
        after = text[end : end + _AROUND].partition("\n")[0]
        yield Hidden(one_line(name), safe(before, lines=False), match[0], safe(after, lines=False))


def preview_lines(preview: Preview, assembly: Assembly) -> list[Paragraph]:
    """What the export would hold and hide.

    Args:
        assembly: the prompt as it is, to say what of it stays out.
    """
    made = preview.made
    if made.level == "structure":
        return _structure_lines(made, assembly)
    if made.level == "full":
        return _full_lines(assembly)
    return _redacted_lines(preview)


def _amounts(assembly: Assembly) -> str:
    lists = plural(len(assembly.stages), "list")
    return (
        f"{plural(len(assembly.sections), 'section')}, "
        f"{plural(len(messages_of(assembly)), 'message')} in {lists}, "
        f"{plural(len(assembly.decisions), 'decision')}"
    )


def _structure_lines(made: Export, assembly: Assembly) -> list[Paragraph]:
    shown = [str(entry.get("name", "")) for entry in made.document.get("sections", ())]
    kept = [
        name for name, section in zip(shown, assembly.sections, strict=False) if name == section.name and name
    ]
    replaced = len(shown) - len(kept)
    return [
        say(("Written", "virtual--strong"), f"  {_amounts(assembly)}", hang=9),
        say(
            "order, kinds, priorities, sizes in every unit, statuses, rules and their numbers, roles, how "
            "the lists align, and hashes that only this machine can compare",
            indent=9,
        ),
        BLANK,
        say(("Hidden", "virtual--strong"), "   every text, path, user, host, time and question", hang=9),
        say(f"{plural(replaced, 'section name')} replaced by placeholders such as file-3.md", indent=9),
        BLANK,
        say(("Names that stay", "virtual--strong")),
        *_names(kept),
    ]


def _names(kept: Sequence[str]) -> list[Paragraph]:
    if not kept:
        return [say(("none", "virtual--muted"), indent=2)]
    shown = ", ".join(one_line(name) for name in dict.fromkeys(kept[:_NAMES_SHOWN]))
    more = f" and {len(kept) - _NAMES_SHOWN:,} more" if len(kept) > _NAMES_SHOWN else ""
    return [say(shown + more, indent=2)]


def _full_lines(assembly: Assembly) -> list[Paragraph]:
    return [
        say(
            ("Nothing is hidden.", "virtual--error"),
            " The file holds every text of this prompt: memory, messages, tool results, paths, and "
            "whatever keys stand in them. Share it with care.",
        ),
        BLANK,
        say(("Written", "virtual--strong"), f"  {_amounts(assembly)}", hang=9),
    ]


def _redacted_lines(preview: Preview) -> list[Paragraph]:
    made = preview.made
    lines: list[Paragraph] = []
    if made.hidden:
        count = sum(made.hidden.values())
        lines.append(say((f"{plural(count, 'value')} hidden", "virtual--strong"), ", by kind:"))
    else:
        lines.append(say(("Nothing was found to hide.", "virtual--strong")))
    for kind, number in made.hidden.items():
        lines += _kind_lines(kind, number, preview.places.get(kind, ()))
    lines += [BLANK, *(_doubt(doubt) for doubt in made.doubts)]
    lines.append(
        say(
            ("Secrets are known by their shape. What looks like plain words stays: look it over before "
             "you share it; ", "virtual--muted"),
            ("[redact] in promptdbg.toml adds patterns.", "virtual--muted"),
        )
    )  # fmt: skip
    return lines


def _kind_lines(kind: str, number: int, places: Sequence[Hidden]) -> Iterator[Paragraph]:
    where = f" in {plural(len(places), 'place')}" if places else " in names and paths"
    yield say((pad(kind, 18), "virtual--accent"), f"{number:>4,}", (where, "virtual--muted"), indent=2)
    for place in places[:_PLACES_SHOWN]:
        yield say(
            (pad(place.name, 24) + " ", "virtual--muted"),
            place.before,
            (place.placeholder, "virtual--match"),
            place.after,
            indent=4,
            hang=25,
        )
    if len(places) > _PLACES_SHOWN:
        yield say((f"and {len(places) - _PLACES_SHOWN:,} more", "virtual--muted"), indent=4)


def _doubt(text: str) -> Paragraph:
    return say(("Not judged  ", "virtual--warning"), safe(text, lines=False), hang=12)


def progress_lines(done: int, total: int, full: str, rest: str) -> list[Paragraph]:
    """A bar of how far the search for secrets is, in characters."""
    share = min(done / total, 1.0) if total else 0.0
    cells = round(share * 40)
    words = f" {share:.0%} of {total:,} characters"
    return [
        say("Looking for secrets and personal data …"),
        say((full * cells, "virtual--accent"), (rest * (40 - cells), "virtual--muted"), words),
    ]


def suggested_name(level: Level, form: str) -> str:
    """The name of a file nobody has named: it says what is in it."""
    return f"prompt.{level}.{form}"


def written_sentence(path: str, made: Export, size: int) -> str:
    """What was written and what was hidden."""
    return f"wrote {one_line(path)} ({plural(size, 'byte')}) · {made.report()}"
