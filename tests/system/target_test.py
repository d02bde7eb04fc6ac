"""Time to accuracy: train and inspect say it, compare pairs it by seed, and images/s alone decide nothing between bsp and asp."""
import csv
import sys
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402

SMALL = ("--data", "synthetic", "--model", "mlp:50-20-10", "--batch", "32", "--lr", "0.002")
STEPS = 200


def first_step_s(directory: Path) -> float:
    """Begin of the first worker's first step, in seconds on its clock."""
    with h5py.File(directory / "run.h5") as file:
        roles, steps = file["roles"][:], file["steps"]
        rank = int(roles[(roles["role"] == b"worker") & (roles["role_index"] == 0)]["rank"][0])
        start = int(steps.attrs["rank_start"][rank])
        return float(steps[start]["begin_ns"]) / 1e9


def check_train(folder: Path, mode: str) -> None:
    asked = ("train", "--mode", mode, *SMALL, "--steps", str(STEPS), "--evaluate-every", "20", "--deterministic", "--results", str(folder))
    trained = run_json(3, *asked, "--target-accuracy", "0.5", "--name", mode)
    evaluations = trained["evaluations"]
    assert [one["step"] for one in evaluations] == list(range(20, STEPS + 1, 20)), evaluations
    times = [one["time_s"] for one in evaluations]
    assert times == sorted(times), times
    assert trained["accuracy"] == evaluations[-1]["accuracy"]
    first = next(one for one in evaluations if one["accuracy"] >= 0.5)
    assert first["step"] > 20, "the target is not reached at once, so the test can fail"
    assert trained["target_accuracy"] == 0.5 and trained["target_step"] == first["step"], trained
    assert trained["time_to_target_s"] == first["time_s"], trained
    with h5py.File(folder / mode / "run.h5") as file:
        kept = file["evaluation"]["time_ns"][:] / 1e9 - first_step_s(folder / mode)
        assert all(abs(a - b) < 1e-6 for a, b in zip(times, kept, strict=True)), (times, kept)
        kept = file["final"][0]
        assert kept["target_step"] == first["step"] and kept["evaluate_every"] == 20, kept
    row = next(csv.DictReader((folder / mode / "summary.csv").open()))
    assert abs(float(row["time_to_target_s"]) - trained["time_to_target_s"]) < 1e-3, row

    shown = run_json(1, "inspect", str(folder / mode), launcher=False)["trials"][0]
    for key in ("target_accuracy", "time_to_target_s", "target_step", "evaluations", "accuracy", "diverged"):
        assert shown[key] == trained[key], (key, shown[key], trained[key])
    text = run(1, "inspect", str(folder / mode), launcher=False).out
    line = next(line for line in text.splitlines() if line.startswith("target "))
    assert "0.5 reached after" in line and f"step {first['step']} (evaluated every 20)" in line, line

    missed = run(3, *asked, "--target-accuracy", "1", "--name", f"{mode}-missed")
    assert missed.code == 0 and "target     1 not reached (evaluated every 20)" in missed.out, missed
    shown = run_json(1, "inspect", str(folder / f"{mode}-missed"), launcher=False)["trials"][0]
    assert shown["target_accuracy"] == 1 and shown["time_to_target_s"] is None and shown["target_step"] is None, shown
    assert shown["parameter_hash"] == trained["parameter_hash"], "evaluations change nothing"


def check_without_trace(folder: Path) -> None:
    trained = run_json(2, "train", "--mode", "allreduce", *SMALL, "--steps", str(STEPS), "--evaluate-every", "20", "--target-accuracy", "0.5",
                       "--trace", "off", "--results", str(folder), "--name", "untraced")
    assert trained["time_to_target_s"] > 0
    shown = run_json(1, "inspect", str(folder / "untraced"), launcher=False)["trials"][0]
    for key in ("target_accuracy", "time_to_target_s", "target_step"):
        assert shown[key] == trained[key], (key, shown[key], trained[key])


def compare(folder: Path, name: str, *options: str) -> dict:
    return run_json(3, "compare", *SMALL, "--lr", "0.004", "--steps", "60", "--rounds", "6", "--confirm-rounds", "1", "--results", str(folder), "--name", name,
                    "--trial", "mode=allreduce", "--trial", "mode=ps servers=1 consistency=asp", *options)


def check_compare(folder: Path) -> None:
    plain = compare(folder, "plain")
    assert plain["winner"] is None and "images/s alone cannot decide" in plain["verdict"], plain["verdict"]
    assert {trial["target_accuracy"] for trial in plain["trials"]} == {None} and not plain["confirmation"]

    timed = compare(folder, "timed", "--evaluate-every", "10", "--target-accuracy", "0.3")
    assert "images/s alone" not in timed["verdict"], timed["verdict"]
    assert [(one["measure"], one["a"][0], one["b"][0]) for one in timed["ratios"]] == [("images_per_s", "B", "A"), ("time_to_target", "B", "A")]
    times = {}
    for trial in timed["trials"]:
        times[trial["label"][0], trial["repeat"], trial["confirmation"]] = trial["time_to_target_s"]
    ratios = sorted(times["A", r, False] / times["B", r, False] for r in range(6))
    ratio = timed["ratios"][1]
    assert ratio["rounds"] == 6 and abs(ratio["median"] - (ratios[2] + ratios[3]) / 2) < 1e-6, (ratio, ratios)
    assert [one["reached"] for one in timed["contestants"]] == [6, 6], timed["contestants"]
    with h5py.File(folder / "timed" / "run.h5") as file:
        trials, hashes = file["trials"][:], file["final"]["parameter_hash"]
    for trial in trials:
        assert trial["seed"] == trial["repeat"] + (6 if trial["confirmation"] else 0), "paired by seed"
    of_first = [int(hashes[i]) for i, trial in enumerate(trials) if trial["label"].startswith(b"A") and not trial["confirmation"]]
    assert len(set(of_first)) == 6, "every round trains something else"

    never = compare(folder, "never", "--evaluate-every", "10", "--target-accuracy", "1")
    assert never["winner"] is None and "reached the target in 0 rounds" in never["verdict"], never["verdict"]
    assert [one["reached"] for one in never["contestants"]] == [0, 0]
    assert never["ratios"][1]["median"] is None
    shown = run(1, "inspect", str(folder / "never"), launcher=False)
    assert shown.code == 0 and "not reached" in shown.out, shown


def check_text(folder: Path) -> None:
    result = run(3, "compare", *SMALL, "--lr", "0.004", "--steps", "60", "--rounds", "6", "--evaluate-every", "10", "--target-accuracy", "0.3", "--results",
                 str(folder), "--name", "text", "--consistency", "asp", "--confirm-rounds", "0")
    assert result.code == 0 and "6 of 6" in result.out and "sooner at the target" in result.out, result
    assert "in round r all train with seed 0 + r" in result.out, result.out
    directory = next(line for line in result.out.splitlines() if line.startswith("run "))
    for line in result.out.splitlines():
        assert len(line) <= 100 or line == directory, line


def main() -> None:
    with Workplace() as folder:
        for mode in ("ps", "allreduce"):
            check_train(folder, mode)
        check_without_trace(folder)
        check_compare(folder)
        check_text(folder)
    print("ok")


main()
