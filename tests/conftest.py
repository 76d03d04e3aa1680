"""What holds for all tests: properties have no deadline (CI and other work share the machine's cores),
and in CI they try the same examples every time."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "promptdbg",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("promptdbg")
