"""Random session files for nanobot: rows, metadata, and the ways files break.

Every kind of damage that a session was ever seen with has its chance, often more than one in the
same file.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

WORDS = (
    "river glass",
    "日本語のメモ",
    "שלום עולם",
    "naïve café",
    "👩\u200d🚀 up",
    "one\u2028two\u2029three\u0085four",
    "tab\tand\x0bvt\x0cff\x1fus",
    "\r\nleading and trailing\r\n",
    "  padded  ",
    "a\n\n\nb",
    "<|endoftext|>",
    "say <|fim_prefix|> please",
    "[image: /tmp/a.png]",
    "[image: ~/b.png]\nkept",
    "[Message Time: 2026-01-01T00:00:00]\nshown",
    "generate_image(x)",
    "message(hello)\nrest",
    "$alpha and $beta",
    "# Heading\n\n- item",
    '{"json": [1, 2]}',
    "\ufefftext after a mark",
    "e\u0301\u0302\u0303",
    "",
    " \n ",
    "\x1b[31mred\x1b[0m",
    "\u202eright to left",
)


def once_in(count: int) -> st.SearchStrategy[bool]:
    """True about once in ``count`` draws, and false when shrunk.

    Not ``integers(...) == 0``: the ends of a range come far more often than their share.
    """
    return st.sampled_from([False] * (count - 1) + [True])


def texts(long: int = 3000) -> st.SearchStrategy[str]:
    """A short text, several joined, any characters, or one of some length."""
    word = st.sampled_from(WORDS)
    return st.one_of(
        word,
        st.lists(word, min_size=1, max_size=4).map(" ".join),
        st.text(alphabet=st.characters(codec="utf-8"), max_size=30),
        st.builds(lambda piece, count: f"{piece} " * count, word, st.integers(2, max(2, long // 12))),
    )


def _call(ids: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["exec", "read_file", "grep", "notes_add", "write_stdin"])
    arguments = st.sampled_from(
        ['{"command": "ls"}', "{}", "not json", {"command": "ls"}, '{"chars": "x", "yield_time_ms": 5}']
    )
    good = st.fixed_dictionaries(
        {
            "id": ids,
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": names, "arguments": arguments}),
        }
    )
    bad = st.sampled_from(
        [
            {"id": "x1", "type": "function", "function": {"name": None, "arguments": "{}"}},
            {"id": "x2", "type": "function", "function": {"name": "", "arguments": "{}"}},
            {"id": "x3", "function": "no object"},
            {"id": "x4", "name": "exec"},
            {"type": "function", "function": {"name": "exec", "arguments": "{}"}},
            "not a call",
            {},
        ]
    )
    return st.one_of(good, good, good, bad)


IDS: st.SearchStrategy[Any] = st.sampled_from(["c1", "c2", "c3", "c4", "c5", 7, 0, "", "a/b:c?"])

BLOCKS = st.sampled_from(
    [
        [],
        [{"type": "text", "text": "one block"}],
        [{"type": "text", "text": "two"}, {"type": "text", "text": "blocks"}],
        [{"type": "text", "text": "  "}],
        [{"type": "text", "text": "x" * 900}, {"type": "text", "text": "y"}],
        [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "text", "text": "pic"},
        ],
        [{"type": "text", "text": None}],
        ["a plain item", 5],
    ]
)


def _user() -> st.SearchStrategy[dict[str, Any]]:
    row = st.fixed_dictionaries(
        {"role": st.just("user"), "content": st.one_of(texts(), texts(), texts(), BLOCKS, st.none())},
        optional={
            "timestamp": st.sampled_from(["2026-08-19T08:00:00", "no time", 5]),
            "media": st.sampled_from([["/tmp/p.png"], [], ["", 3], "no list"]),
            "cli_apps": st.sampled_from(
                [[{"name": " Foo ", "entry_point": ""}], [{"entry_point": "x"}, 3], []]
            ),
            "mcp_presets": st.sampled_from([[{"name": "git", "transport": "stdio"}], [], [3]]),
            "_runtime_context": st.sampled_from([{"version": 1, "sources": ["h"], "suffix": "[x]"}, None]),
            "_hidden_history": st.booleans(),
            "_command": st.sampled_from([True, False]),
        },
    )
    return row


def _assistant() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.one_of(texts(), texts(), st.none(), BLOCKS)},
        optional={
            "timestamp": st.just("2026-08-19T08:00:30"),
            "reasoning_content": st.sampled_from(["thinking about it", "", None]),
            "thinking_blocks": st.sampled_from([[{"type": "thinking", "thinking": "hm"}], []]),
            "_channel_delivery": st.booleans(),
            "_command": st.sampled_from([True, False]),
            "tool_calls": st.sampled_from([[], None]),
        },
    )


def _calls() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "role": st.just("assistant"),
            "content": st.one_of(st.just(""), st.none(), texts(200)),
            "tool_calls": st.lists(_call(IDS), min_size=1, max_size=3),
        },
        optional={"timestamp": st.just("2026-08-19T08:00:30"), "reasoning_content": st.just("why")},
    )


def _result() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"role": st.just("tool"), "content": st.one_of(texts(6000), texts(), BLOCKS, st.none())},
        optional={
            "tool_call_id": st.one_of(IDS, st.none()),
            "name": st.sampled_from(["exec", "read_file", "grep", "notes_add", None, "write_stdin"]),
            "timestamp": st.just("2026-08-19T08:00:40"),
        },
    )


@st.composite
def _round(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Calls and their results: whole, partly missing, out of order, or doubled."""
    head: dict[str, Any] = draw(_calls())
    ids = [call["id"] for call in head["tool_calls"] if isinstance(call, dict) and call.get("id")]
    whole = draw(st.booleans())
    some = st.lists(st.sampled_from(ids), max_size=len(ids) + 1) if ids else st.just([])
    answered = ids if whole else draw(some)
    results = [
        {"role": "tool", "tool_call_id": call, "name": "exec", "content": draw(texts(4000))}
        for call in answered
    ]
    return [head, *results]


