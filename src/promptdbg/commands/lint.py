"""Check the final list (or, with --final, a recorded request) against what providers demand: calls
and results in pairs and in place, roles, empty messages, images, sizes. The exit code is 1 where
something was found.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from promptdbg.analysis.lint import NOT_KNOWN, Finding, lint, lint_assembly
from promptdbg.analysis.requests import PROVIDERS, Provider, messages_of
from promptdbg.commands import options
from promptdbg.render import Line, Piece, columns, line, on_disk, wrapped, write, write_json
from promptdbg.text import plural

SCHEMA = "promptdbg/lint/1"


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_workspace(parser)
    parser.add_argument(
        "--provider",
        action="append",
        default=[],
        choices=PROVIDERS,
        help="whose rules; repeatable; default: OpenAI chat and Anthropic, or a request's own shape",
    )
    parser.add_argument("--final", metavar="FILE", help="check this recorded request (JSON) instead")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    findings, count, known = _found(arguments)
    if arguments.json:
        write_json(document(findings, known=known))
    else:
        write(lines(findings, count, columns(), known=known))
    return 1 if findings else 0


def _found(arguments: argparse.Namespace) -> tuple[list[Finding], int, bool]:
    """The findings, of how many messages, and whether their texts are known."""
    if arguments.final:
        from promptdbg.export.load import read_json

        messages, shape = messages_of(read_json(Path(arguments.final)))
        providers: Sequence[Provider] = arguments.provider or [shape]
        return [f for provider in providers for f in lint(messages, provider)], len(messages), True
    assembly = options.debugger(arguments).assembly
    providers = arguments.provider or ["openai-chat", "anthropic"]
    count = len(assembly.stages[-1].messages) if assembly.stages else 0
    found = [f for provider in providers for f in lint_assembly(assembly, provider)]
    return found, count, not assembly.without_texts


def document(findings: Sequence[Finding], *, known: bool = True) -> dict[str, Any]:
    """The findings as JSON; the keys are the fields of ``Finding``. ``not_known`` says what could not be
    looked at; it is there only where the texts are not ``known``."""
    found = [asdict(finding) for finding in findings]
    return {"schema": SCHEMA, "findings": found} | ({} if known else {"not_known": NOT_KNOWN})


def lines(findings: Sequence[Finding], count: int, cells: int, *, known: bool = True) -> Iterator[Line]:
    """The findings, line by line."""
    if not known:
        yield from wrapped(NOT_KNOWN, cells)
    if not findings and not known:
        return
    if not findings:
        yield line(f"{plural(count, 'message')}, nothing that a provider would refuse.")
        return
    for finding in findings:
        where = f" ({on_disk(finding.source)})" if finding.source else ""
        call = f", call {finding.call}" if finding.call else ""
        item = f" {finding.item}" if finding.item else ""
        head = f"message {finding.index}{item}{call}{where}: {finding.message}"
        yield line(Piece(f"{finding.provider} ", "muted"), Piece(finding.code, "warning"))
        yield from wrapped(head, cells, indent="  ")
        since = f" Since stage {finding.introduced}." if finding.introduced else ""
        yield from wrapped(f"Repair: {finding.repair}.{since}", cells, indent="  ", tone="muted")
    yield line(Piece(f"{len(findings):,} found in {plural(count, 'message')}.", "title"))
