"""What leaves the program: the JSON document, and the shareable exports."""

FORMATS = ("json", "md", "html", "svg")
"""What an export may be written as."""
