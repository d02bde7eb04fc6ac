"""inspect of a run shows the lines of staleness, waiting and stragglers that its own train showed, in text and JSON."""
import csv
import json
import shutil
import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402

NAMES = ("mode", "pushes", "staleness", "dropped", "waiting", "straggler")
KEYS = ("staleness", "drops", "wait", "straggler", "max_lag", "backup_workers", "staleness_policy", "max_staleness", "on_drop")
SMALL = ("--data", "synthetic", "--model", "mlp:50-20-10", "--evaluate", "never")


def lines(text: str) -> list[str]:
    """The named lines, with what was broken off them."""
    found = []
    named = False
    for line in text.splitlines():
        named = line.split(" ")[0] in NAMES or (named and line.startswith(" " * 11))
        found += [line] if named else []
    return found


def check_train(folder: Path, mode: str, *more: str) -> dict:
    path = folder / f"{mode}.json"
    train = run(4, "train", "--mode", mode, *SMALL, "--steps", "120", "--results", str(folder), "--name", mode, "--json", str(path), *more)
    assert train.code == 0, train
    inspect = run(1, "inspect", str(folder / mode), launcher=False)
    assert inspect.code == 0, inspect
    assert lines(inspect.out) == lines(train.out), (lines(inspect.out), lines(train.out))
    said = {line.split(" ")[0] for line in lines(train.out)}
    assert {"mode", "waiting"} <= said and ("staleness" in said) == (mode == "ps"), train.out
    figures = json.loads(path.read_text())
    shown = run_json(1, "inspect", str(folder / mode), launcher=False)["trials"][0]
    for key in KEYS:
        assert shown[key] == figures[key], (key, shown[key], figures[key])
    row = next(csv.DictReader((folder / mode / "summary.csv").open()))
    assert row["staleness_policy"] == figures["staleness_policy"] and int(row["dropped"]) == figures["dropped"], row
    assert abs(float(row["mean_age_ms"]) - figures["staleness"]["mean_age_ms"]) < 1e-3, row
    return figures


def append(file: h5py.File, name: str, rows: list[tuple]) -> None:
    data = file[name]
    data.resize((len(data) + len(rows),))
    data[-len(rows):] = np.array(rows, dtype=data.dtype)


def check_rows_of_others(folder: Path) -> None:
    """Rows written by h5py, with its view of the enum, come out in the lines and in JSON."""
    directory = folder / "edited"
    shutil.copytree(folder / "ps", directory)
    with h5py.File(directory / "ranks/part-0001/rank-00000.h5", "r+") as server:
        reasons = h5py.check_enum_dtype(server["drops"].dtype["reason"])
        append(server, "drops", [(0, 7, 1, 0, 9, 1000, reasons[reason]) for reason in ("stale", "stale", "late")])
        load = server["load"][:]
        load["dropped"][0] = 3
        server["load"][:] = load
    for rank in (1, 2, 3):  # What the run itself recorded depends on timing.
        with h5py.File(directory / f"ranks/part-0001/rank-0000{rank}.h5", "r+") as worker:
            worker["reads"].resize((0,))
    with h5py.File(directory / "ranks/part-0001/rank-00001.h5", "r+") as worker:
        append(worker, "reads", [(0, 100, 0, 3000, 2, 500), (0, 101, 0, 1000, -1, 1)])
    inspect = run(1, "inspect", str(directory), launcher=False).out
    assert ": 2 stale, 1 late" in inspect and "; 75 % of it for worker 2" in inspect and "skew up to 500" in inspect, inspect
    shown = run_json(1, "inspect", str(directory), launcher=False)["trials"][0]
    drops = shown["drops"]
    assert (drops["stale"], drops["late"], drops["stopped"]) == (2, 1, 0) and drops["by_worker"] == [0, 3, 0], drops
    assert drops["share"] == 3 / shown["pushes"] and shown["wait"]["waited_for"] == [0, 0, 0.75], shown


def check_compare(folder: Path) -> None:
    result = run(4, "compare", *SMALL, "--steps", "60", "--servers", "1", "--consistency", "asp", "--rounds", "2", "--confirm-rounds", "0",
                 "--results", str(folder), "--name", "compare")
    assert result.code == 0, result
    head = next(line for line in result.out.splitlines() if line.startswith("contestant "))
    assert " stale" in head and "drop %" not in head, head
    assert "stale: updates between read and apply, median/max" in result.out, result.out
    assert all(len(line) <= 100 for line in result.out.splitlines() if not line.startswith("run ")), result.out
    shown = run(1, "inspect", str(folder / "compare"), launcher=False).out
    of_contestants = [line for line in result.out.splitlines() if line.startswith("straggler ")]
    assert " stale" in shown and [line for line in shown.splitlines() if line.startswith("straggler ")] == of_contestants, shown


def main() -> None:
    with Workplace() as folder:
        asp = check_train(folder, "ps", "--consistency", "asp")
        staleness = asp["staleness"]
        assert sum(one["pushes"] for one in staleness["histogram"]) == asp["pushes"] - asp["dropped"], asp
        assert sum(one["pushes"] for one in staleness["by_worker"]) == asp["applied"], asp
        assert len(staleness["by_worker"]) == 3 and len(staleness["by_server"]) == 1, staleness
        assert staleness["mean_age_ms"] > 0 and 0 <= staleness["mean"] <= staleness["max"], staleness
        check_rows_of_others(folder)
        allreduce = check_train(folder, "allreduce")
        assert allreduce["staleness"]["histogram"] == [] and allreduce["wait"]["waited_for"] == [], allreduce
        assert len(allreduce["wait"]["by_worker"]) == 4, allreduce["wait"]
        check_compare(folder)
    print("ok")


main()
