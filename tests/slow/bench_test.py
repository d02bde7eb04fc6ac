"""scripts/bench: says which sections there are, refuses others, and writes a table whose lines are complete."""
import csv
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, PROGRAM = Path(sys.argv[1]), Path(sys.argv[2])
COLUMNS = ["section", "what", "unit", "ours", "against", "peer", "ratio", "low", "high", "share", "wanted", "verdict"]
SIZES = ("4 KiB", "64 KiB", "1 MiB", "16 MiB", "64 MiB")


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "scripts" / "bench"), "--build", str(PROGRAM.parent), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)


def check_refusals() -> None:
    for options, word in ((("--only", "nonsense"), "train-ps"), (("--rounds", "3"), "at least 6"),
                          (("--csv", "/nowhere/at/all.csv"), "no such folder")):
        done = bench(*options)
        assert done.returncode == 2 and word in done.stderr, (options, done)


def check_row(row: dict[str, str]) -> None:
    assert list(row) == COLUMNS and row["section"] == "transport", row
    ours, peer, ratio, low, high = (float(row[name]) for name in ("ours", "peer", "ratio", "low", "high"))
    assert ours > 0 and peer > 0 and low <= ratio <= high, row
    assert all(math.isfinite(value) for value in (ours, peer, ratio, low, high)), row
    assert row["verdict"] in (("ok", "short") if row["wanted"] else ("",)), row


def check_table(folder: Path) -> None:
    table, report = folder / "table.csv", folder / "report.json"
    done = bench("--quick", "--only", "transport", "--csv", str(table), "--json", str(report))
    assert done.returncode == 0, done
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        check_row(row)
    for size in SIZES:
        against = {row["against"] for row in rows if row["what"] == f"ps exchange {size}"}
        assert {"ping-pong", "MPI by hand"} <= against, (size, against)
    assert any(row["wanted"] for row in rows) and any(row["against"] == "limit" for row in rows)
    said = json.loads(report.read_text())
    assert [row["what"] for row in said["rows"]] == [row["what"] for row in rows]
    assert said["machine"]["cores"] > 0
    assert sum(line.startswith("ps ") for line in done.stdout.splitlines()) == len(rows)


def main() -> None:
    done = bench("--list")
    assert done.returncode == 0 and done.stdout.startswith("train-one-rank"), done
    check_refusals()
    with tempfile.TemporaryDirectory(prefix="steelyard-bench-test-") as folder:
        check_table(Path(folder))
    print("ok")


main()
