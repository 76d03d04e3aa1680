"""Analysis and export on long sessions: commands as whole processes, and the searches behind them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from promptdbg.analysis.align import align, align_assembly
from promptdbg.analysis.diff import word_diff
from promptdbg.analysis.fixes import fixes
from promptdbg.analysis.tried import Tried, lost_items
from promptdbg.analysis.turns import Timeline
from promptdbg.debug import Debugger, open_workspace
from promptdbg.export.redact import Redactor
from promptdbg.export.structure import structure
from promptdbg.export.views import views
from promptdbg.model import StageKind
from tests.analysis.long_lists import long_session
from tests.analysis.texts import HARD
from tests.bench.measuring import Result, best, bound, growth, in_turn, ratio
from tests.bench.workspaces import grown, text


def explaining() -> Iterator[Result]:
    """``why`` and ``trace`` as whole processes, ``fixes`` for one item and for all that is lost."""
    with tempfile.TemporaryDirectory() as folder:
        path = grown("nanobot", 3_000, Path(folder))
        debugger = Debugger(open_workspace(path))
        debugger.set_knob("context_window", 60_000)
        tokens = sum(m.tokens for m in debugger.assembly.stages[0].messages)
        lost = lost_items(debugger.assembly)
        said = f"3,000 messages of {tokens:,} tokens"
        for words in (["why", str(path), "m0", "--no-fixes"], ["trace", str(path), "the lower path"]):
            run = partial(_run, "-m", "promptdbg", *words)
            yield bound(
                f"promptdbg {words[0]}, {said}, whole process", best(run), 0.3, told=words[0] == "why"
            )
        search = partial(fixes, debugger.preview, debugger.settings, debugger.opened.knobs)
        yield bound("fixes for one lost message of them", best(lambda: search(lost[0]), runs=3), 1, told=True)

        def every() -> None:
            tried = Tried(debugger.preview, debugger.settings)
            for item in lost:
                search(item, tried=tried)

        yield bound(f"fixes for all {len(lost):,} lost", best(every, runs=1), 10)


def _run(*words: str) -> None:
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)


def turning() -> Iterator[Result]:
    """Every turn of a session one after another: beside assembling it, comparing each should cost little."""
    with tempfile.TemporaryDirectory() as folder:
        debugger = Debugger(open_workspace(grown("nanobot", 3_000, Path(folder))))
        debugger.set_knob("context_window", 60_000)
        turns = debugger.opened.turns
        numbers = [turn.number for turn in turns[-12:]]

        def assemble() -> None:
            for number in numbers:
                debugger.preview(debugger.settings.with_turn(number))

        def look() -> None:
            timeline = Timeline(turns, debugger.settings, debugger.preview)
            for number in numbers:
                timeline.look(timeline.place_of(number))

        looking, assembling = in_turn(look, assemble, runs=5)
        said = f"{len(numbers)} turns of 3,000 messages, compared with each other"
        yield ratio(f"{said}, to assembling them", looking, assembling, 2)


def aligning() -> Iterator[Result]:
    """The three lists side by side."""
    with tempfile.TemporaryDirectory() as folder:
        debugger = Debugger(open_workspace(grown("nanobot", 50_000, Path(folder))))
        debugger.set_knob("context_window", 1_000_000)
        assembly = debugger.assembly
        lists = [stage for stage in assembly.stages if stage.kind is not StageKind.STEP]
        said = " + ".join(f"{len(stage.messages):,}" for stage in lists)
        yield bound(f"align {said} messages", best(lambda: align_assembly(assembly)), 0.15, told=True)
        yield bound("structure export of them", best(lambda: structure(assembly, b"salt"), runs=3), 2)
    yield growth(
        "align 50,000 messages, many lost and rewritten, to 5,000",
        lambda count: partial(align, long_session(count)),
        5_000,
    )


def comparing() -> Iterator[Result]:
    """The word difference of long texts that are hard to compare."""
    for kind, made in HARD.items():
        yield growth(
            f"word difference, {kind}, 20,000 to 2,000",
            lambda size, made=made: partial(word_diff, *made(size)),  # type: ignore[misc]
            2_000,
        )


_SECRETS = (
    "Authorization: Bearer 9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "postgres://admin:correct-horse-battery@db.example.org:5432/main",
    "write to jane.roe@example.org or call +44 20 7946 0958",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzq8r5tHv2w1L",
)


def redacting() -> Iterator[Result]:
    """Prose, code and tool results with secrets here and there, until it is ten megabytes."""
    source = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))
    )
    texts = []
    size = number = 0
    while size < 10_000_000:
        secret = f"{_SECRETS[number % len(_SECRETS)]}{number}" if number % 20 == 0 else ""
        texts.append("\n".join((text(number, 400), source[: number % len(source)], secret)))
        size += len(texts[-1])
        number += 1

    def redact() -> None:
        redactor = Redactor(texts)
        for entry in texts:
            redactor.redact(entry)

    yield bound(f"redact {size / 1e6:.1f} MB in {len(texts):,} texts", best(redact, runs=2), 5, told=True)
    yield growth(
        "take the line breaks out of 600,000 blanks, to 60,000",
        lambda count: partial(_read, (" " * (count // 2) + "x\n") * 2),
        60_000,
    )


def _read(text: str) -> None:
    for view in views(text):
        assert view.text
