"""compare: every contestant once per round, ratios on both bases, one verdict in words, the same figures as JSON."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402

FAST = ("--data", "synthetic", "--model", "mlp:50-20-10", "--steps", "10", "--evaluate", "never")


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


def main() -> None:
    with Workplace() as folder:
        check_usual(folder)
        check_too_few_rounds(folder)
        check_own_contestants(folder)
        check_table_width(folder)
    print("ok")


main()
