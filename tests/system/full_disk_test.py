"""A path that cannot be opened is bad input, exit code 2; a file that cannot be written to its end is a failure, 1."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run  # noqa: E402

FULL = "/dev/full"  # Opens, and takes no byte.


def main() -> None:
    with Workplace() as folder:
        small = ("--data", "synthetic", "--model", "mlp:50-20-10", "--steps", "10", "--results", str(folder))
        allreduce = ("train", "--mode", "allreduce", *small)
        assert run(2, *allreduce, "--name", "there").code == 0
        commands = [(2, (*allreduce, "--name", "train", "--json")),
                    (2, (*allreduce, "--dry-run", "--json")),
                    (2, ("compare", *small, "--rounds", "1", "--confirm-rounds", "0", "--name", "compare", "--json")),
                    (0, ("inspect", str(folder / "there"), "--json")),
                    (0, ("place", "lenet", "--servers", "2", "--json")),
                    (0, ("place", "lenet", "--servers", "2", "--csv")),
                    (0, ("place", "lenet", "--servers", "2", "--placement", "range", "--write"))]
        for ranks, arguments in commands:
            for path, code in ((FULL, 1), (str(folder / "none" / "file"), 2)):
                result = run(ranks, *arguments, path, launcher=ranks > 0)
                assert result.code == code, (arguments, path, result)
                said = result.own_lines()
                assert len(said) == 1 and f"{arguments[-1]} '{path}': cannot be written: " in said[0], (arguments, said)
                assert code == 1 or not result.out, "refused before anything is shown"
    print("ok")


main()
