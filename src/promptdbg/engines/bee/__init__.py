"""bee (elhenro/bee, Go): its system prompt, attachments and history, exactly, and the engine.

The functions read like the framework's own and give the plain result; ``assemble`` gives the whole
``Assembly`` on request.
"""

from promptdbg.engines.bee.api import (
    assemble,
    compact,
    estimate_message_tokens,
    estimate_tokens,
    expand_at_paths,
    format_context_warning,
    fuzzy_find,
    knowledge_query,
    load_context_files,
    scan_store,
    should_auto_compact,
    should_warn,
    truncate_with_limit,
)
from promptdbg.engines.bee.config import (
    Config,
    Memory,
    Profile,
    apply_profile,
    resolve_auto_profile,
    scale_profile,
)
from promptdbg.engines.bee.context import ContextFile
from promptdbg.engines.bee.engine import ENGINE
from promptdbg.engines.bee.knowledge import Record
from promptdbg.engines.bee.manifest import Skill, Tool, filter_tools, skills_manifest

__all__ = [
    "ENGINE",
    "Config",
    "ContextFile",
    "Memory",
    "Profile",
    "Record",
    "Skill",
    "Tool",
    "apply_profile",
    "assemble",
    "compact",
    "estimate_message_tokens",
    "estimate_tokens",
    "expand_at_paths",
    "filter_tools",
    "format_context_warning",
    "fuzzy_find",
    "knowledge_query",
    "load_context_files",
    "resolve_auto_profile",
    "scale_profile",
    "scan_store",
    "should_auto_compact",
    "should_warn",
    "skills_manifest",
    "truncate_with_limit",
]
