"""--help, --version and --print-config answer before MPI starts, once under a launcher, with exit code 0."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import run  # noqa: E402


def main() -> None:
    for arguments, mark in ((("--version",), "steelyard 0."), (("--help",), "Subcommands:"), (("train", "--help"), "--bundle-bytes"),
                            (("compare", "--help"), "--rounds"), (("inspect", "--help"), "Positionals:"), (("place", "--help"), "--explain"),
                            (("train", "--print-config"), "# steelyard train")):
        for ranks, launcher in ((1, False), (1, True), (4, True)):
            result = run(ranks, *arguments, launcher=launcher)
            assert result.code == 0, (arguments, result)
            assert result.out.count(mark) == 1, (arguments, ranks, result.out)
            assert not result.own_lines(), result
            assert all(len(line) <= 100 for line in result.out.splitlines() if not line.startswith("build:")), result.out
    print("ok")


main()
