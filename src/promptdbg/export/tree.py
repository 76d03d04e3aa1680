"""Sections that come from elsewhere as a tree: each is there once, and is reached from the top."""

from __future__ import annotations

from collections.abc import Sequence

from promptdbg.model import Section

DEPTH_MAX = 100
"""Parents above a section at the most: no prompt is made of more, and every view shows them."""


def check_tree(sections: Sequence[Section]) -> None:
    """
    Raises:
        ValueError: an id stands twice, a parent is none of the sections, or a section is its own parent by
            whatever way, or has too many of them.
    """
    parents: dict[str, str | None] = {}
    for section in sections:
        if section.id in parents:
            raise ValueError(f"two sections have the id {section.id!r}")
        parents[section.id] = section.parent
    deep: dict[str, int] = {}
    for item, parent in parents.items():
        way = []
        while item not in deep and parent is not None:
            if parent not in parents:
                raise ValueError(f"section {item!r} is part of {parent!r}, which is no section")
            way.append(item)
            if len(way) > DEPTH_MAX:
                raise ValueError(
                    f"section {way[0]!r} has more than {DEPTH_MAX} parents, or is one of its own"
                )
            item, parent = parent, parents[parent]
        depth = deep.setdefault(item, 0)
        for part in reversed(way):
            depth += 1
            if depth > DEPTH_MAX:
                raise ValueError(f"section {part!r} has more than {DEPTH_MAX} parents")
            deep[part] = depth
