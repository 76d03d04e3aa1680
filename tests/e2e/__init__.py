"""The real program in a real terminal."""
