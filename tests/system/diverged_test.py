"""A loss that is no finite number: the trial is marked, the step is said, the exit code is 3."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run  # noqa: E402


def main() -> None:
    with Workplace() as folder:
        for mode in ("ps", "allreduce"):
            result = run(2, "train", "--mode", mode, "--data", "synthetic", "--model", "mlp:50-20-10", "--steps", "80", "--lr", "100000",
                         "--optimizer", "sgd", "--results", str(folder), "--name", mode)
            assert result.code == 3, result
            assert "DIVERGED" in result.out, result.out
            assert (folder / mode / "done").exists()
    print("ok")


main()
