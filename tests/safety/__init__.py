"""What must never happen, whatever is opened: a write, a connection, foreign code, a crash, a hang."""
