"""Whatever is killed, and when, nothing of a lab stays, and nothing else is touched.

usage: leftovers_test.py PROGRAM [KILLS]
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.lab import LAB, NAME, Before, groups, must, namespaces, wait_until  # noqa: E402

PROGRAM = sys.argv[1]
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 2
RUN = ["--no-check", "-n", "4", "--", PROGRAM, "train", "--model", "replay:lenet", "--compute-ms", "2", "--steps", "1000000",
       "--trace", "off", "--evaluate", "never"]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
FOREIGN = f"steelyard-test-{os.getpid()}"


def kill_run_at(moment_s: float, folder: str) -> None:
    """The moment is what is drawn; nothing waits for it."""
    must("up", "2", "--link", "500mbit", "--cpu", "0.3")
    job = subprocess.Popen([LAB, "run", "--name", NAME, *RUN, "--results", folder], **QUIET)
    time.sleep(moment_s)
    os.kill(job.pid, signal.SIGKILL)
    job.wait()
    must("down")


def kill_up_at(moment_s: float) -> None:
    job = subprocess.Popen([LAB, "up", "--name", NAME, "4", "--link", "500mbit", "--cpu", "0.2"], **QUIET)
    time.sleep(moment_s)
    os.kill(job.pid, signal.SIGKILL)
    job.wait()
    if Path(f"/run/steelyard-lab/{NAME}").exists():
        must("down")


def end_one_shot_by(signal_number: int, before: Before, folder: str) -> None:
    """No `down` afterwards: the one-shot form cleans up by itself, even if it is killed."""
    job = subprocess.Popen([LAB, "2", *RUN, "--results", folder], start_new_session=True, **QUIET)
    wait_until(lambda: any(Path(folder).iterdir()), "the training has begun")
    if signal_number == signal.SIGINT:
        os.killpg(job.pid, signal_number)  # As a terminal does.
    else:
        os.kill(job.pid, signal_number)
    job.wait(timeout=100)
    wait_until(lambda: groups() == before.groups and namespaces() <= before.namespaces, "the lab is gone")


def foreign_things() -> str:
    inside = ["ip", "netns", "exec", FOREIGN, "ip", "-4", "-o", "addr", "show", "dev", "mine"]
    return subprocess.run(inside, capture_output=True, text=True, check=True).stdout


def make_foreign() -> None:
    """A namespace of someone else, with one of the lab's own addresses."""
    for words in (["netns", "add", FOREIGN], ["-n", FOREIGN, "link", "add", "mine", "type", "bridge"],
                  ["-n", FOREIGN, "addr", "add", "10.77.0.1/24", "dev", "mine"]):
        subprocess.run(["ip", *words], check=True)


def main() -> None:
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    print(f"seed {seed}")
    make_foreign()
    try:
        theirs, before = foreign_things(), Before()
        for _ in range(KILLS):
            with tempfile.TemporaryDirectory(prefix="steelyard-test-") as folder:
                moment = chance.uniform(0.0, 3.0)
                kill_run_at(moment, folder)
                before.check(f"run killed after {moment:.2f} s")
            moment = chance.uniform(0.0, 0.8)
            kill_up_at(moment)
            before.check(f"up killed after {moment:.2f} s")
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            with tempfile.TemporaryDirectory(prefix="steelyard-test-") as folder:
                end_one_shot_by(number, before, folder)
            before.check(f"one-shot ended by {number.name}")
        assert foreign_things() == theirs
    finally:
        subprocess.run(["ip", "netns", "del", FOREIGN], check=True)
    print("ok")


main()
