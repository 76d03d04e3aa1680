"""What can be said about an assembly beyond the assembly itself: pure functions, no I/O, no Textual."""