ODD_ROWS = st.sampled_from(
    [
        {"role": "system", "content": "a stored system row"},
        {"role": "developer", "content": "unknown role"},
        {"content": "no role"},
        {"role": "user"},
        {"role": None, "content": "null role"},
        {"_type": "note", "role": "user", "content": "typed row"},
        {"role": "assistant", "content": 5},
        {"role": "tool", "content": {"an": "object"}, "tool_call_id": "c1"},
        {"role": "assistant", "content": "x", "tool_calls": "no list"},
        {"role": "user", "content": "lone \ud83d surrogate"},
    ]
)


def _conversation(count: int, text: str, times: int) -> list[dict[str, Any]]:
    """Many plain turns, so that windows get too small."""
    return [
        {"role": role, "content": f"{role} {number}: {text}" * times}
        for number in range(count)
        for role in ("user", "assistant")
    ]


def rows(phrases: tuple[str, ...]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Stored rows, mostly reasonable. ``phrases`` are texts that the framework itself writes."""
    one = st.one_of(_user(), _assistant(), _result()).map(lambda row: [row])
    plain = st.tuples(
        st.fixed_dictionaries({"role": st.just("user"), "content": texts()}),
        st.fixed_dictionaries({"role": st.just("assistant"), "content": texts()}),
    ).map(list)
    piece = st.one_of(plain, plain, plain, _round(), _round(), one, one)
    talk = st.builds(_conversation, st.integers(5, 40), texts(600), st.integers(1, 6))
    own = st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.sampled_from(phrases)},
        optional={"_hidden_history": st.booleans()},
    )
    rare = st.one_of(*[piece] * 15, talk, ODD_ROWS.map(lambda row: [row]), own.map(lambda row: [row]))
    return st.lists(rare, max_size=14).map(lambda pieces: [row for piece in pieces for row in piece])


@st.composite
def metadata(draw: st.DrawFn, count: int, key: str) -> dict[str, Any]:
    """A metadata record; ``count`` rows follow it."""
    offset = st.one_of(st.integers(0, max(0, count)), st.sampled_from([0, -1, 10**6, True, "3", None, 2.0]))
    record: dict[str, Any] = {
        "_type": "metadata",
        "key": key,
        "created_at": "2026-08-19T07:59:00",
        "updated_at": draw(st.sampled_from(["2026-08-19T08:30:00", "2026-08-19T08:30:00", "", None, "soon"])),
        "metadata": {},
        "last_consolidated": draw(offset),
    }
    if draw(once_in(4)):
        record["last_archived"] = draw(offset)
    inner = record["metadata"]
    if draw(once_in(4)):
        inner["_last_summary"] = draw(
            st.sampled_from(
                [
                    {"text": "They spoke of rivers.", "last_active": "2026-08-18T10:00:00"},
                    {"text": "(nothing)", "last_active": "2026-08-18T10:00:00"},
                    {"text": "Bad date.", "last_active": "yesterday"},
                    {"text": ""},
                    {"text": 5},
                    {"text": "No date."},
                    "a text alone",
                    [],
                ]
            )
        )
    if draw(once_in(5)):
        inner["pending_user_turn"] = draw(st.sampled_from([True, False, 1, ""]))
    if draw(once_in(5)):
        inner["runtime_checkpoint"] = draw(_checkpoint())
    if draw(once_in(10)):
        record["metadata"] = draw(st.sampled_from([None, [], "text"]))
    return record


@st.composite
def _checkpoint(draw: st.DrawFn) -> Any:
    head = draw(_calls())
    good = {
        "phase": "awaiting_tools",
        "iteration": 0,
        "model": "stub/model",
        "assistant_message": draw(st.sampled_from([head, None, "text", {"role": "user", "content": "odd"}])),
        "completed_tool_results": draw(st.lists(_result(), max_size=2)),
        "pending_tool_calls": draw(st.lists(_call(IDS), max_size=2)),
    }
    return draw(st.sampled_from([good, good, good, {}, "text"]))


@st.composite
def session_files(draw: st.DrawFn, key: str, phrases: tuple[str, ...]) -> bytes | None:
    """A session file: mostly whole, sometimes broken in one of the ways files break."""
    if draw(once_in(20)):
        return None
    stored = draw(rows(phrases))
    lines = [json.dumps(row, ensure_ascii=draw(st.booleans())) for row in stored]
    lines.insert(0, json.dumps(draw(metadata(len(stored), key))))
    if draw(once_in(6)):
        at = draw(st.integers(0, len(lines)))
        damage = st.sampled_from(
            [
                "",
                "   ",
                '{"role": "user", "content": "cut',
                "[1, 2]",
                '"text"',
                "null",
                "{}",
                "NaN",
                "\ufeff{}",
            ]
        )
        lines.insert(at, draw(damage))
    if draw(once_in(10)):
        lines.insert(draw(st.integers(1, len(lines))), json.dumps(draw(metadata(len(stored), key))))
    end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]))
    text = end.join(lines) + draw(st.sampled_from([end, end, ""]))
    data = text.encode("utf-8", "surrogatepass")
    if draw(once_in(30)):
        data = draw(st.sampled_from([b"\xef\xbb\xbf" + data, data + b"\xff\n", data[: len(data) // 2]]))
    return data
