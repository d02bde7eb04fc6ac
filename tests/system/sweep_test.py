"""scripts/sweep on this machine: all runs, failures, a sweep that was stopped, one that grows, two at once."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.support.steelyard import LAUNCHER, PROGRAM, Workplace  # noqa: E402

GRID = 'data = "synthetic"\nmodel = "mlp:20-10"\nsteps = 10\nservers = {}\n'
LAUNCH = " ".join(LAUNCHER[:-1])


def command(folder: Path, servers: list[int], *words: str) -> list[str]:
    file = folder / "tiny.toml"
    file.write_text(GRID.format(servers))
    return [str(ROOT / "scripts/sweep"), str(file), "-n", "3", "--results", str(folder / "results"), "--program", PROGRAM,
            "--launcher", LAUNCH, *words]


def sweep(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*words), capture_output=True, text=True, check=False, timeout=110)


def check_all(folder: Path) -> None:
    done = sweep(folder, [1, 2])
    assert done.returncode == 0, done
    assert "[1/2] 000-servers-1 done in" in done.stdout and "about" in done.stdout and "2 of 2 done" in done.stdout, done.stdout
    made = folder / "results/tiny"
    assert {path.name for path in made.iterdir()} == {"000-servers-1", "001-servers-2", "000-servers-1.log", "001-servers-2.log",
                                                      "grid.toml", ".locks"}
    for number in (1, 2):
        manifest = json.loads((made / f"00{number - 1}-servers-{number}/manifest.json").read_text())
        assert f"--servers={number}" in manifest["argv"] and len(manifest["hosts"]) == 3
    assert (made / "grid.toml").read_bytes() == (folder / "tiny.toml").read_bytes()

    again = sweep(folder, [1, 2])
    assert again.returncode == 0 and "2 done, 0 to do" in again.stdout, again
    bigger = sweep(folder, [1, 2], "-n", "4")
    assert bigger.returncode == 2 and "was made with 3 ranks and this would have 4" in bigger.stderr, bigger
    other = sweep(folder, [2, 1])
    assert other.returncode == 2 and "is of another grid" in other.stderr, other
    assert (made / "grid.toml").read_text() == GRID.format([1, 2]), "a refusal changes nothing"


def check_growing(folder: Path) -> None:
    """Points may be added at the end."""
    words = command(folder, [1], "--name", "growing")
    for seeds in ([1, 2], [1, 2, 3]):
        (folder / "tiny.toml").write_text(GRID.format(1) + f"seed = {seeds}\n")
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=110)
        assert done.returncode == 0 and f"{len(seeds)} of {len(seeds)} done" in done.stdout, done
    assert "2 done, 1 to do" in done.stdout, done.stdout
    assert "seed = [1, 2, 3]" in (folder / "results/growing/grid.toml").read_text()


def check_refusal_before_all(folder: Path) -> None:
    """The third point cannot run, which is known before the first does."""
    done = sweep(folder, [1, 2, 3], "--name", "refused")
    assert done.returncode == 2 and "point 2 (servers-3)" in done.stderr and "--dry-run" in done.stderr, done
    assert not (folder / "results/refused").exists()


def check_failure(folder: Path) -> None:
    """A run that fails is said, with the end of its log, and the others go on."""
    fails = folder / "launcher"
    fails.write_text(f'#!/bin/sh\ncase "$*" in *--dry-run*) ;; *servers=1*) echo out of luck >&2; exit 9;; esac\nexec {LAUNCH} "$@"\n')
    fails.chmod(0o755)
    done = sweep(folder, [1, 2], "--name", "fails", "--launcher", str(fails))
    assert done.returncode == 1 and "000-servers-1 FAILED" in done.stdout and "exit code 9" in done.stdout, done
    assert "    out of luck" in done.stdout and "[2/2] 001-servers-2 done" in done.stdout, done.stdout
    assert "1 of 2 FAILED" in done.stdout, done.stdout


def check_stopped(folder: Path) -> None:
    """A sweep that is interrupted goes on with what is missing, and keeps what the killed try left."""
    slow = ("--name", "stopped", "--launcher", f"env STEELYARD_FLUSH_SECONDS=0.2 {LAUNCH}")
    words = command(folder, [1, 2], *slow)
    (folder / "tiny.toml").write_text(GRID.format([1, 2]).replace("steps = 10", "steps = 300000"))
    job = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    first = folder / "results/stopped/000-servers-1"
    deadline = time.monotonic() + 60
    while not (first / "run.h5").exists():
        assert job.poll() is None and time.monotonic() < deadline, job.communicate()
        time.sleep(0.02)  # Only spares the core; the loop's condition decides.
    job.send_signal(signal.SIGINT)
    said, _ = job.communicate(timeout=100)
    assert job.returncode == 128 + signal.SIGINT and "goes on with the 2 that are missing" in said, (job.returncode, said)
    assert not (first / "done").exists()
    # As if the killed try had been one of a shorter grid.
    (folder / "results/stopped/grid.toml").unlink()
    done = sweep(folder, [1, 2], *slow)
    assert done.returncode == 0 and "an incomplete try is now" in done.stdout and "2 of 2 done" in done.stdout, done
    assert (first / "done").exists() and (first.parent / "000-servers-1.partial-1/run.h5").exists()


def check_two_at_once(folder: Path) -> None:
    """A point that another sweep is at is left to it."""
    locks = folder / "results/twice/.locks"
    locks.mkdir(parents=True)
    with (locks / "000").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = sweep(folder, [1, 2], "--name", "twice")
        assert done.returncode == 0 and "another sweep is at it" in done.stdout and "1 of 2 done" in done.stdout, done
        one = sweep(folder, [1, 2], "--name", "twice", "--index", "0")
        assert one.returncode == 0 and "left to it" in one.stdout, one
    one = sweep(folder, [1, 2], "--name", "twice", "--index", "0")
    assert one.returncode == 0 and (folder / "results/twice/000-servers-1/done").exists(), one
    past = sweep(folder, [1, 2], "--name", "twice", "--index", "2")
    assert past.returncode == 2 and "has 2 points, 0 to 1" in past.stderr, past


def main() -> None:
    os.environ.pop("SLURM_RESTART_COUNT", None)
    with Workplace() as folder:
        check_all(folder)
        check_growing(folder)
        check_refusal_before_all(folder)
        check_failure(folder)
        check_stopped(folder)
        check_two_at_once(folder)
    print("ok")


main()
