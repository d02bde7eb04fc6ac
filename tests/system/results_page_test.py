"""The code blocks of docs/results.md run, one after the other, on a run of each mode, and print the figures of the run."""
import csv
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.support.steelyard import Workplace, run  # noqa: E402


def script_of(run_directory: Path) -> str:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "results.md").read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 5, len(blocks)
    code = "\n".join(blocks)
    assert '"results/RUN"' in code
    return code.replace('"results/RUN"', repr(str(run_directory)))


def check(folder: Path, mode: str) -> None:
    made = run(3, "train", "--mode", mode, "--data", "fashion-mnist-sample", "--model", "mlp:784-32-10", "--batch", "24", "--steps", "60",
               "--results", str(folder), "--name", mode)
    assert made.code == 0, made
    done = subprocess.run([sys.executable, "-W", "error::DeprecationWarning:__main__", "-c", script_of(folder / mode)], capture_output=True,
                          text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    with (folder / mode / "summary.csv").open() as file:
        row = next(csv.DictReader(file))
    # Pandas shows few digits: the speed up to them.
    assert f"{float(row['images_per_s']):.0f}"[:4] in done.stdout.replace(",", ""), (row["images_per_s"], done.stdout)
    assert "60 steps in" in done.stdout and "last loss" in done.stdout, done.stdout
    assert ("from push to handled" in done.stdout) == (mode == "ps"), done.stdout


def main() -> None:
    with Workplace() as folder:
        for mode in ("ps", "allreduce"):
            check(folder, mode)
    print("ok")


main()
