"""What leaves the program: the JSON document, and the shareable exports."""
