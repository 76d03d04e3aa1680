"""Every knob with every odd value, and texts of any kind through what shows, hides and compares them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.analysis.align import align
from promptdbg.analysis.diff import word_diff
from promptdbg.commands import inspect
from promptdbg.debug import OpenRequest, open_workspace, opened_assembly, with_knob
from promptdbg.errors import InputError, PromptdbgError
from promptdbg.export.redact import Redactor
from promptdbg.export.trace_format import assembly_from_trace
from promptdbg.export.typed import check_types
from promptdbg.model import Assembly, Knob, Message, MessageStatus, Stage, StageKind, Value
from promptdbg.render import Line
from promptdbg.text import safe
from promptdbg.times import file_time, is_iso_time, iso_time
from promptdbg.tokens import _digestible, tokenizer
from tests.invariants import check
from tests.steps import steps

EXAMPLES = Path(__file__).parents[2] / "src" / "promptdbg" / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*-nasty/promptdbg.toml"))
TYPED = [
    "",
    "x",
    "nan",
    "inf",
    "-1",
    "0",
    "0.5",
    "1e999",
    "1e308",
    "9" * 400,
    "9" * 5000,
    "../../etc/passwd",
    "America",
    "/etc/localtime",
    "x" * 5000,
    "\x00",
    "\ud800",
    "\x1b[31m",
    "0001-01-01T00:00+14:00",
    "9999-12-31",
    "[",
    "a,b,,",
    "none",
    "1,000,000",
    "UTC+25",
    "${a.b}",
    "{{x}}",
    "2026-03-29T02:30:00.123456789Z",
]
VALUES: list[Value] = [
    True, None, 0, -1, 2**63, 10**30, 10**400, -(10**400), 0.5, 1e308, -1e308, float("nan"), float("inf"), "",
    (), ("x", "x"), ("\x00",), tuple("abc" * 1000),
]  # fmt: skip


STEPS_MAX = 1_000_000
"""Lines of Python for one value, of some 40,000 that are needed; counting up to a large one never ends."""


@pytest.mark.parametrize("name", NAMES)
def test_any_value_of_any_knob(name: str) -> None:
    opened = open_workspace(EXAMPLES / name, OpenRequest(now="2026-03-01T09:30:00"))
    counter = tokenizer()
    for knob in opened.knobs:
        for value in [*TYPED, *VALUES]:

            def assemble(knob: Knob = knob, value: Value = value) -> None:
                parsed = knob.parse(value) if value in TYPED and isinstance(value, str) else value
                wanted = with_knob(opened.base, knob, parsed)
                check(opened.engine.assemble(opened.inputs, wanted, counter))

            try:
                work = steps(assemble)
            except PromptdbgError as error:
                assert "\n" not in error.line()  # noqa: PT017 - either outcome is right
                continue
            assert work < STEPS_MAX, f"{knob.name} {str(value)[:60]}"


# ---- texts --------------------------------------------------------------------------------------

SECRETS = [
    "ghp_" + "Ab3" * 12,
    "sk-ant-api03-" + "x7Y" * 12,
    "AKIAIOSFODNN7EXAMPLE",
    "ines.okafor@example.org",
]
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(
            [*SECRETS, "password = ", "\\n", '"', "=", "://", "@", "-----BEGIN", "\x1b]52;c;", "\ud800"]
        ),
        st.text(max_size=8),
        st.characters(categories=["Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Zl", "Zp"]),
    ),
    max_size=12,
).map(" ".join)


@given(st.lists(TEXTS, max_size=4))
@settings(max_examples=150, deadline=None)
def test_redaction_never_fails_and_never_leaks(texts: list[str]) -> None:
    redactor = Redactor(texts)
    for text in texts:
        redacted = redactor.redact(text).text
        for secret in SECRETS:
            assert secret not in redacted


@given(TEXTS)
@settings(deadline=None)
def test_safe_text_is_inert_and_stays_so(text: str) -> None:
    shown = safe(text)
    assert safe(shown) == shown
    assert not any((ord(char) < 32 and char != "\n") or 0x7F <= ord(char) < 0xA0 for char in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff\u2028")
    assert "\n" not in safe(text, lines=False)


@given(TEXTS, TEXTS)
@settings(deadline=None)
def test_a_difference_turns_one_text_into_the_other(a: str, b: str) -> None:
    made, at = [], 0
    for change in word_diff(a, b):
        made.append(a[at : change.a_start])
        made.append(b[change.b_start : change.b_end])
        at = change.a_end
    assert "".join([*made, a[at:]]) == b


NAMED = st.lists(st.sampled_from("abcdefg"), max_size=6)


@given(st.lists(st.tuples(NAMED, NAMED, NAMED), max_size=5))
@settings(deadline=None)
def test_lists_that_fit_nothing_are_aligned(drawn: list[tuple[list[str], list[str], list[str]]]) -> None:
    stages = [
        Stage(
            f"s{number}",
            random.Random(number).choice(list(StageKind)),
            "S",
            tuple(Message(name, "user", name, 1, tuple(sources)) for name in names),
            dropped=tuple(Message(name, "user", None, 1) for name in gone),
            statuses=dict.fromkeys(sources, MessageStatus.MERGED),
        )
        for number, (names, gone, sources) in enumerate(drawn)
    ]
    alignment = align(stages, [])
    assert len(alignment.columns) == len(stages)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "schema",
                    "sections",
                    "stages",
                    "messages",
                    "decisions",
                    "rules",
                    "budget",
                    "warnings",
                    "name",
                    "text",
                    "id",
                    "role",
                    "content",
                    "item",
                    "rule",
                    "status",
                    "parts",
                    "tokens",
                    "limit",
                    "used",
                    "engine",
                    "version",
                    "spans",
                    "start",
                    "end",
                    "kept",
                ]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["sections", "stages", "decisions", "rules", "budget", "warnings", "engine"]), JSON
    )
)
@settings(max_examples=300, deadline=None)
def test_any_trace(parts: dict[str, Any]) -> None:
    try:
        assembly = assembly_from_trace({"schema": "promptdbg/trace/1", **parts}, tokenizer())
    except InputError as error:
        assert "\n" not in error.line()  # noqa: PT017 - either outcome is right
        return
    check_types(assembly)
    assert all(safe(piece.text) == piece.text for line in lines(assembly) for piece in line)


def lines(assembly: Assembly) -> list[Line]:
    return list(inspect.lines(opened_assembly(assembly), assembly, 100))


# ---- times and runs -----------------------------------------------------------------------------


@given(st.floats(allow_nan=False) | st.integers(-(10**20), 10**20))
def test_any_file_time(seconds: float) -> None:
    assert 1 <= file_time(seconds).astimezone().year <= 9999


@given(st.text(max_size=30) | st.datetimes(timezones=st.none() | st.timezones()).map(str))
@settings(deadline=None)
def test_any_text_as_a_time(text: str) -> None:
    if is_iso_time(text):
        iso_time(text).astimezone()


@pytest.mark.parametrize("run", ["x", "漢", " ", "\n", "9", "\u0301", "ab1"])
def test_a_run_without_a_break_is_counted_in_blocks(run: str) -> None:
    text = (run * 1_300_000)[:1_300_000]
    pieces = list(_digestible(text))
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 400_000
