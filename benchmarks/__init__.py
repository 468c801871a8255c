"""Benchmarks: ``python -m benchmarks [name ...] [options]``, one file for each.

A benchmark is a module with a docstring (its first line is shown in the list),
``arguments(parser)`` and ``run(args) -> Result``. What it prints is also written to
``benchmarks/results/<name>.json``.
"""
