"""Redaction: what must go goes, in every writing; what only looks like it stays."""

from __future__ import annotations

import base64
import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdbg.errors import InputError
from promptdbg.export import formats
from promptdbg.export.redact import Redactor, Rules, rules_from
from promptdbg.export.secrets import find
from promptdbg.export.shapes import default_shapes
from promptdbg.model import Span

KEY = "ghp_" + "Ab3" * 12
BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"

SECRETS = [
    ("api-key", f"export GH={KEY}", KEY),
    ("api-key", "key sk-ant-api03-" + "x7Y" * 12, "sk-ant-api03-" + "x7Y" * 12),
    ("api-key", "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("token", "Authorization: Bearer abc.DEF-123456", "abc.DEF-123456"),
    ("token", 'curl -H "X-Api-Key: 0123456789abcdef"', "0123456789abcdef"),
    ("password", "postgres://ines:hunter2pass@db.internal/gauges", "hunter2pass"),
    ("password", 'password = "correct-horse"', "correct-horse"),
    ("password", "DB_PASSWORD: correct-horse", "correct-horse"),
    ("oauth-value", "GET /cb?code=4/0AX4Xf_Wh&state=Zx81-q HTTP/1.1", "4/0AX4Xf_Wh"),
    ("oauth-value", "GET /cb?code=4/0AX4Xf_Wh&state=Zx81-q HTTP/1.1", "Zx81-q"),
    ("private-key", f"{BEGIN}\nMIIEabc+/=\n{END}", "MIIEabc"),
    ("e-mail", "write to ines.okafor@example.org today", "ines.okafor@example.org"),
    ("phone", "call +49 170 1234567", "+49 170 1234567"),
    ("ip", "ssh 203.0.113.9", "203.0.113.9"),
    ("card", "card 4111 1111 1111 1111", "4111 1111 1111 1111"),
    ("user", "open /home/okafor/notes.md", "okafor"),
    ("user", r"C:\Users\okafor\notes.md", "okafor"),
    ("cookie", "Set-Cookie: sid=31d4d96e407aad42; Path=/", "31d4d96e407aad42"),
]

TRAPS = [
    "<task-notification> done </task-notification>",
    "max_tokens: 4096",
    "usage.input_tokens and prompt_tokens=12",
    "pip install sk-learn",
    "commit 3f786850e387550fdaf836ed7e6dc881de23001b",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 8).decode(),
    "password: ${DB_PASSWORD}",
    "api_key=os.environ['KEY']",
    "version 1.2.3, at 10:00:01 on 2026-03-01",
    "git@example.org:team/repo.git",
    "http://localhost:8080/path and 127.0.0.1",
    "token: str",
]


@pytest.mark.parametrize(("kind", "text", "secret"), SECRETS, ids=[f"{k}:{t[:24]}" for k, t, _ in SECRETS])
def test_a_secret_goes_by_its_kind(kind: str, text: str, secret: str) -> None:
    redacted = Redactor([text]).redact(text).text
    assert secret not in redacted
    assert re.search(rf"‹{kind}-\d+›", redacted)


@pytest.mark.parametrize("text", TRAPS, ids=[t[:24] for t in TRAPS])
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert Redactor([text]).redact(text).text == text


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        json.dumps({"k": json.dumps({"key": KEY})}),
        f"https://x.example/?q={quote(KEY, safe='')}".replace("_", "%5F"),
        KEY[:10] + "\n    " + KEY[10:],
        KEY[:10] + "\\\n" + KEY[10:],
        json.dumps(KEY[:10] + "\n" + KEY[10:]),
        "".join(f"\\u{ord(c):04x}" for c in KEY),
        base64.b64encode(f"the key is {KEY} ".encode()).decode(),
        base64.urlsafe_b64encode(f"{KEY}??>>".encode()).decode().rstrip("="),
    ],
)
def test_a_key_goes_in_every_writing(written: str) -> None:
    text = f"before {written} after"
    redacted = Redactor([text]).redact(text).text
    assert "‹api-key-1›" in redacted
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")
    assert KEY[4:12] not in redacted


def test_a_value_found_once_is_hidden_everywhere_by_the_same_name() -> None:
    url = "mysql://app:tr0ub4dor@db/x"
    others = [
        "the word tr0ub4dor alone",
        json.dumps("tr0ub4dor\\"),
        base64.b64encode(b"say tr0ub4dor now!").decode(),
    ]
    redactor = Redactor([url, *others])
    for text in (url, *others):
        assert "tr0ub4dor" not in redactor.redact(text).text
        assert "‹password-1›" in redactor.redact(text).text
    assert redactor.kinds == {"password": 1}


def test_a_password_broken_over_two_lines_goes_whole() -> None:
    text = "url: postgres://ines:hun\n  ter2pass@db.internal/x end"
    redacted = Redactor([text]).redact(text).text
    assert "hun" not in redacted
    assert "ter2pass" not in redacted
    assert redacted.endswith("/x end")


OPEN = "sk-proj-" + "Zq7Lw2Xv9K" * 3  # a key of no fixed length


