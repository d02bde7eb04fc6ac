"""--instructions: each set trains alike and repeats itself bit for bit; all ranks use what the poorest of them has."""
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import LAUNCHER, PROGRAM, Workplace, run, run_json  # noqa: E402

TRAIN = ("train", "--mode", "allreduce", "--data", "synthetic", "--steps", "30", "--evaluate", "never", "--trace", "off",
         "--deterministic")


def used(folder: Path) -> str:
    return json.loads((folder / "manifest.json").read_text())["instruction_set"]


def main() -> None:
    version = run(1, "--version", launcher=False).out
    best, text = re.search(r"^instructions: (\S+) of (.+)$", version, re.MULTILINE).groups()
    sets = text.split(", ")
    assert best == sets[-1], version
    with Workplace() as folder:
        place = ("--results", str(folder))
        runs = {name: [run_json(2, *TRAIN, *place, "--instructions", name, "--name", f"{name}-{again}") for again in (0, 1)] for name in sets}
        for name, (first, second) in runs.items():
            assert first["parameter_hash"] == second["parameter_hash"], name
            assert used(folder / f"{name}-0") == name
            # Roundings of 30 steps; a wrong kernel is far off.
            assert abs(first["loss"] - runs[best][0]["loss"]) < 1e-3, (name, first["loss"])
        # One rank that may use the plainest only stands for a machine that has no other.
        mixed = (*TRAIN, *place, "--name", "mixed")
        done = run(1, *mixed, ":", *LAUNCHER[-1:], "1", PROGRAM, *mixed, "--instructions", sets[0])
        assert done.code == 0, done
        assert used(folder / "mixed") == sets[0]
    print(f"ok, {sets}")


main()
