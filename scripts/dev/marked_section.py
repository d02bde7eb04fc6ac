"""The part of a document that a command writes: it stands between two marks."""

from __future__ import annotations

import sys
from pathlib import Path

END = "<!-- end -->"


def with_section(document: Path, tool: str, section: str) -> str:
    """The document with `section` between the marks of scripts/dev/`tool`. Leaves with a message where they do not stand there
    once and in order."""
    begin = f"<!-- written by scripts/dev/{tool} -->"
    old = document.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(END) != 1 or old.index(begin) > old.index(END):
        sys.exit(f"{tool}: {document.parent.name}/{document.name} must have the lines '{begin}' and '{END}' once, in this order")
    return f"{old[:old.index(begin)]}{begin}\n\n{section}\n\n{old[old.index(END):]}"
