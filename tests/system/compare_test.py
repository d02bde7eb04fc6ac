"""compare: every contestant once per round, ratios on both bases, one verdict in words, the same figures as JSON."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402

SMALL = ("--data", "synthetic", "--model", "mlp:50-20-10", "--evaluate", "never")
FAST = (*SMALL, "--steps", "10")


def check_usual(folder: Path) -> None:
    result = run_json(4, "compare", *FAST, "--servers", "1,2", "--rounds", "7", "--confirm-rounds", "6", "--results", str(folder), "--name", "a")
    trials = [t for t in result["trials"] if not t["confirmation"]]
    labels = ["allreduce 4", "ps 1+3", "allreduce 3 of 4", "ps 2+2", "allreduce 2 of 4"]
    assert len(trials) == 7 * len(labels)
    for repeat in range(7):
        this = [t for t in trials if t["repeat"] == repeat]
        assert sorted(t["label"] for t in this) == sorted(labels), "everyone once per round"
    orders = {tuple(t["label"] for t in trials if t["repeat"] == repeat) for repeat in range(7)}
    assert len(orders) > 1, "rounds have an order of their own"
    assert [(r["a"], r["b"], r["basis"]) for r in result["ratios"]] == [
        ("ps 1+3", "allreduce 4", "ranks"), ("ps 1+3", "allreduce 3 of 4", "workers"),
        ("ps 2+2", "allreduce 4", "ranks"), ("ps 2+2", "allreduce 2 of 4", "workers")]
    for ratio in result["ratios"]:
        assert ratio["differs"] == (ratio["low"] > 1 or ratio["high"] < 1) or not ratio["differs"], ratio
    assert result["verdict"], result
    kept = json.loads((folder / "a" / "comparison.json").read_text())
    assert kept == {key: value for key, value in result.items() if key not in ("run", "lab", "trials")}
    shown = run(1, "inspect", str(folder / "a"), launcher=False)
    assert shown.code == 0 and "ps 2+2" in shown.out, shown


def check_too_few_rounds(folder: Path) -> None:
    result = run_json(3, "compare", *FAST, "--rounds", "3", "--results", str(folder), "--name", "b")
    assert result["verdict"].startswith("No verdict: 3 rounds were run and at least 6 are needed."), result["verdict"]
    assert result["winner"] is None


def check_own_contestants(folder: Path) -> None:
    same = "mode=allreduce"
    result = run_json(2, "compare", *FAST, "--trial", same, "--trial", same, "--trial", "mode=ps servers=1 placement=greedy",
                      "--rounds", "7", "--results", str(folder), "--name", "c")
    assert [r["a"][0] + r["b"][0] for r in result["ratios"]] == ["BA", "CA"]
    assert {t["placement"] for t in result["trials"]} == {"", "greedy"}


def check_table_width(folder: Path) -> None:
    result = run(4, "compare", *FAST, "--servers", "1,2", "--rounds", "6", "--results", str(folder), "--name", "d")
    assert result.code == 0, result
    directory = next(line for line in result.out.splitlines() if line.startswith("run "))
    for line in result.out.splitlines():
        assert len(line) <= 100 or line == directory, line


def check_by_time(folder: Path) -> None:
    """Compute that sleeps 4 ms makes the time of a step known from below: 0.4 s are at most 100 steps, and no fewer
    than 2 * 5 + 20."""
    slow = ("--model", "replay:lenet", "--compute-ms", "4", "--batch-per-worker", "8", "--rounds", "1", "--confirm-rounds", "0",
            "--warmup", "5", "--results", str(folder))
    shown = run(3, "compare", *slow, "--trial-seconds", "0.4", "--dry-run")
    assert shown.code == 0 and "by time: as many as take about 0.4 s" in shown.out, shown
    assert {one["steps"] for one in run_json(3, "compare", *slow, "--dry-run")} == {None}
    result = run_json(3, "compare", *slow, "--trial-seconds", "0.4", "--name", "e")
    steps = {t["steps"] for t in result["trials"]}
    assert len(steps) == 1 and 30 <= min(steps) <= 100, steps
    said = json.loads((folder / "e" / "manifest.json").read_text())["calibration"]
    assert {said["steps"]} == steps and said["trial_seconds"] == 0.4, said
    assert set(said["step_ms"]) == {t["label"] for t in result["trials"]} and min(said["step_ms"].values()) >= 4, said
    assert f"steps = {min(steps)} " in (folder / "e" / "run.toml").read_text()
    again = run_json(3, "compare", "--config", str(folder / "e" / "run.toml"), "--name", "f")
    assert {t["steps"] for t in again["trials"]} == steps, "run.toml repeats the run"
    assert json.loads((folder / "f" / "manifest.json").read_text())["calibration"] is None


def check_steps_of_some(folder: Path) -> None:
    """A contestant that says its steps keeps them."""
    result = run_json(2, "compare", *SMALL, "--trial", "mode=allreduce steps=44", "--trial", "mode=ps servers=1", "--rounds", "1",
                      "--confirm-rounds", "0", "--trial-seconds", "0.001", "--warmup", "50", "--results", str(folder), "--name", "g")
    assert {t["label"][0]: t["steps"] for t in result["trials"]} == {"A": 44, "B": 120}, result["trials"]


def main() -> None:
    with Workplace() as folder:
        check_usual(folder)
        check_too_few_rounds(folder)
        check_own_contestants(folder)
        check_table_width(folder)
        check_by_time(folder)
        check_steps_of_some(folder)
    print("ok")


main()
