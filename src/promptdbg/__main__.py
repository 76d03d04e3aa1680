"""``promptdbg`` and ``python -m promptdbg``: nothing is imported before ctrl-c is a quiet end."""


def main() -> int:
    """Run the command line; returns the exit code."""
    try:
        from promptdbg.cli import main as run

        return run()
    except KeyboardInterrupt:  # while it was being imported, or was ending
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
