"""Sweeps: a grid of options, and a run directory for each of its points."""
