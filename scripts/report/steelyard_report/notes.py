"""What could not be used, and why: on standard error at once, and at the report's foot."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field


@dataclass
class Notes:
    rows: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str | os.PathLike[str], reason: str) -> None:
        row = (os.fspath(path), reason)
        if row in self.rows:
            return
        self.rows.append(row)
        print(f"report: {row[0]}: {reason}", file=sys.stderr)
