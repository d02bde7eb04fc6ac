"""The program trains on the stand-in for a GPU as on a CPU, and its trace says what computed.

train_test.py <program> <library>
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
LIBRARY = sys.argv.pop()
from tests.support.steelyard import Workplace, run  # noqa: E402

MOST_DIFFERENCE = 1e-4  # Of the loss; sums of a GPU go in another order.


def trained(device: str, model: str, results: Path) -> dict:
    preloaded = {"LD_PRELOAD": LIBRARY} if device == "cuda" else {}
    result = run(1, "train", "--mode", "allreduce", "--device", device, "--model", model, "--data", "synthetic", "--batch", "16",
                 "--steps", "3", "--results", str(results), "--json", "-", launcher=False, **preloaded)
    assert result.code == 0, result
    return json.loads(result.out)


def words(run_of_device: dict) -> list[str]:
    return run_of_device["validity"].split(",")


def main() -> None:
    with Workplace() as folder:
        for model in ("mlp:784-32-10", "lenet"):
            on_cpu, on_stand_in = (trained(device, model, folder / "results") for device in ("cpu", "cuda"))
            assert abs(on_cpu["loss"] - on_stand_in["loss"]) < MOST_DIFFERENCE, (on_cpu, on_stand_in)
            assert "fake" not in words(on_cpu) and "fake" in words(on_stand_in), (on_cpu, on_stand_in)
    print("ok")


main()
