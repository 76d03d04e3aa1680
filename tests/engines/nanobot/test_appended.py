"""A content and the runtime context appended to it, told apart."""

from __future__ import annotations

from typing import Any

import pytest

from promptdbg.engines.nanobot.appended import Parts, take_apart

TEXT = {"type": "text", "text": "context"}


@pytest.mark.parametrize(
    ("content", "marker", "parts"),
    [
        ("hello\n\ncontext", {"suffix": "context"}, Parts("hello", [TEXT])),
        ("context", {"suffix": "context"}, Parts("", [TEXT])),
        ("context and more", {"suffix": "context"}, None),
        ("hello\ncontext", {"suffix": "context"}, None),
        ("hello", {"suffix": ""}, None),
        ("hello", {"suffix": 3, "blocks": [TEXT]}, None),
        ([{"type": "image"}, TEXT], {"blocks": [TEXT]}, Parts([{"type": "image"}], [TEXT])),
        ([TEXT], {"suffix": "context", "blocks": [TEXT]}, Parts([], [TEXT])),
        ([TEXT], {"blocks": [TEXT, TEXT]}, None),
        ([TEXT], {"blocks": []}, None),
        (None, {"suffix": "context"}, None),
    ],
)
def test_only_a_marker_that_fits_takes_anything_off(content: Any, marker: Any, parts: Parts | None) -> None:
    assert take_apart(content, {"version": 1, **marker}) == parts
    assert take_apart(content, {"version": 2, **marker}) is None
    assert take_apart(content, None) is None
