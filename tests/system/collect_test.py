"""collect: every trial of many runs, repeats as groups, ratios over pairs, rates; what it cannot read it names and leaves out."""
import csv
import json
import shutil
import statistics
import sys
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Result, Workplace, run, run_json  # noqa: E402

PHASES = ("data", "forward", "backward", "push", "wait", "update")
MEDIANS = ("images_per_s", "step_ms", "wait_share", "bytes_max_over_mean", "busy_max_over_mean", "staleness_median", "load_balance",
           "communication_efficiency", "parallel_efficiency", "accuracy")
SMALL = ("--data", "synthetic", "--model", "mlp:50-20-10", "--steps", "10", "--evaluate", "end")


def collect(*arguments: str) -> Result:
    return run(1, "collect", *arguments, launcher=False)


def make_sweep(folder: Path) -> dict[str, dict]:
    """Two seeds of ps and of allreduce on two ranks, as a sweep leaves them."""
    made = {}
    for mode in (("--mode", "ps", "--servers", "1"), ("--mode", "allreduce")):
        for seed in ("0", "1"):
            name = f"{len(made):03d}-{mode[1]}-{seed}"
            made[name] = run_json(2, "train", *mode, *SMALL, "--seed", seed, "--results", str(folder / "sweep"), "--name", name)
    return made


def check_figures(folder: Path, made: dict[str, dict]) -> None:
    """The figures of collect are those that train showed, from run.h5 alone."""
    out = collect(str(folder / "sweep"), "--json", "-", "--price", "server=0.5,worker=1")
    assert out.code == 0, out
    result = json.loads(out.out)
    assert result["runs"] == 4 and not result["remarks"], result["remarks"]
    for trial in result["trials"]:
        shown = made[Path(trial["run"]).name]
        for key in ("images_per_s", "mode", "servers", "workers", "batch", "accuracy", "loss", "validity", "parameter_hash", "trace_overhead"):
            assert trial[key] == shown[key], (key, trial[key], shown[key])
        assert trial["step_ms"] == shown["step_ms"]["median"] and trial["step_ms_low"] == shown["step_ms"]["low"]
        assert trial["wait_share"] == shown["wait"]["share"]
        assert trial["load_balance"] == shown["pop"]["load_balance"]
        assert trial["worker_parallel_efficiency"] == shown["pop"]["worker"]["parallel_efficiency"]
        for phase in PHASES:
            assert trial[f"{phase}_ms"] == shown["phases_ms"][phase], (phase, trial, shown["phases_ms"])
        for key, value in shown["server_max_over_mean"].items() if trial["mode"] == "ps" else ():
            assert trial[f"{key}_max_over_mean"] == value, (key, trial)
        served = shown["pop"]["server"]
        assert trial["server_parallel_efficiency"] == (served["parallel_efficiency"] if served else None)
        assert trial["nodes"] == 1 and trial["images_per_s_per_node"] == trial["images_per_s"]
        price = 0.5 * trial["servers"] + trial["workers"]
        assert trial["price_per_hour"] == price and abs(trial["images_per_price"] * price / trial["images_per_s"] - 3600) < 1e-6
    assert [(g["name"], g["trials"]) for g in result["groups"]] == [("ps 1+1", 2), ("allreduce 2", 2)], result["groups"]
    for group in result["groups"]:
        own = [trial for trial in result["trials"] if trial["group"] == group["group"]]
        for key in MEDIANS:
            values = [trial[key] for trial in own if trial[key] is not None]
            assert (group[key] is None and not values) or abs(group[key] - statistics.median(values)) < 1e-9, (key, group, values)
    speeds = [{t["seed"]: t["images_per_s"] for t in result["trials"] if t["group"] == g} for g in (0, 1)]
    ratios = {(r["basis"], r["measure"]): r for r in result["ratios"]}
    expected = sum(speeds[0][s] / speeds[1][s] for s in (0, 1)) / 2
    assert abs(ratios["ranks", "images_per_s"]["ratio"] - expected) < 1e-9, (ratios, speeds)
    assert abs(ratios["price", "images_per_s"]["ratio"] - expected * 2 / 1.5) < 1e-9
    one = ratios["ranks", "images_per_s"]
    assert one["pairs"] == 2 and one["scaling"] == "strong" and one["ranked"] and not one["differs"], one


def check_outputs(folder: Path) -> None:
    out = collect(str(folder / "sweep"), "--csv", str(folder / "all.csv"), "--hdf5", str(folder / "all.h5"))
    assert out.code == 0 and "too few pairs: 1 ratio judged together needs at least 6" in out.out and "strong scaling" in out.out, out
    rows = list(csv.DictReader((folder / "all.csv").open()))
    assert len(rows) == 4 and {row["setting.placement"] for row in rows} == {"striped", ""}, rows
    with h5py.File(folder / "all.h5") as file:
        assert file.attrs["format"] == b"steelyard-collection" and file.attrs["version"] == 1
        assert [f"{x:.6g}" for x in file["trials"]["images_per_s"]] == [row["images_per_s"] for row in rows]
        assert file["groups"]["name"].tolist() == [b"ps 1+1", b"allreduce 2"]
        assert (b"optimizer", b"momentum") in [tuple(row)[1:] for row in file["settings"][:]]
        assert len(file["ratios"]) == 1
    again = collect(str(folder / "sweep"), "--hdf5", str(folder / "all.h5"))
    assert again.code == 2 and "exists already" in again.err, again
    for line in out.out.splitlines():
        assert len(line) <= 100, line


