"""The ledger adds up, and what is taken off or was counted elsewhere has lines of its own."""

from __future__ import annotations

from promptdbg.analysis.ledger import Kind, ledger
from promptdbg.model import Budget, Counted, Part

PARTS = (Part("system prompt", 300), Part("history", 700))
RESERVED = (Part("answer", 8_192), Part("safety margin", 1_024))


def test_parts_sum_to_what_is_used_and_the_window_less_the_reserve_is_the_limit() -> None:
    entries = ledger(Budget(190_784, 1_000, "tokens", PARTS, 200_000, RESERVED))
    by_kind = {entry.kind: entry.amount for entry in entries}
    assert sum(entry.amount for entry in entries if entry.kind is Kind.PART) == by_kind[Kind.USED] == 1_000
    taken = sum(entry.amount for entry in entries if entry.kind is Kind.RESERVED)
    assert by_kind[Kind.WINDOW] + taken == by_kind[Kind.LIMIT]
    assert by_kind[Kind.LEFT] == 189_784
    assert [entry.about for entry in entries if entry.kind is Kind.PART] == ["30%", "70%"]


def test_over_the_limit_and_without_one() -> None:
    over = ledger(Budget(900, 1_000, "tokens", PARTS))
    assert [(entry.kind, entry.amount) for entry in over[-2:]] == [(Kind.LIMIT, 900), (Kind.OVER, 100)]
    assert ledger(Budget(None, 1_000, "tokens", PARTS))[-1].kind is Kind.USED


def test_what_a_provider_counted() -> None:
    budget = Budget(None, 1_000, "tokens", PARTS, counted=Counted(1_050, "this"))
    counted, gap = ledger(budget)[-2:]
    assert (counted.kind, counted.amount, counted.about) == (Kind.COUNTED, 1_050, "for this request")
    assert (gap.kind, gap.amount, gap.about) == (Kind.GAP, 50, "+5.0% of the estimate")
    before = Budget(None, 1_000, "tokens", PARTS, counted=Counted(1_050, "before"))
    assert ledger(before)[-1].kind is Kind.COUNTED  # another request: no gap can be told
    bytes_ = Budget(None, 1_000, "bytes", PARTS, counted=Counted(1_050, "this"))
    assert ledger(bytes_)[-1].kind is Kind.COUNTED
    elsewhere = ledger(before, Counted(990, "this"))[-1]
    assert (elsewhere.kind, elsewhere.amount) == (Kind.GAP, -10)
