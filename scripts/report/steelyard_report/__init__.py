"""report.html and figures from run directories (docs/results.md)."""
