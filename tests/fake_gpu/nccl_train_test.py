"""On the stand-in, several GPUs train as CPUs do: replay is exact, communication lies inside backward, losses agree.

nccl_train_test.py <program> <library> <launcher>...
"""
import json
import sys
from pathlib import Path

import h5py
import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
LIBRARY = sys.argv.pop(2)
from tests.support.steelyard import Workplace, run  # noqa: E402

MOST_DIFFERENCE = 1e-4  # Of the loss; sums of a GPU go in another order.


def train(ranks: int, device: str, results: Path, *options: str) -> dict:
    gpus = {"LD_PRELOAD": LIBRARY, "STEELYARD_FAKE_GPU_DEVICES": str(ranks)} if device == "cuda" else {}
    done = run(ranks, "train", "--mode", "allreduce", "--device", device, *options, "--results", str(results), "--json", "-", **gpus)
    assert done.code == 0, done
    return json.loads(done.out)


def events(run_directory: Path, rank: int) -> tuple[numpy.ndarray, dict[str, int]]:
    with h5py.File(run_directory / f"ranks/part-0001/rank-{rank:05d}.h5") as file:
        return file["events"][:], h5py.check_enum_dtype(file["events"].dtype["phase"])


def check_replay(ranks: int, folder: Path) -> None:
    """Every value that a worker reads was checked bit for bit; buckets are summed in the step that made them."""
    name = f"replay-{ranks}"
    said = train(ranks, "cuda", folder, "--collective", "nccl", "--model", "replay:googlenet", "--compute-ms", "40", "--bucket-mib", "4",
                 "--steps", "6", "--warmup", "1", "--name", name)
    assert "fake" in said["validity"].split(","), said
    for rank in range(ranks):
        rows, phases = events(folder / name, rank)
        sums = rows[rows["phase"] == phases["allreduce"]]
        by_step = [numpy.count_nonzero(sums["step"] == step) for step in range(6)]
        assert len(set(by_step)) == 1 and by_step[0] > 2, by_step
        assert numpy.all(sums["end_ns"] > sums["begin_ns"]), "in the order of time, on the clock of the rank"
        for step in range(1, 6):
            own = numpy.sort(sums[sums["step"] == step], order="begin_ns")
            assert numpy.all(own["begin_ns"][1:] >= own["end_ns"][:-1]), "one after the other, in a stream of their own"
        if ranks > 1:
            check_overlap(rows, phases, sums)


def check_overlap(rows: numpy.ndarray, phases: dict[str, int], sums: numpy.ndarray) -> None:
    """The device makes gradients behind the host, so communication goes on until the next forward has begun on the host; the
    first bucket is under way long before the last one is made."""
    for step in range(1, 6):
        own = sums[sums["step"] == step]
        span = own["end_ns"].max() - own["begin_ns"].min()
        assert (own["end_ns"] - own["begin_ns"]).sum() < span, "between buckets the device makes gradients"


def check_training(folder: Path) -> None:
    options = ("--model", "mlp:784-32-10", "--data", "synthetic", "--batch", "24", "--steps", "5")
    on_cpus, on_gpus = (train(3, device, folder, *options) for device in ("cpu", "cuda"))
    assert abs(on_cpus["loss"] - on_gpus["loss"]) < MOST_DIFFERENCE, (on_cpus["loss"], on_gpus["loss"])


def check_refusals(folder: Path) -> None:
    shared = run(2, "train", "--mode", "allreduce", "--device", "cuda", "--model", "replay:lenet", "--results", str(folder),
                 LD_PRELOAD=LIBRARY, STEELYARD_FAKE_GPU_DEVICES="1")
    assert shared.code == 2 and shared.err.count("ranks 0 and 1 share one (") == 1, shared


def main() -> None:
    with Workplace() as folder:
        for ranks in (1, 2, 4):
            check_replay(ranks, folder)
        check_training(folder)
        check_refusals(folder)
    print("ok")


main()
