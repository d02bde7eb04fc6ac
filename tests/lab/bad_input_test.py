"""What lab refuses: exit code 2, one line that says the value and what is allowed, and nothing made."""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.lab import LAB, Before, lab, must  # noqa: E402

REFUSED = [
    (["up", "0"], "'0' is no number of hosts; choose 1 to 64"),
    (["up", "65"], "choose 1 to 64"),
    (["up", "two"], "'two' is no number"),
    (["up", "2", "--link", "500"], "such as 500mbit"),
    (["up", "2", "--link", "0mbit"], "1mbit to 100gbit"),
    (["up", "2", "--cpu", "0"], "cpu '0'"),
    (["up", "2", "--cpu", "-1"], "-1"),
    (["up", "2", "--latency", "5"], "such as 200us"),
    (["up", "2", "--latency", "1ms", "--switch", "/nowhere"], "needs the program /nowhere"),
    (["up", "2", "--host", "3:cpu=0.1"], "begin with a host from 1 to 2"),
    (["up", "2", "--host", "1:ram=5"], "'ram=5' is unknown; choose among link=RATE and cpu=CORES"),
    (["up", "2", "--frobnicate"], "--frobnicate"),
    (["up"], "hosts"),
    (["check"], "there is no lab"),
    (["run", "-n", "2", "--", "true"], "there is no lab"),
    (["exec", "1", "--", "true"], "there is no lab"),
    (["down"], "there is no lab"),
]
REFUSED_WHEN_UP = [
    (["up", "2"], "is already up"),
    (["run", "--", "true"], "how many ranks?"),
    (["run", "-n", "0", "--", "true"], "-n 0"),
    (["run", "-n", "2"], "what is to run?"),
    (["exec", "3", "--", "true"], "'3' is no host of this lab; choose 1 to 2"),
    (["check", "--program", "/nowhere"], "there is no /nowhere"),
]


def refuses(words: list[str], expected: str) -> None:
    done = lab(*words)
    assert done.returncode == 2, (words, done)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and expected in lines[0] and not done.stdout, (words, done)


def refuses_without_root() -> None:
    """As nobody, who may not even read the sources everywhere: the check comes before anything is made."""
    done = subprocess.run([LAB, "up", "2"], capture_output=True, text=True, check=False, user=65534, group=65534,
                          extra_groups=[], env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 2 and "needs root" in done.stderr, done


def main() -> None:
    before = Before()
    for words, expected in REFUSED:
        refuses(words, expected)
    one_shot = lab("2", "--", "true", name=None)
    assert one_shot.returncode == 2 and "how many ranks?" in one_shot.stderr, one_shot
    refuses_without_root()
    before.check("after refusals")
    try:
        must("up", "2")
        for words, expected in REFUSED_WHEN_UP:
            refuses(words, expected)
        assert must("exec", "1", "--", "hostname").stdout == "lab1\n"  # The lab has not suffered.
    finally:
        must("down")
    before.check("down")
    print("ok")


main()
