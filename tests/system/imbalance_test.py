"""The classic hot server: an MNIST network on four servers, round robin, and what range makes of it."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402


def shares(train: dict) -> list[float]:
    loads = [load["bytes_in"] for load in train["server_load"]]
    return [round(100 * load / sum(loads), 2) for load in loads]


def main() -> None:
    with Workplace() as folder:
        asked = ("train", "--mode", "ps", "--servers", "4", "--model", "mlp:784-256-128-64-10", "--data", "fashion-mnist-sample",
                 "--steps", "20", "--results", str(folder))
        hot = run_json(8, *asked, "--placement", "round_robin", "--placement-offset", "1", "--name", "hot")
        assert shares(hot) == [0.06, 86.05, 0.13, 13.76], shares(hot)
        even = run_json(8, *asked, "--placement", "range", "--name", "even")
        assert even["server_max_over_mean"]["bytes"] <= 1.01, even["server_max_over_mean"]
        assert "86.05" in run(1, "inspect", str(folder / "hot"), launcher=False).out
        assert "25.00" in run(1, "inspect", str(folder / "even"), launcher=False).out
    print("ok")


main()
