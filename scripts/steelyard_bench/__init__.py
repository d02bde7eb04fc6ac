"""Steelyard beside its peers: paired, interleaved measurements, one table."""
