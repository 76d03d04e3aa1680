"""Benchmarks: ``python -m tests.bench`` (or ``make bench``) prints what ``docs`` and README quote.

Each figure is measured beside what it is compared with, in the same run, and given as a ratio where
there is something to compare with: a ratio says the same on a slow machine and on a fast one. No
test asserts them.
"""
