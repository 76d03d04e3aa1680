"""JSON Schemas of the documents that are written and read."""
