"""Counting and assembling."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from promptdbg.debug import Debugger, Opened, open_workspace
from promptdbg.model import Settings
from promptdbg.tokens import Tokenizer, load_encoding, tokenizer
from tests.bench.measuring import Result, best, bound, growth, in_turn, ratio
from tests.bench.workspaces import GROWN, grown, text

_KNOBS = {
    "nanobot": ("context_window", 40_000, 60_000),
    "orbiter": ("neuron_budget", 500, 600),
    "bee": ("budget", 400, 500),
    "phronomy": ("context_window", 4_000, 5_000),
    "agentos": ("window", 4_000, 5_000),
}
"""A knob of each engine that changes what is kept, and two values of it."""


def counting() -> Iterator[Result]:
    """Our counter, which looks a text up before it encodes it, against the bare encoding."""
    source = "\n".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parent.parent.rglob("*.py")
    )
    texts = source.split("\n\n")
    for name in ("o200k_base", "cl100k_base"):
        encoding = load_encoding(name)

        def bare(encode: object = encoding.encode_ordinary) -> int:
            assert callable(encode)
            return sum(len(encode(piece)) for piece in texts)

        def ours(name: str = name) -> int:
            counter = Tokenizer(tokenizer(name).info, name)  # a new one: nothing is cached
            return sum(map(counter.count, texts))

        assert ours() <= bare()
        mine, theirs = in_turn(ours, bare)
        kilobytes = sum(map(len, texts)) // 1000
        yield ratio(
            f"count {kilobytes:,} kB of text, {name}, against bare tiktoken",
            mine,
            theirs,
            1.1,
            told=name == "o200k_base",
        )
    for blank in (" ", "\t", "\u00a0"):
        yield growth(f"count {2_400_000:,} of {blank!a}, to {240_000:,}", partial(_run, blank), 240_000)
    whole = text(0, 200_000)
    counter = tokenizer()
    counter.count(whole)
    yield bound(f"count a text of {len(whole) // 1000:,} kB again", best(lambda: counter.count(whole)))


def _run(blank: str, count: int) -> Callable[[], int]:
    """Counts a long run of blanks, and then two runs that are each just short of a block."""
    text = f"x{blank * (count // 2)}y{blank * (count // 4)}\n{blank * (count // 4)}x"
    return lambda: Tokenizer(tokenizer().info, tokenizer().info.name).count(text)


def knob() -> Iterator[Result]:
    """A knob turned on a long session: what a key press in the UI waits for."""
    with tempfile.TemporaryDirectory() as folder:
        debugger = Debugger(open_workspace(grown("nanobot", 3_000, Path(folder))))
        yield bound("nanobot, 3,000 messages: turn the context window", _turned(debugger), 0.05)


def _turned(debugger: Debugger) -> float:
    """Seconds from a knob's change to the new assembly, everything counted before."""
    name, low, high = _KNOBS[debugger.opened.engine.name]
    values = iter([low, high] * 10)

    def turn() -> None:
        debugger.set_knob(name, next(values))

    turn()
    turn()
    return best(turn, runs=7)


def assembling(sizes: tuple[int, ...] = (1_000, 10_000, 100_000)) -> Iterator[Result]:
    """Every engine on more and more messages; token counts are cached, as they are after the first."""
    for name in GROWN:
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                opened = open_workspace(grown(name, size, Path(folder)))
                most = 0.1 if size == 10_000 else None
                yield bound(
                    f"{name}: assemble {size:,} messages", _assembled(opened), most, told=size == 10_000
                )


def _assembled(opened: Opened) -> float:
    name, low, high = _KNOBS[opened.engine.name]
    tried = [Settings().with_value(name, value) for value in (low, high)]
    counter = tokenizer()
    for settings in tried:
        opened.engine.assemble(opened.inputs, settings, counter)
    each = iter(tried * 3)
    return best(lambda: opened.engine.assemble(opened.inputs, next(each), counter), runs=6)
