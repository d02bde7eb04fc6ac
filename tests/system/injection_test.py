"""--slow: what was injected is in the text, the JSON, the trace and the verdict, and run.toml repeats it."""
import sys
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402

SMALL = ("--data", "synthetic", "--model", "mlp:50-20-10", "--evaluate", "never", "--steps", "10")
SLOW = "worker=1:compute=2.0,server=0:apply=3"


def check_train(folder: Path) -> None:
    place = ("--results", str(folder))
    told = run(3, "train", *SMALL, "--slow", SLOW, *place, "--name", "a")
    assert told.code == 0, told
    assert "injected   worker 1 compute x2, server 0 apply x3" in told.out, told.out
    assert "injected" in next(line for line in told.out.splitlines() if line.startswith("validity")), told.out
    again = run_json(3, "train", "--config", str(folder / "a" / "run.toml"), *place, "--name", "b")
    assert again["slow"] == SLOW and "injected" in again["validity"].split(","), again
    with h5py.File(folder / "a" / "run.h5") as file:
        assert file["trials"]["slow"][0].decode() == SLOW
        assert "injected" in file.attrs["validity"].decode()
    with h5py.File(folder / "a" / "ranks/part-0001/rank-00001.h5") as file:
        assert "injected" in file.attrs["validity"].decode()
    shown = run(1, "inspect", str(folder / "a"), launcher=False)
    assert "injected   worker 1 compute x2, server 0 apply x3" in shown.out, shown.out
    plain = run_json(3, "train", *SMALL, *place, "--name", "c")
    assert plain["slow"] == "" and "injected" not in plain["validity"], plain
    assert plain["parameter_hash"] == again["parameter_hash"], "slowness changes no number of two workers' sums"
    assert "worker 1 compute x2" in run(3, "train", *SMALL, "--slow", SLOW, "--dry-run").out


def check_compare(folder: Path) -> None:
    """One contestant with a server that takes a hundred times as long: the words say that it was made to."""
    trials = ("--trial", "mode=ps servers=1 slow=server=*:apply=500", "--trial", "mode=ps servers=1")
    common = ("compare", *SMALL, *trials, "--rounds", "7", "--confirm-rounds", "6", "--results", str(folder))
    told = run(2, *common, "--name", "d")
    assert told.code == 0 and "injected   A: ps 1+1: every server apply x500" in told.out, told
    words = " ".join(told.out.split())
    assert "and with injected slowness B: ps 1+1 is faster than A: ps 1+1" in words, told.out
    assert "how often such slowness happens, since it was injected" in words, told.out
    for line in told.out.splitlines():
        assert len(line) <= 100 or line.startswith("run "), line
    result = run_json(3, "compare", *SMALL, "--slow", "worker=0:jitter=0.2", "--servers", "1", "--rounds", "1",
                      "--results", str(folder), "--name", "e")
    assert "injected" in result["validity"] and {t["slow"] for t in result["trials"]} == {"worker=0:jitter=0.2"}, result


def main() -> None:
    with Workplace() as folder:
        check_train(folder)
        check_compare(folder)
    print("ok")


main()
