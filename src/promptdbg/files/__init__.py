"""What agents read from disk: bounded reading, context files, imports, attachments, skills."""