@pytest.mark.parametrize("key", [OPEN, "sk-ant-api03-" + "x7Y" * 12, KEY, "xoxb-1234567890-Ab3Ab3Ab3Ab3"])
@pytest.mark.parametrize(
    "after",
    [
        "\nNEVER DEPLOY on friday",
        "\r\nNEVER",
        "\n\n\n---",
        "\n- a point",
        "\nv2-release notes",
        "\n12",
        "\nuser_id = 7",
        "\nname\n",
    ],
)
def test_the_lines_after_a_key_stay(key: str, after: str) -> None:
    texts = [f"key {key}{after}", f"{key} again"]
    redactor = Redactor(texts)
    assert [redactor.redact(text).text for text in texts] == [f"key ‹api-key-1›{after}", "‹api-key-1› again"]
    assert redactor.kinds == {"api-key": 1}


@pytest.mark.parametrize("at", range(1, len(OPEN)))
@pytest.mark.parametrize("after", ["", "\nNEVER", '", "x": 1'])
def test_a_key_of_no_fixed_length_broken_anywhere_is_no_longer_one(at: int, after: str) -> None:
    """A few characters at its end may stay: whether they are still of it, nobody can tell."""
    redacted = Redactor([text := f"key {OPEN[:at]}\n  {OPEN[at:]}{after}"]).redact(text).text
    assert redacted.startswith("key ‹api-key-1›")
    assert redacted.endswith(after)
    assert len(redacted.removeprefix("key ‹api-key-1›").removesuffix(after).strip()) < 4


@given(
    st.sampled_from([OPEN, KEY, "AKIAIOSFODNN7EXAMPLE", "sk-" + "a1B2" * 9]),
    st.lists(st.from_regex(r"[A-Za-z_-]{1,12}", fullmatch=True), min_size=1, max_size=4),
    st.sampled_from(["\n", "\n\n", "\r\n", "\n  - "]),
)
@settings(deadline=None)
def test_words_in_lines_of_their_own_stay(key: str, words: list[str], between: str) -> None:
    text = between.join([*words, f"({key})", *words, f"x {key}", *words])
    expected = text.replace(key, "‹api-key-1›")
    assert Redactor([text]).redact(text).text == expected


def test_user_names_are_whole_words() -> None:
    texts = ["/home/ann/x", "ann and the annual plan"]
    assert Redactor(texts).redact(texts[1]).text == "‹user-1› and the annual plan"


def test_spans_move_with_the_text() -> None:
    text = f"keep {KEY} lose"
    redacted = Redactor([text]).redact(text)
    at = text.index(" lose")
    assert redacted.spans([Span(0, at, True), Span(at, len(text), False)]) == (
        Span(0, len(redacted.text) - 5, True),
        Span(len(redacted.text) - 5, len(redacted.text), False),
    )


def test_own_patterns_allowed_values_and_known_words() -> None:
    options = {"redact": {"patterns": {"ticket": r"ACME-\d+"}, "allow": ["ines@example.org"]}}
    rules = rules_from(options, words={"heron": "host"})
    text = "ACME-12 on heron by ines@example.org and bob@example.org, not herons"
    redacted = Redactor([text], rules).redact(text).text
    assert redacted == "‹ticket-1› on ‹host-1› by ines@example.org and ‹e-mail-1›, not herons"


@pytest.mark.parametrize(
    "table", [3, {"patterns": {"x": "("}}, {"patterns": {"X Y": "a"}}, {"patterns": ["a"]}, {"allow": "a"}]
)
def test_a_broken_table_is_one_line(table: object) -> None:
    with pytest.raises(InputError, match=r"redact"):
        rules_from({"redact": table})


def test_a_slow_pattern_of_a_stranger_is_stopped() -> None:
    rules = rules_from({"redact": {"patterns": {"evil": r"(x+x+)+y"}}})
    with pytest.raises(InputError, match="too long"):
        Redactor(["x" * 5000], rules)


FILLER = st.text(alphabet=st.sampled_from(' \n\\"%abcXYZ019-_/.:=‹🙂é'), max_size=40)


@settings(max_examples=200, deadline=None)
@given(before=FILLER, after=FILLER, escape=st.sampled_from(["plain", "json", "json2", "url"]))
def test_no_surrounding_hides_a_key(before: str, after: str, escape: str) -> None:
    # A letter, a digit or an underscore beside it would make it part of a longer word.
    text = f"{before} {KEY} {after}"
    if escape.startswith("json"):
        text = json.dumps(text)
    if escape == "json2":
        text = json.dumps(text)
    if escape == "url":
        text = quote(text)
    assert KEY not in Redactor([text]).redact(text).text


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_taken_and_found_spans_are_in_it(text: str) -> None:
    for found in find(text, default_shapes()):
        assert 0 <= found.start < found.end <= len(text)
    once = Redactor([text]).redact(text).text
    assert isinstance(once, str)


def test_a_windows_path_is_hidden_however_it_is_written() -> None:
    words = formats._spellings(r"C:\Users\ines", "home")
    text = r'C:\Users\ines\a, C:/Users/ines/b and {"path": "C:\\Users\\ines\\c"}'
    redacted = Redactor([text], Rules(own={}, words=words, allow=frozenset())).redact(text).text
    assert "ines" not in redacted
    assert formats._spellings("/home/ines", "home") == {"/home/ines": "home"}
