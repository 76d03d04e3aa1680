"""``promptdbg`` and ``python -m promptdbg``: nothing is imported before ctrl-c is a quiet end."""


def main() -> int:
    """Run the command line; returns the exit code."""
    try:
        from promptdbg.cli import main as run

        return _over(run())
    except KeyboardInterrupt:  # while it was being imported, or was ending
        return 130


def _over(code: int) -> int:
    """What is left is Python's own end, which would tell of an interrupt at length: there ctrl-c is the
    end of the process, unless who started it wants it passed over."""
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
