"""The command line against hostile arguments, workspaces, documents, streams and environments."""
