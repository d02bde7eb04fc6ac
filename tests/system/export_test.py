"""What export hands over is what the trace holds: as many events, nested per line, flows whole and in order across ranks."""
import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Result, Workplace, run, run_json  # noqa: E402

SMALL = ("--data", "synthetic", "--model", "mlp:50-20-10", "--steps", "12", "--warmup", "2", "--evaluate", "end")
STAGES = {"push": 0, "serve": 1, "apply": 1, "reply": 2, "wait": 3}
EXPORTED = ("trial", "step", "peer", "shard", "bytes")  # Of an event, besides its phase and times.
DATASETS = ("events", "steps", "load", "shard_load", "staleness", "drops", "reads")


def export(run_directory: Path, *options: str) -> Result:
    return run(1, "export", str(run_directory), *options, launcher=False)


class Recorded:
    """What the rank files hold, rank by rank."""

    def __init__(self, directory: Path) -> None:
        self.rows: dict[str, list[np.ndarray]] = {name: [] for name in DATASETS}
        self.error_ns: list[int] = []
        self.drift_ns: list[int] = []
        for path in sorted((directory / "ranks/part-0001").iterdir()):
            with h5py.File(path) as file:
                for name in DATASETS:
                    self.rows[name].append(file[name][:])
                self.error_ns.append(max(int(file.attrs[key]) for key in ("clock_error_ns", "clock_error_at_end_ns")))
                begin = int(file.attrs["clock_offset_ns"])
                self.drift_ns.append(abs(int(file.attrs["clock_offset_at_end_ns"]) - begin))
                names = {value: name for name, value in h5py.check_enum_dtype(file["events"].dtype["phase"]).items()}
        self.phases = Counter(names[row["phase"]] for rows in self.rows["events"] for row in rows)
        self.events = Counter((rank, names[row["phase"]], *(int(row[key]) for key in EXPORTED))
                              for rank, rows in enumerate(self.rows["events"]) for row in rows)
        self.pushes = sum(int(((rows["phase"] == 3) & (rows["peer"] >= 0) & (rows["bytes"] > 0)).sum()) for rows in self.rows["events"])

    def total(self, name: str, field: str) -> int:
        return sum(int(rows[field].sum()) for rows in self.rows[name])

    def count(self, name: str) -> int:
        return sum(len(rows) for rows in self.rows[name])


def nanoseconds(value: Decimal) -> int:
    ns = value * 1000
    assert ns == int(ns), value
    return int(ns)


def check_nested(slices: list[dict]) -> None:
    open_until: list[int] = []
    for one in sorted(slices, key=lambda s: (s["begin"], -s["end"])):
        while open_until and open_until[-1] <= one["begin"]:
            open_until.pop()
        assert not open_until or one["end"] <= open_until[-1], one
        open_until.append(one["end"])


def read_perfetto(path: Path) -> tuple[dict, list[dict]]:
    told = json.loads(path.read_text(), parse_float=Decimal)
    slices = [e for e in told["traceEvents"] if e["ph"] == "X"]
    for one in slices:
        one["begin"] = nanoseconds(Decimal(one["ts"]))
        one["end"] = one["begin"] + nanoseconds(Decimal(one["dur"]))
        assert one["begin"] >= 0 and one["end"] >= one["begin"], one
    return told, slices


def check_flows(told: dict, slices: list[dict], recorded: Recorded) -> None:
    by_line = defaultdict(list)
    for one in slices:
        by_line[one["tid"]].append(one)
    points = defaultdict(list)
    for event in told["traceEvents"]:
        if event["ph"] in "stf":
            points[event["id"]].append(event)
    assert len(points) == recorded.pushes, (len(points), recorded.pushes)
    for flow in points.values():
        kinds = sorted(event["ph"] for event in flow)
        assert kinds in (["s", "t", "t"], ["f", "s", "t", "t"]), flow
        stages = {}
        for event in flow:
            at = nanoseconds(Decimal(event["ts"]))
            names = {"s": {"push"}, "t": {"serve", "apply", "reply"}, "f": {"wait"}}[event["ph"]]
            inside = [one for one in by_line[event["tid"]] if one["begin"] <= at <= one["end"] and one["name"] in names]
            assert inside, event
            stages[STAGES[max(inside, key=lambda one: one["begin"])["name"]]] = (at, event["pid"])
        assert len(stages) == len(flow), flow
        places = [stages[stage] for stage in sorted(stages)]
        for before, after in zip(places, places[1:]):
            allowed = 0 if before[1] == after[1] else recorded.error_ns[before[1] - 1] + recorded.error_ns[after[1] - 1]
            assert before[0] <= after[0] + allowed, (before, after, allowed)


