"""The tables of docs/placement.md are what the program says."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import PROGRAM  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
done = subprocess.run([sys.executable, "-B", ROOT / "scripts/dev/placement_table", "--check", PROGRAM], capture_output=True, text=True, check=False)
assert done.returncode == 0, done.stdout + done.stderr
text = (ROOT / "docs/placement.md").read_text()
assert text.count("| `striped` |") >= 3 and text.count("`mnist-fc` |") >= 2, "the tables are there"
print("ok")
