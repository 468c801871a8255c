"""Dirichlet trees: strata next to each other learn from each other (Marchant and Rubinstein 2021)."""
