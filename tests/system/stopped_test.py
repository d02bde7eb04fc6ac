"""SIGUSR1 and SIGTERM end train and compare in order: exit code 85, a whole trace, no `done`, no verdict."""
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import LAUNCHER, PROGRAM, Workplace, run, run_json  # noqa: E402

SMALL = ("--data", "synthetic", "--model", "mlp:50-20-10", "--flush-seconds", "0.1")
ENDLESS = ("--steps", "1000000")
STOPPED = 85


def steps_written(directory: Path) -> int:
    result = run(1, "inspect", str(directory), "--json", "-", launcher=False)
    return json.loads(result.out)["trials"][0]["steps"] or 0 if result.code == 0 else 0


def ranks_of(job: subprocess.Popen) -> list[int]:
    """Processes in the order of their ranks."""
    return sorted(int(child) for child in Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split())


def start(ranks: int, *arguments: str) -> subprocess.Popen:
    command = [PROGRAM, *arguments] if ranks == 1 else [*LAUNCHER, str(ranks), PROGRAM, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(job: subprocess.Popen, holds: Callable[[], bool]) -> None:
    while not holds():
        assert job.poll() is None, job.communicate()
        time.sleep(0.02)  # Only spares the core; the condition decides.


def check_trace(directory: Path, ranks: int) -> None:
    assert not (directory / "done").exists()
    assert json.loads((directory / "manifest.json").read_text())["exit_status"] == STOPPED
    shown = run_json(1, "inspect", str(directory), launcher=False)
    assert not shown["unclosed"] and not shown["missing"] and not shown["complete"], shown
    text = run(1, "inspect", str(directory), launcher=False).out
    assert "stopped by a signal before it was whole" in text, text
    assert len(list((directory / "ranks" / "part-0001").iterdir())) == ranks


def train(folder: Path, ranks: int, name: str, which: int | None, number: signal.Signals, *options: str) -> None:
    """@param which rank gets the signal; None: the launcher, which hands it on to all."""
    job = start(ranks, "train", *SMALL, *ENDLESS, "--results", str(folder), "--name", name, "--json", str(folder / f"{name}.json"), *options)
    wait_for(job, lambda: steps_written(folder / name) >= 5)
    os.kill(job.pid if which is None else ranks_of(job)[which], number)
    begin = time.monotonic()
    out, err = job.communicate(timeout=100)
    print(f"{name}, {ranks} ranks, {number.name} to {'all' if which is None else which}: ended after {time.monotonic() - begin:.2f} s")
    assert job.returncode == STOPPED, (name, job.returncode, out, err)
    said = json.loads((folder / f"{name}.json").read_text())
    assert said["status"] == "stopped" and 5 <= said["steps"] < 1000000, said
    assert said["pushes"] == said["applied"] + said["dropped"], said
    late = said["drops"]["late"] if "--backup-workers" in options else 0
    assert said["drops"]["stopped"] + late == said["dropped"], said
    in_step = "asp" not in options and "ssp" not in options and "--backup-workers" not in options
    assert said["dropped"] == 0 if in_step else said["dropped"] > 0, said
    assert re.search(r"STOPPED +by a signal after [\d,]+ of 1,000,000 steps", out), out
    check_trace(folder / name, ranks)
    shown = run_json(1, "inspect", str(folder / name), launcher=False)["trials"][0]
    assert shown["status"] == "stopped" and shown["steps"] == said["steps"] and shown["pushes"] == said["pushes"], (shown, said)
    assert ",stopped," in (folder / name / "summary.csv").read_text()


def check_train(folder: Path) -> None:
    usr1, term = signal.SIGUSR1, signal.SIGTERM
    train(folder, 1, "alone", None, usr1, "--mode", "allreduce")
    train(folder, 2, "two", None, usr1, "--mode", "allreduce")
    train(folder, 3, "server", 0, usr1, "--mode", "ps")
    train(folder, 3, "worker", 2, term, "--mode", "ps", "--consistency", "asp")
    train(folder, 4, "backup", None, usr1, "--mode", "ps", "--backup-workers", "1")
    train(folder, 4, "last", 3, term, "--mode", "allreduce", "--collective", "ring")
    train(folder, 7, "seven", 1, usr1, "--mode", "ps", "--servers", "2", "--consistency", "ssp")


def check_compare(folder: Path) -> None:
    def compare(name: str, *options: str) -> subprocess.Popen:
        return start(3, "compare", *SMALL, "--confirm-rounds", "0", "--rounds", "100", "--results", str(folder), "--name", name, *options,
                     "--json", str(folder / f"{name}.json"))

    job = compare("rounds", "--steps", "2000")
    statuses = lambda: [one["status"] for one in run_json(1, "inspect", str(folder / "rounds"), launcher=False)["trials"]]  # noqa: E731
    wait_for(job, lambda: steps_written(folder / "rounds") >= 5)
    os.kill(ranks_of(job)[2], signal.SIGUSR1)
    out, err = job.communicate(timeout=100)
    assert job.returncode == STOPPED, (job.returncode, out, err)
    said = json.loads((folder / "rounds.json").read_text())
    assert said["stopped"] and said["winner"] is None and said["verdict"].startswith("No verdict: a signal stopped the comparison after"), said["verdict"]
    assert said["verdict"] in " ".join(out.split()), out
    check_trace(folder / "rounds", 3)
    assert statuses().count("planned") > 50 and statuses().count("stopped") <= 1, statuses()
    assert [one["status"] for one in said["trials"]].count("done") == statuses().count("done")


def check_calibration(folder: Path) -> None:
    """Nothing is recorded yet, so there is no run."""
    job = start(2, "compare", "--model", "replay:lenet", "--compute-ms", "400", "--batch-per-worker", "32", "--results", str(folder), "--name", "none", "--progress", "always")
    text = ""
    while "how long a step takes" not in text:
        text += os.read(job.stderr.fileno(), 4096).decode()
        assert job.poll() is None, text
    os.kill(job.pid, signal.SIGUSR1)
    out, err = job.communicate(timeout=100)
    assert job.returncode == STOPPED, (job.returncode, out, err)
    assert "steelyard: stopped by a signal before the first trial; there is no run" in err, err
    assert not (folder / "none").exists()


def main() -> None:
    with Workplace() as folder:
        check_train(folder)
        check_compare(folder)
        check_calibration(folder)
    print("ok")


main()