def tensor_names(directory: Path) -> dict[tuple[int, int], str]:
    """Of each shard of each trial."""
    with h5py.File(directory / "run.h5") as file:
        names = [name.decode() for name in file["inventory"]["name"]]
        return {(int(row["trial"]), int(row["shard"])): names[row["tensor"]] for row in file["placement"][:]}


def check_perfetto(directory: Path, path: Path) -> None:
    recorded = Recorded(directory)
    told, slices = read_perfetto(path)
    events = [one for one in slices if one["cat"] != "step"]
    assert Counter((one["pid"] - 1, one["name"], *(one["args"][key] for key in EXPORTED)) for one in events) == recorded.events
    tensors = tensor_names(directory)
    for args in (one["args"] for one in events):
        assert args["tensor"] == tensors.get((args["trial"], args["shard"]), ""), args
    for rank, rows in enumerate(recorded.rows["events"]):
        lengths = sorted(one["end"] - one["begin"] for one in events if one["pid"] - 1 == rank)
        assert np.abs(np.sort(rows["end_ns"] - rows["begin_ns"]) - lengths).max(initial=0) <= recorded.drift_ns[rank] + 1
    assert sum(one["cat"] == "step" for one in slices) == recorded.count("steps")
    lines = defaultdict(list)
    for one in slices:
        lines[one["pid"], one["tid"]].append(one)
    for line in lines.values():
        check_nested(line)
    check_flows(told, slices, recorded)
    assert told["otherData"]["clock_error_ns"] == {str(rank): error for rank, error in enumerate(recorded.error_ns)}
    counters = Counter(e["name"] for e in told["traceEvents"] if e["ph"] == "C")
    sums = [(one["args"]["out"], one["args"]["in"]) for one in told["traceEvents"] if one["ph"] == "C" and one["name"] == "bytes per step"]
    assert [sum(column) for column in zip(*sums)] == [recorded.total("steps", "bytes_out"), recorded.total("steps", "bytes_in")]
    assert counters["bytes per step"] == recorded.count("steps") and counters["pushes waiting at most"] == recorded.count("load")
    named = {e["pid"] for e in told["traceEvents"] if e["ph"] == "M" and e["name"] == "process_name"}
    assert len(named) == len(recorded.error_ns), named


