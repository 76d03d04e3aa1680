"""The terminal UI: draws an Assembly and drives a Debugger. The only importer of Textual."""
