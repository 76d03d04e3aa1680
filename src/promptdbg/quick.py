"""Frozen dataclasses that are made by the ten thousand, with a constructor that costs half.

The constructor ``dataclasses`` writes for a frozen class sets each field through
``object.__setattr__``, a call per field; with nineteen fields that is most of the time in which a
large prompt is assembled.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

T = TypeVar("T")


def quick(cls: type[T]) -> type[T]:
    """Give a frozen dataclass with slots a constructor of plain assignments; all else stays.

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
