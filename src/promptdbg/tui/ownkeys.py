"""A person's own keys where they meet others: which key has which meaning then, and which has none. Pure.

Textual gives a key that two bindings have to one of them without a word: to the nearer one, and of one
place to the one that the person set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from promptdbg.tui.keys import TOGETHER, Key, Place, here, keys_of, node_of


@dataclass(frozen=True, slots=True)
class Clash:
    """A key that two bindings have: ``loser`` does not get it, and has ``left`` where it has others."""

    name: str
    winner: str
    loser: str
    left: str = ""


def keys_here(own: Mapping[str, str], *places: Place) -> list[Key]:
    """The keys of some places as this person presses them, the nearest first, without those that have
    lost all their names to others."""
    return _settled(own, places)[0]


def clashes(own: Mapping[str, str]) -> tuple[Clash, ...]:
    """Every clash that these keys bring in, once."""
    if not own:
        return ()
    found = (clash for places in TOGETHER for clash in _settled(own, places)[1])
    return tuple(dict.fromkeys(found))


def clash_lines(own: Mapping[str, str]) -> list[str]:
    """The clashes for a person: one line a key, however many bindings have it."""
    losers: dict[tuple[str, str, str], list[str]] = {}
    for clash in clashes(own):
        losers.setdefault((clash.name, clash.winner, clash.left), []).append(clash.loser)
    winners: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (name, winner, left), beaten in losers.items():
        winners.setdefault((name, left, tuple(beaten)), []).append(winner)
    lines = []
    for (name, left, lost), won in winners.items():
        one = len(lost) == 1
        rest = f"{'keeps' if one else 'keep'} {left}" if left else f"{'has' if one else 'have'} no key there"
        lines.append(f"[keys] {name} is {', '.join(won)}: {', '.join(lost)} {rest}")
    return lines


def _settled(own: Mapping[str, str], places: tuple[Place, ...]) -> tuple[list[Key], list[Clash]]:
    if not own:
        return here(*places), []
    # What is hidden by another key on purpose stays so only as long as that key is where it was.
    table = [key for place in places for key in keys_of(place)]
    first = sorted(table, key=lambda key: (node_of(key.place), key.id not in own))
    taken: dict[str, Key] = {}
    kept: dict[str, Key] = {}
    found: list[Clash] = []
    for key in first:
        names = [name.strip() for name in own.get(key.id, key.keys).split(",")]
        left = [name for name in names if name not in taken]
        lost = [name for name in names if name in taken]
        meant = any(_by_design(key, taken[name]) for name in lost)
        if left and not (meant and key.id not in own):
            kept[key.id] = _named(key, own, names, left)
        found += [] if meant else list(_clashes(key, lost, left, taken))
        taken |= dict.fromkeys(left, key)
    return [kept[key.id] for key in table if key.id in kept], found


def _by_design(key: Key, other: Key) -> bool:
    """Whether the nearer of two is meant to stand before the other: they share a key in the table, too."""
    return not set(key.keys.split(",")).isdisjoint(other.keys.split(","))


def _clashes(key: Key, lost: list[str], left: list[str], taken: Mapping[str, Key]) -> Iterator[Clash]:
    for name in lost:
        yield Clash(name, taken[name].id, key.id, ", ".join(left))


def _named(key: Key, own: Mapping[str, str], names: list[str], left: list[str]) -> Key:
    """The key with the names it is left with."""
    if key.id in own:
        return replace(key, keys=",".join(left), shown=left[0])
    if left == names:
        return key
    words = key.shown.split(" ")
    shown = " ".join(word for word, name in zip(words, names, strict=False) if name in left)
    return replace(key, keys=",".join(left), shown=shown if len(words) == len(names) else left[0])
