"""One rank killed in mid-run: the job ends, and inspect recovers what was flushed."""
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import LAUNCHER, PROGRAM, Workplace, run  # noqa: E402


def steps_written(directory: Path) -> int:
    """Steps that inspect can read of a run that is still going on."""
    result = run(1, "inspect", str(directory), "--json", "-", launcher=False)
    return json.loads(result.out)["trials"][0]["steps"] if result.code == 0 else 0


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def kill_one(folder: Path, which: int) -> None:
    name = f"killed-{which}"
    job = subprocess.Popen([*LAUNCHER, "3", PROGRAM, "train", "--mode", "ps", "--data", "synthetic", "--model", "mlp:100-50-10",
                            "--steps", "1000000", "--flush-seconds", "0.2", "--results", str(folder), "--name", name],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while steps_written(folder / name) < 300:
        assert job.poll() is None, job.communicate()
        time.sleep(0.05)  # Only spares the core; the loop's condition decides.
    ranks = sorted(children(job.pid))
    assert len(ranks) == 3, ranks
    os.kill(ranks[which], signal.SIGKILL)
    begin = time.monotonic()
    _, err = job.communicate(timeout=100)
    print(f"rank {which} killed: the job ended after {time.monotonic() - begin:.1f} s with exit code {job.returncode}")
    assert job.returncode != 0
    assert "signal 9" in err, err

    result = run(1, "inspect", str(folder / name), launcher=False)
    assert result.code == 0, result
    assert "not complete" in result.out and "recovered" in result.out, result.out
    assert not (folder / name / "done").exists()
    assert steps_written(folder / name) >= 300


def main() -> None:
    with Workplace() as folder:
        for which in (0, 2):  # The server, a worker.
            kill_one(folder, which)
    print("ok")


main()