def check_csv(directory: Path, folder: Path) -> None:
    recorded = Recorded(directory)
    for name in DATASETS:
        with (folder / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == recorded.count(name), (name, len(rows))
        fields = ("rank", *recorded.rows[name][0].dtype.names)
        assert not rows or tuple(rows[0]) == fields, (name, fields)
    with (folder / "events.csv").open(newline="") as file:
        events = list(csv.DictReader(file))
    assert Counter(row["phase"] for row in events) == recorded.phases
    for rank, rows in enumerate(recorded.rows["events"]):
        own = [row for row in events if row["rank"] == str(rank)]
        for key in EXPORTED:
            assert [int(row[key]) for row in own] == rows[key].tolist(), key
        lengths = np.array([int(row["end_ns"]) - int(row["begin_ns"]) for row in own])
        assert np.abs(rows["end_ns"] - rows["begin_ns"] - lengths).max(initial=0) <= recorded.drift_ns[rank] + 1
        shift = {int(row["begin_ns"]) - int(begin) for row, begin in zip(own, rows["begin_ns"])}
        assert rank > 0 or shift <= {0}, "rank 0 has the common clock"
    with h5py.File(directory / "run.h5") as file:
        for name in ("trials", "roles", "inventory", "placement", "evaluation", "final", "summary"):
            with (folder / f"{name}.csv").open(newline="") as table:
                written = list(csv.DictReader(table))
            texts = [key for key, (kind, _) in file[name].dtype.fields.items() if kind.kind == "S"]
            assert [[row[key] for key in texts] for row in written] == [[row[key].decode() for key in texts] for row in file[name][:]], name


def entered_regions(folder: Path) -> tuple[Counter[str], int]:
    """How often each region was entered, and for how many nanoseconds all of them together."""
    done = subprocess.run(["otf2-print", str(folder / "traces.otf2")], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0 and not done.stderr, done
    lines = re.findall(r'^(ENTER|LEAVE) +\d+ +(\d+) .*Region: "(\w+)"', done.stdout, re.MULTILINE)
    entered, left = (Counter(region for kind, _, region in lines if kind == wanted) for wanted in ("ENTER", "LEAVE"))
    assert entered == left, (entered, left)
    return entered, sum(int(time) if kind == "LEAVE" else -int(time) for kind, time, _ in lines)


def check_otf2(directory: Path, folder: Path) -> None:
    recorded = Recorded(directory)
    entered, inside_ns = entered_regions(folder)
    recorded_ns = sum(recorded.total(name, "end_ns") - recorded.total(name, "begin_ns") for name in ("events", "steps"))
    assert abs(inside_ns - recorded_ns) <= (max(recorded.drift_ns) + 1) * sum(entered.values()), (inside_ns, recorded_ns)
    assert entered.pop("step", 0) == recorded.count("steps") and entered == recorded.phases, (entered, recorded.phases)


def check_run(folder: Path, name: str, ranks: int, *options: str) -> None:
    run_json(ranks, *options, *SMALL, "--results", str(folder), "--name", name)
    result = export(folder / name, "--perfetto", str(folder / f"{name}.json"), "--csv", str(folder / f"{name}.csv"), "--otf2", str(folder / f"{name}.otf2"))
    assert result.code == 0, result
    check_perfetto(folder / name, folder / f"{name}.json")
    check_csv(folder / name, folder / f"{name}.csv")
    check_otf2(folder / name, folder / f"{name}.otf2")


def check_selection(folder: Path) -> None:
    recorded = Recorded(folder / "compare")
    targets = ("--perfetto", str(folder / "cut.json"), "--csv", str(folder / "cut.csv"), "--otf2", str(folder / "cut.otf2"))
    assert export(folder / "compare", *targets, "--trial", "1", "--steps", "3:5").code == 0
    wanted = sum(int(((rows["trial"] == 1) & (rows["step"] >= 3) & (rows["step"] < 5)).sum()) for rows in recorded.rows["events"])
    _, slices = read_perfetto(folder / "cut.json")
    assert sum(one["cat"] != "step" for one in slices) == wanted > 0
    assert {one["args"]["step"] for one in slices} == {3, 4} and {one["args"]["trial"] for one in slices} == {1}
    for name, column in (("events", "trial"), ("steps", "trial"), ("load", "trial"), ("trials", "id")):
        with (folder / "cut.csv" / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows and {row[column] for row in rows} == {"1"}, name
        assert name not in ("events", "steps") or {row["step"] for row in rows} == {"3", "4"}, name
        assert name != "events" or len(rows) == wanted, (len(rows), wanted)
    assert sum(entered_regions(folder / "cut.otf2")[0].values()) - sum(one["cat"] == "step" for one in slices) == wanted


def check_refusals(folder: Path) -> None:
    good = folder / "bsp"
    run_json(1, "train", "--mode", "allreduce", *SMALL, "--trace", "off", "--results", str(folder), "--name", "untraced", launcher=False)
    fresh = str(folder / "fresh")
    cases = [((good,), "export needs a format"), ((good, "--perfetto", str(folder / "bsp.json")), "exists already"),
             ((good, "--csv", str(folder / "bsp.csv")), "exists already"), ((good, "--csv", fresh, "--trial", "7"), "--trial 7: the run has 1 trial(s), from 0 to 0"),
             ((good, "--csv", fresh, "--trial", "x"), "must be a whole number"), ((good, "--csv", fresh, "--steps", "5"), "must be A:B"),
             ((good, "--csv", fresh, "--steps", "5:5"), "must be A:B"), ((folder, "--csv", fresh), "is not a run directory"),
             ((folder / "untraced", "--csv", fresh), "has no trace to export"), ((folder / "nowhere", "--csv", fresh), "is not a directory")]
    for arguments, words in cases:
        result = export(*arguments)
        assert result.code == 2 and words in result.err and len(result.own_lines()) == 1, (arguments, result)
        assert not Path(fresh).exists(), arguments
    result = export(good, "--perfetto", str(folder / "missing" / "file.json"))
    assert result.code == 1 and "No such file or directory" in result.err, result


def main() -> None:
    with Workplace() as folder:
        check_run(folder, "bsp", 4, "train", "--mode", "ps", "--servers", "2", "--transport", "message", "--bundle-bytes", "1024",
                  "--wire", "fp16")  # So that more comes in than goes out.
        check_run(folder, "asp", 3, "train", "--mode", "ps", "--consistency", "asp", "--staleness-policy", "drop", "--max-staleness", "0",
                  "--on-drop", "recompute")
        check_run(folder, "allreduce", 3, "train", "--mode", "allreduce", "--collective", "ring")
        check_run(folder, "compare", 2, "compare", "--rounds", "2", "--confirm-rounds", "0")
        check_selection(folder)
        check_refusals(folder)
    print("ok")


main()
