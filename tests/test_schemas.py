"""The shipped JSON Schemas describe what is really written and read."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from promptdbg.debug import Debugger, OpenRequest, open_workspace
from promptdbg.export.document import document
from promptdbg.export.structure import structure
from tests.test_documents import BROKEN, TRACE

EXAMPLES = Path(__file__).parent.parent / "src" / "promptdbg" / "examples"


def validator(name: str) -> Draft202012Validator:
    schema = json.loads(resources.files("promptdbg.schemas").joinpath(f"{name}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", sorted(p.parent.name for p in EXAMPLES.glob("*/promptdbg.toml")))
def test_every_example_fits(name: str) -> None:
    assembly = Debugger(open_workspace(EXAMPLES / name, OpenRequest(now="2026-03-01T09:30"))).assembly
    for text in (True, False):
        validator("assembly-1").validate(json.loads(json.dumps(document(assembly, text=text))))
    validator("structure-1").validate(json.loads(json.dumps(structure(assembly, b"0" * 32))))


def test_the_trace_schema_takes_what_the_reader_takes() -> None:
    validator("trace-1").validate(TRACE)
    validator("trace-1").validate({"schema": "promptdbg/trace/1"})


# What a schema cannot say: offsets within a text, ids that are used twice.
BEYOND = (r"kept\[0\] must be in order", "ids of their own")


@pytest.mark.parametrize(("key", "value", "line"), [case for case in BROKEN if case[2] not in BEYOND])
def test_the_trace_schema_refuses_what_the_reader_refuses(key: str, value: Any, line: str) -> None:
    assert not validator("trace-1").is_valid({**TRACE, key: value}), line
