"""Running the coroutines of neurons to their end from ordinary code."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from promptdbg.errors import UsageError

T = TypeVar("T")


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns.

    Inside a running event loop only one that never really waits, as most neurons, can be run.

    Raises:
        UsageError: it waits for something while an event loop is running here.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        value: T = stop.value
        return value
    coroutine.close()
    raise UsageError(
        "a neuron waits for something while an event loop runs", hint="use await builder.abuild()"
    )
