"""Measures by their usual names: each file has those of one kind of decision, score or label."""
