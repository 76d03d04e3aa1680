"""``python -m promptdbg``."""

from promptdbg.cli import main

raise SystemExit(main())
