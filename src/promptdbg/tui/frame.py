"""The words around every screen, made from a picture: what the header and the banner say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from promptdbg.model import EngineInfo
from promptdbg.text import clip_middle, one_line, safe
from promptdbg.tui.changes import turn_name
from promptdbg.tui.picture import Picture
from promptdbg.tui.status import counts_text
from promptdbg.tui.widgets.chrome import Cell
from promptdbg.tui.wrapping import Piece

NAME_CELLS = 32
"""Cells of a name from disk in a header: a longer one would push out all the rest."""


def header_cells(picture: Picture, watching: str, *, stale: bool, ascii_only: bool) -> Sequence[Cell]:
    """Workspace, session, turn, engine, tokenizer, counts, watching; the last wanted go first."""
    assembly = picture.assembly
    tokenizer = assembly.tokenizer
    exact = "exact" if tokenizer.exact else "estimate"
    about = "" if tokenizer.exact else "≈ " if not ascii_only else "~ "
    session = Path(assembly.session).name if assembly.session else ""
    turns = len(assembly.turns)
    turn = turn_name(assembly.turn, turns) if turns else ""
    changed = "changed (c)" if picture.tried else ""
    lost = f"{picture.messages_lost:,} lost/cut (m)" if picture.messages_lost else ""
    return (
        Cell(clip_middle(one_line(Path(assembly.workspace).name), NAME_CELLS), "virtual--strong"),
        Cell(clip_middle(one_line(session), NAME_CELLS), rank=7),
        Cell(turn, rank=3),
        Cell(one_line(f"{assembly.engine.title} {assembly.engine.version}"), rank=6),
        Cell("RECORDING" if picture.recorded else "", "virtual--warning", rank=1),
        Cell(doubt(assembly.engine), "virtual--warning", rank=3),
        Cell(f"{about}{tokenizer.name} ({exact})", "virtual--muted", rank=8),
        Cell(counts_text(picture.counts, ascii_only), rank=1, right=True),
        Cell(lost, rank=1, right=True),
        Cell(changed, "virtual--accent", rank=5, right=True),
        # What is usual goes first.
        state_cell(watching, stale=stale, rank=4 if watching == "WATCHING" else 2),
    )


def state_cell(watching: str, *, stale: bool, rank: int) -> Cell:
    """Whether the files are followed, or could not be read as they are now."""
    style = "virtual--error" if stale else "virtual--muted"
    return Cell("STALE" if stale else watching, style, rank=0 if stale else rank, right=True)


def doubt(engine: EngineInfo) -> str:
    """That what is shown is not what the framework itself would make, and the key that says in what."""
    if engine.fidelity in ("exact", "as recorded"):
        return ""
    return "stand-ins (!)" if "stand-in" in engine.fidelity else "not exact (!)"


def banner(picture: Picture | None, stale: str) -> Sequence[Piece]:
    """What is wrong, if anything: stale files first, then a failure of the framework."""
    if stale:
        return [("STALE  ", "virtual--error"), (safe(stale, lines=False), "")]
    failure = picture.assembly.failure if picture else None
    if failure is None or picture is None:
        return []
    title = picture.assembly.engine.title
    line = f"{failure.error} in {failure.where}: {failure.message}"
    return [(f"{one_line(title)} FAILS HERE  ", "virtual--error"), (safe(line, lines=False), "")]