def check_compare(folder: Path) -> None:
    """Rounds of a comparison are pairs; the ratio is that of compare itself, and its price too."""
    shown = run_json(2, "compare", *SMALL[:-2], "--rounds", "3", "--price", "server=0.5,worker=1", "--results", str(folder / "other"), "--name", "compared")
    ratio = {r["basis"]: r["median"] for r in shown["ratios"]}
    assert abs(ratio["price"] / ratio["ranks"] - 2 / 1.5) < 1e-9, ratio
    assert shown["contestants"][1]["price_per_hour"] == 1.5 and shown["contestants"][1]["nodes"] == 1, shown["contestants"]
    out = collect(str(folder / "other" / "compared"), "--json", "-")
    result = json.loads(out.out)
    assert len(result["trials"]) == len(shown["trials"])
    names = [g["name"] for g in result["groups"]]
    found = [r for r in result["ratios"] if (names[r["a"]], names[r["b"]], r["basis"]) == ("ps 1+1", "allreduce 2", "ranks")]
    assert len(found) == 1 and found[0]["pairs"] == 3 and abs(found[0]["ratio"] - ratio["ranks"]) < 1e-9, found
    assert found[0]["unlike"] == "", found


def spoil(folder: Path, good: Path) -> dict[str, str]:
    """Runs that cannot be collected, by name, with what has to be said of them."""
    def copy(name: str) -> Path:
        return Path(shutil.copytree(good, folder / name))

    whole = (good / "run.h5").read_bytes()
    (copy("broken") / "run.h5").write_bytes(whole[: len(whole) // 3])
    (copy("no-bytes") / "run.h5").write_bytes(b"")
    (folder / "empty").mkdir()
    (copy("killed-early") / "run.h5").unlink()
    with h5py.File(copy("future") / "run.h5", "r+") as file:
        file.attrs["version"] = 2
    with h5py.File(copy("foreign") / "run.h5", "w") as file:
        file["data"] = [1, 2, 3]
    partial = copy("partial")
    (partial / "done").unlink()
    with h5py.File(partial / "run.h5", "r+") as file:
        del file["final"]
    with h5py.File(copy("no-options") / "run.h5", "r+") as file:
        file.attrs["manifest"] = "{}"
    (folder / "no-options" / "run.toml").write_text("mode = = 3\n")
    (folder / "notes.txt").write_text("not a run")
    return {"broken": "cannot be read as HDF5", "no-bytes": "cannot be read as HDF5", "empty": "holds no run directory",
            "killed-early": "is a run directory without a run.h5", "future": "trace format version 2; this program reads 1",
            "foreign": "is not the run.h5 of a Steelyard run", "partial": "is not complete (no `done`)",
            "no-options": "run.toml cannot be read", "notes.txt": "is not a directory"}


def check_bad_input(folder: Path) -> None:
    good = folder / "sweep" / "000-ps-0"
    bad = folder / "bad"
    bad.mkdir()
    said = spoil(bad, good)
    out = collect(*[str(bad / name) for name in said], str(bad / "nowhere"), str(good), str(folder / "sweep"), "--json", "-")
    assert out.code == 0, out
    result = json.loads(out.out)
    assert result["runs"] == 4, "the run that was named twice counts once"
    lines = out.err.splitlines()
    for name, what in {**said, "nowhere": "does not exist"}.items():
        mine = [line for line in lines if str(bad / name) in line]
        assert len(mine) == 1 and mine[0].startswith("steelyard: ") and what in mine[0], (name, mine, out.err)
    shutil.copytree(good, bad / "twin")
    twin = collect(str(good), str(bad / "twin"))
    assert twin.code == 0 and "is a copy of a run that is collected already" in twin.err and "1 trial of 1 run " in twin.out, twin
    nothing = collect(*[str(bad / name) for name in said])
    assert nothing.code == 2 and "nothing to collect" in nothing.err, nothing
    assert collect().code == 2
    price = collect(str(good), "--price", "server=1")
    assert price.code == 2 and price.err.count("\n") == 1 and "--price 'server=1': must be" in price.err, price


def check_many(folder: Path) -> None:
    """Hundreds of runs, from run.h5 alone: their rank files are gone."""
    count = 300
    for i in range(count):
        target = folder / "many" / f"{i:03d}-copy"
        target.mkdir(parents=True)
        for name in ("run.h5", "run.toml", "done"):
            shutil.copy(folder / "sweep" / "000-ps-0" / name, target)
        with h5py.File(target / "run.h5", "r+") as file:
            file.attrs["manifest"] = json.dumps({"start": str(i)})
    out = collect(str(folder / "many"))
    assert out.code == 0 and f"{count} trials of {count} runs in 1 group" in out.out, out
    assert out.seconds < 30, "a second, and more where others keep the machine busy"


def main() -> None:
    with Workplace() as folder:
        made = make_sweep(folder)
        check_figures(folder, made)
        check_outputs(folder)
        check_compare(folder)
        check_bad_input(folder)
        check_many(folder)
    print("ok")


main()
