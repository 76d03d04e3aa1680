"""Inputs that reproduce what users complain about, answered from the command line."""
