"""Widgets that draw line by line; ``virtual`` is their base."""
