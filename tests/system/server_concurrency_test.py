"""scripts/dev/server_concurrency: a lone server is at work when some server is; several are between in turn and at once."""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.support.steelyard import Workplace, run_json  # noqa: E402

SCRIPT = (sys.executable, str(ROOT / "scripts/dev/server_concurrency"))
TRAIN = ("train", "--model", "replay:lenet", "--mode", "ps", "--compute-ms", "2", "--steps", "12", "--warmup", "2")


def main() -> None:
    with Workplace() as folder:
        for servers in (1, 2):
            for transport in ("message", "shared"):
                name = f"{servers}-{transport}"
                run_json(servers + 2, *TRAIN, "--servers", str(servers), "--transport", transport, "--results", str(folder), "--name", name)
                table = folder / f"{name}.json"
                done = subprocess.run([*SCRIPT, str(folder / name), "--json", str(table)], capture_output=True, text=True, check=True)
                (line,) = json.loads(table.read_text())
                assert line["steps"] == 10 and line["servers"] == servers, line
                assert 1 / servers - 1e-9 <= line["concurrency"] <= 1 + 1e-9, line
                assert len(line["in_use_ms"]) == servers and min(line["in_use_ms"]) > 0, line
                assert len(done.stdout.splitlines()) == 2, done.stdout
        run_json(2, "train", "--model", "replay:lenet", "--mode", "allreduce", "--compute-ms", "2", "--steps", "12", "--results",
                 str(folder), "--name", "none")
        refused = subprocess.run([*SCRIPT, str(folder / "none")], capture_output=True, text=True, check=False)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused
    print("ok")


main()
