"""Prompt templates: ``{{name}}`` (``context/prompt_template.rb::PromptTemplate``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from promptdbg.engines.phronomy.errors import MissingVariable

# Ruby's \w is ASCII here.
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}", re.ASCII)


class PromptTemplate:
    """A template for the prompt and, optionally, one for the system text. One pass: values are not
    expanded again, and values that nothing asks for are ignored."""

    def __init__(self, *, template: str, system_template: str | None = None) -> None:
        self.template = template
        self.system_template = system_template

    @property
    def variables(self) -> tuple[str, ...]:
        """The names both templates ask for, in the order first seen."""
        names = _PLACEHOLDER.findall(self.template) + _PLACEHOLDER.findall(self.system_template or "")
        return tuple(dict.fromkeys(names))

    def format(self, **variables: Any) -> str:
        """
        Raises:
            MissingVariable: a name has no value (a ``KeyError``).
        """
        return _filled(self.template, variables)

    def format_system(self, **variables: Any) -> str | None:
        return None if self.system_template is None else _filled(self.system_template, variables)

    def invoke(self, given: str | Mapping[str, Any]) -> dict[str, str]:
        """``prompt`` and, with a system template, ``system``; a plain text fills ``input``."""
        variables = {"input": given} if isinstance(given, str) else dict(given)
        result = {"prompt": _filled(self.template, variables)}
        if self.system_template is not None:
            result["system"] = _filled(self.system_template, variables)
        return result


def _filled(template: str, variables: Mapping[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in variables:
            raise MissingVariable(match[1])
        return str(variables[match[1]])

    return _PLACEHOLDER.sub(value, template)
