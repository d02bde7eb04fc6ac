"""A cluster in a box: hosts as namespaces on one machine, with shaped links and slices of CPU."""
