"""The retrieved context under the token budget (``PromptEngine.ts::applyTokenBudget``, second half)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from promptdbg.bulk import quick
from promptdbg.engines.agentos import js, rules
from promptdbg.engines.agentos.budget import RETRIEVED_COMPONENT, Issue, Outcome, Setup
from promptdbg.engines.agentos.components import Document
from promptdbg.engines.agentos.log import RETRIEVED, Log
from promptdbg.lengths import utf16_length
from promptdbg.model import Action

SUMMARY_ITEM = "retrieved/summary"


@quick
@dataclass(frozen=True, slots=True)
class _Room:
    """What a document may keep: ``units`` of UTF-16 from its start on."""

    document: Document
    text: str
    units: float


def retrieved_step(outcome: Outcome, setup: Setup, text: str, joiner: str, log: Log) -> None:
    """Summarize or cut the retrieved context when it, or the whole prompt still, is too long.

    Args:
        text: the retrieved context as one text, as it was estimated.
        joiner: what stands between two documents in it.
    """
    if not js.truthy(outcome.retrieved):
        return
    tokens, over = setup.meter.text(text), outcome.totals.total - setup.budget
    if not (tokens > setup.retrieved_share or over > 0):
        return
    if setup.summarizer is not None and _summarized(outcome, setup, over, log):
        return
    keep = js.floor(utf16_length(text) * js.divide(setup.retrieved_share, tokens))
    kept = js.substring(text, keep)
    rooms = _rooms(outcome.documents, keep if kept else -1, utf16_length(joiner))
    outcome.documents = tuple(_cut(rooms, outcome, setup, tokens, keep, log))
    outcome.retrieved = kept
    outcome.mark_truncated(RETRIEVED_COMPONENT)
    outcome.totals = replace(outcome.totals, retrieved=setup.meter.text(kept))


def _summarized(outcome: Outcome, setup: Setup, over: float, log: Log) -> bool:
    assert setup.summarizer is not None
    share = setup.retrieved_share
    target = share - over if over > 0 else share
    preserve = js.get(js.get(setup.config, "contextManagement"), "preserveSourceAttributionInSummary")
    try:
        summary, tokens = setup.summarizer.summarize_rag_context(
            outcome.retrieved, target, setup.model, preserve
        )
    except Exception as error:  # the framework catches whatever its summarizer throws
        message = f"summarizing the retrieved context failed: {error}"
        outcome.issues.append(Issue("warning", "RAG_SUMMARIZATION_FAILED", message))
        because = f"The summarizer failed ({error}), so the retrieved context is cut instead."
        for document in outcome.documents:
            log.add(RETRIEVED, Action.NOTE, document.item, rules.RETRIEVED_SUMMARY_FAILED, because)
        return False
    for document in outcome.documents:
        because = f"Replaced by the summary, for which {target:,.6g} tokens were asked."
        log.add(RETRIEVED, Action.DROP, document.item, rules.RETRIEVED_SUMMARIZE, because)
    if js.truthy(summary):
        because = f"Stands for {len(outcome.documents)} documents."
        log.add(RETRIEVED, Action.INSERT, SUMMARY_ITEM, rules.RETRIEVED_SUMMARIZE, because)
    outcome.retrieved, outcome.retrieved_summary = summary, True
    outcome.documents = (Document(SUMMARY_ITEM, summary),) if js.truthy(summary) else ()
    outcome.mark_summarized(RETRIEVED_COMPONENT)
    outcome.totals = replace(outcome.totals, retrieved=tokens)
    return True


def _rooms(documents: tuple[Document, ...], keep: float, gap: int) -> Iterator[_Room]:
    left = 0 if keep != keep else keep
    for document in documents:
        text = "" if js.nullish(document.content) else js.to_string(document.content)
        yield _Room(document, text, left)
        left -= utf16_length(text) + gap


def _cut(
    rooms: Iterator[_Room], outcome: Outcome, setup: Setup, tokens: float, keep: float, log: Log
) -> Iterator[Document]:
    """What is left of each document; ``keep`` is what is left of all of them joined."""
    share = setup.retrieved_share
    why = (
        f"The retrieved context of {tokens:,.0f} tokens has a share of {share:,.6g}: of the whole text "
        f"{max(0, keep):,.0f} characters stay, of this document"
    )
    for room in rooms:
        item, size = room.document.item, utf16_length(room.text)
        if room.units >= size:
            _record_whole(item, isinstance(outcome.retrieved, str), log)
            yield Document(item, room.text)
            continue
        log.add(
            RETRIEVED,
            Action.TRUNCATE if room.units > 0 else Action.DROP,
            item,
            rules.RETRIEVED_CUT,
            f"{why} {max(0, room.units):,.0f} of {size:,}.",
            measured=tokens,
            limit=share,
            unit="tokens",
        )
        if room.units > 0:
            yield Document(item, js.substring(room.text, room.units))


def _record_whole(item: str, text_only: bool, log: Log) -> None:
    if text_only:
        because = "Stays whole, but is reported as truncated."
        log.add(RETRIEVED, Action.NOTE, item, rules.RETRIEVED_CUT, because)
    else:
        because = "Stays whole, but loses its source."
        log.add(RETRIEVED, Action.REWRITE, item, rules.RETRIEVED_SOURCES, because)
