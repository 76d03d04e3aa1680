"""Making small values by the ten thousand, as every assembly does: a constructor for frozen
dataclasses that costs half, and no garbage collector meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
Args = ParamSpec("Args")


def quick(cls: type[T]) -> type[T]:
    """Give a frozen dataclass with slots a constructor of plain assignments; all else stays.

    The one ``dataclasses`` writes sets each field through ``object.__setattr__``, a call per field.

    The object has a class without the lock for as long as its constructor runs. The two share
    their layout, and nobody else knows the object by then. The class can have no subclass and no
    ``__post_init__``.
    """
    scope: dict[str, Any] = {"set_attribute": object.__setattr__, "locked": cls, "MISSING": MISSING}
    defaults, assignments = [], []
    for field in fields(cls):  # type: ignore[arg-type]
        value = field.name
        if field.default is not MISSING:
            defaults.append(field.default)
        elif field.default_factory is not MISSING:
            defaults.append(MISSING)
            scope[f"make_{field.name}"] = field.default_factory
            value = f"make_{field.name}() if {field.name} is MISSING else {field.name}"
        assignments.append(f"self.{field.name} = {value}")
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    scope["unlocked"] = type(f"_Unlocked{cls.__name__}", (), {"__slots__": names})
    lines = [
        f"def __init__(self, {', '.join(names)}):",
        "set_attribute(self, '__class__', unlocked)",
        *assignments,
        "self.__class__ = locked",
    ]
    exec("\n    ".join(lines), scope)  # as dataclasses does; nothing but names of fields goes in
    made = scope["__init__"]
    made.__defaults__ = tuple(defaults)
    made.__annotations__ = cls.__init__.__annotations__
    made.__qualname__ = f"{cls.__name__}.__init__"
    made.__module__ = cls.__module__
    cls.__init__ = made  # type: ignore[method-assign]
    return cls


@contextmanager
def out_of_sight(many: Callable[[], bool]) -> Iterator[None]:
    """Run something without Python's cycle collector, and where it made many objects that stay, take them
    out of the collector's sight.

    A full collection walks every object, which for a session of thousands of messages stops all
    threads for longer than a frame. Assemblies have no cycles: they go when nothing refers to them.
    What was made before is collected first, because afterwards it is out of sight too. A few objects
    are not worth it.
    """
    gc.collect(1)
    gc.disable()
    try:
        yield
        if many():
            gc.freeze()
    finally:
        gc.enable()


def collector_at_rest(function: Callable[Args, T]) -> Callable[Args, T]:
    """Keep Python's cycle collector away while ``function`` runs.

    For one that makes tens of thousands of objects, none of them garbage and none in a cycle: the
    collector would walk them over and over, for up to a third of the time. It is on again
    afterwards if it was on before.
    """

    @wraps(function)
    def resting(*args: Args.args, **kwargs: Args.kwargs) -> T:
        was_on = gc.isenabled()
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            if was_on:
                gc.enable()

    return resting
