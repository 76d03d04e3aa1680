"""The UI from its start to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from promptdbg.tui.app import PromptdbgApp
from promptdbg.tui.config import config_path, read_config

if TYPE_CHECKING:
    from promptdbg.model import Assembly, Stage
    from promptdbg.tui.driver import Opener


def run(
    opener: Opener,
    *,
    ascii_only: bool = False,
    theme: str | None = None,
    watch: bool = True,
    recorded: Stage | None = None,
    svg: Callable[[Assembly], str] | None = None,
    tour: bool = False,
) -> int:
    """Open the UI and stay until it is left; returns the exit code.

    Args:
        opener: opens what to show; called behind the first frame.

    Raises:
        PromptdbgError: it cannot be opened.
    """
    app = PromptdbgApp(
        opener,
        ascii_only=ascii_only,
        theme=theme,
        watch=watch,
        config=read_config(config_path()),
        recorded=recorded,
        svg=svg,
        tour=tour,
    )
    app.run()
    if app.error is not None:
        raise app.error
    return app.return_code or 0
