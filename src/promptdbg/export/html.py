"""An assembly as one HTML file: the bar, the sections with their reasons, the lists aligned.

Readable without script, makes no request, and everything of the prompt in it is text: it is
escaped, the page has no script of its own and forbids any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from promptdbg.analysis.align import align_assembly
from promptdbg.analysis.alignment import PRESENT, Alignment, Cell
from promptdbg.analysis.blocks import full_text, title
from promptdbg.marks import mark_of_section
from promptdbg.model import Assembly, Budget, Decision, Rule, Section
from promptdbg.text import plural, safe

# The browser is told to load and run nothing at all, whatever an escaped text might turn into.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_STYLE = """
:root { --fg: #1c2128; --dim: #656d76; --bg: #fff; --line: #d8dee4; --warn: #9a6700; --accent: #0550ae;
  --soft: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --fg: #e6edf3; --dim: #8d96a0; --bg: #0d1117; --line: #30363d;
  --warn: #d29922; --accent: #79c0ff; --soft: #161b22; } }
body { color: var(--fg); background: var(--bg); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 78rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .2rem .6rem; text-align: left;
  vertical-align: top; border-bottom: 1px solid var(--line); } th { color: var(--dim); font-weight: 600; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.state { white-space: nowrap; }
.dim { color: var(--dim); } .warning { color: var(--warn); } .muted { color: var(--dim); }
.accent { color: var(--accent); }
.lost { background: #ffd8b5; color: #3d1d00; text-decoration: line-through; }
pre { background: var(--soft); padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere;
  margin: .3rem 0; font: 13px/1.45 ui-monospace, monospace; } summary { cursor: pointer; }
.bar { display: flex; height: 1.6rem; border: 1px solid var(--line); }
.bar span { display: block; border-right: 1px solid var(--bg); min-width: 1px; }
.p0 { background: #0550ae; } .p1 { background: #bf8700; } .p2 { background: #6e7781; }
.p3 { background: #8250df; } .p4 { background: #1a7f37; } .p5 { background: #a40e26; }
.key { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; } .lists td { width: 33%; }
"""


def html(assembly: Assembly, report: str = "") -> str:
    """The assembly as an HTML page. ``report`` is what was hidden in it."""
    engine = assembly.engine
    name = _text(f"{engine.title} {engine.version}".strip())
    body = "\n".join(_body(assembly, report))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Prompt of {name}</title>\n<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _body(assembly: Assembly, report: str) -> Iterator[str]:
    engine, tokenizer = assembly.engine, assembly.tokenizer
    yield f"<h1>Prompt of {_text(engine.title)} {_text(engine.version)}</h1>"
    mark = "" if tokenizer.exact else "≈ "
    turn = "" if assembly.turn is None else f" · turn {assembly.turn} of {len(assembly.turns)}"
    yield f'<p class="dim">tokens by {mark}{_text(tokenizer.name)} · {_text(engine.fidelity)}{turn}</p>'
    if report:
        yield f'<p class="dim">{_text(report)}</p>'
    if assembly.failure is not None:
        yield f'<p class="warning">The real framework fails here: {_text(assembly.failure.message)}</p>'
    yield from _budget(assembly.budget)
    yield from _sections(assembly)
    yield from _warnings(assembly)
    if assembly.stages:
        yield from _lists(align_assembly(assembly))


def _budget(budget: Budget) -> Iterator[str]:
    limit = "no limit" if budget.limit is None else f"of {budget.limit:,}"
    yield f"<h2>Budget: {budget.used:,} {_text(budget.unit)} used, {limit}</h2>"
    positive = [part for part in budget.parts if part.tokens > 0]
    whole = max(budget.used, budget.limit or 0, 1)
    bars = "".join(
        f'<span class="p{n % 6}" style="width:{100 * part.tokens / whole:.3f}%"></span>'
        for n, part in enumerate(positive)
    )
    yield f'<div class="bar">{bars}</div><p>'
    for n, part in enumerate(positive):
        yield f'<span class="key p{n % 6}"></span>{_text(part.name)} {part.tokens:,}'
    for part in budget.parts:
        if part.tokens < 0:
            yield f'<span class="dim"> · {_text(part.name)} {part.tokens:,}</span>'
    yield "</p>"


def _sections(assembly: Assembly) -> Iterator[str]:
    if not assembly.sections:
        return
    yield "<h2>Sections</h2><table><tr><th>state</th><th>section</th>"
    yield '<th class="n">priority</th><th class="n">tokens</th><th class="n">of</th><th>why</th></tr>'
    depth: dict[str, int] = {}
    rules = {rule.id: rule for rule in assembly.rules}
    decisions = assembly.decisions_by_item()
    for section in assembly.sections:
        depth[section.id] = depth.get(section.parent, -1) + 1 if section.parent else 0
        why = "".join(_why(rules.get(made.rule), made) for made in decisions.get(section.id, ()))
        yield _section_row(section, why, depth[section.id])
    yield "</table>"


def _section_row(section: Section, why: str, depth: int) -> str:
    mark = mark_of_section(section)
    priority = "" if section.priority is None else f"{section.priority:g}"
    text = f"<details><summary>text</summary><pre>{_spans(section)}</pre></details>" if section.text else ""
    where = f' <span class="dim">{_text(str(section.source))}</span>' if section.source else ""
    return (
        f'<tr><td class="state {mark.tone}">{mark.mark} {mark.word}</td>'
        f'<td style="padding-left:{0.6 + 1.2 * depth:.1f}rem">{_text(section.name)}{where}{text}</td>'
        f'<td class="n">{priority}</td><td class="n">{section.tokens:,}</td>'
        f'<td class="n">{section.tokens_original:,}</td><td>{why}</td></tr>'
    )


def _why(rule: Rule | None, decision: Decision) -> str:
    named = (
        decision.rule if rule is None else f"{rule.title} · {rule.framework} {rule.version} · {rule.source}"
    )
    return f'<div>{_text(decision.because)}<br><span class="dim">{_text(named)}</span></div>'


def _spans(section: Section) -> str:
    """The original text with what is lost struck through."""
    if not section.spans:
        return _text(section.text)
    pieces = (
        _text(piece) if span.kept else f'<span class="lost">{_text(piece)}</span>'
        for span in section.spans
        if (piece := section.text[span.start : span.end])
    )
    return "".join(pieces)


def _warnings(assembly: Assembly) -> Iterator[str]:
    if assembly.warnings:
        yield "<h2>Warnings</h2><ul>"
        for notice in assembly.warnings:
            where = f"{notice.source}: " if notice.source else ""
            yield f"<li>{_text(where + notice.message)} <span class='dim'>{_text(notice.code)}</span></li>"
        yield "</ul>"


def _lists(alignment: Alignment) -> Iterator[str]:
    yield '<h2>Message lists</h2><table class="lists"><tr>'
    for column in alignment.columns:
        count, tokens = column.length, column.tokens
        yield f"<th>{_text(column.stage.title)} · {plural(count, 'message')} · {plural(tokens, 'token')}</th>"
    yield "</tr>"
    folded = {row: fold for fold in alignment.folds() for row in (fold.start,)}
    hidden = {row for fold in alignment.folds() for row in range(fold.start, fold.end)}
    for row in range(alignment.length):
        if row in folded:
            fold = folded[row]
            inside = "".join(_row(alignment.cells(n)) for n in range(fold.start, fold.end))
            yield f'<tr><td colspan="{len(alignment.columns)}"><details><summary class="dim">'
            yield f"{plural(len(fold), 'row')} the same in all</summary>"
            yield f'<table class="lists">{inside}</table></details></td></tr>'
        elif row not in hidden:
            yield _row(alignment.cells(row))
    yield "</table>"


def _row(cells: Iterable[Cell]) -> str:
    return "<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in cells) + "</tr>"


def _cell(cell: Cell) -> str:
    reasons = "".join(f'<div class="dim">{_text(d.because)}</div>' for d in cell.decisions)
    word = f' <span class="warning">{_text(cell.word)}</span>' if cell.word else ""
    if cell.kind not in PRESENT or cell.message is None:
        return f"{_text(cell.sign)}{word}{reasons}"
    if cell.sign == "=":
        return '<span class="dim">=</span>'
    message = cell.message
    head = f'{_text(cell.sign)} {_text(title(message))} <span class="dim">{message.tokens:,}</span>{word}'
    text = f"<pre>{_text(full_text(message))}</pre>"
    return f'{head}{reasons}<details><summary class="dim">text</summary>{text}</details>'


def _text(value: str) -> str:
    """Text as text: no markup, no control or bidi character of it acts."""
    return escape(safe(value), quote=True)
