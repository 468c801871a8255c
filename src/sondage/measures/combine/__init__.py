"""Measures made of measures: several at once, on some items, in every group, compared."""
