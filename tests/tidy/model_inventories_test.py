"""data/models/ is what its script writes, and adds up to the published counts; each file is in the README's table."""
import re
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1])
done = subprocess.run([sys.executable, "-B", root / "scripts/dev/write_model_inventories", "--check"], capture_output=True, text=True, check=False)
assert done.returncode == 0, done.stdout + done.stderr
readme = (root / "data/models/README.md").read_text()
written = [line.split() for line in done.stdout.splitlines()[1:]]
assert {row[0] for row in written} == {path.stem for path in (root / "data/models").glob("*.csv")}
for name, tensors, parameters, with_extras, without, *_ in written:
    assert re.search(rf"^\| `{name}` \| {tensors} \| {parameters} \| {with_extras} \| {without} \|", readme, re.MULTILINE), f"{name} in the README"
print("ok")
