"""Assemblies go when nobody needs them any more: the UI keeps the collector of cycles away from them."""

from __future__ import annotations

import gc

import pytest

from promptdbg.debug import open_workspace
from promptdbg.examples import Example, examples
from promptdbg.model import Settings
from promptdbg.tokens import tokenizer


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_an_assembly_leaves_nothing_for_the_collector(example: Example) -> None:
    opened = open_workspace(example.path)
    settings = (Settings(), Settings(off=frozenset({"no such item"})))
    for wanted in settings:
        opened.engine.assemble(opened.inputs, wanted, tokenizer())
    gc.collect()
    gc.disable()
    try:
        for wanted in settings:
            opened.engine.assemble(opened.inputs, wanted, tokenizer())
        assert gc.collect() == 0
    finally:
        gc.enable()
