"""A grid expands to what it says, and is refused where it is wrong, before anything runs."""
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
from steelyard_sweep import command, grid  # noqa: E402
from tests.support.steelyard import PROGRAM, Workplace  # noqa: E402

# Text of a grid, and what the refusal must say.
REFUSED = {
    "": "nothing to sweep",
    "servers = []": "servers = [] has no value",
    "points = []\nservers = 1": "there is no point",
    "nonsense = 3": "--nonsense",
    "servers = [1, 'many']": "--servers 'many'",
    "servers = [1, 2, 1]": "points 0 and 2 are the same run",
    "[[points]]\nservers = [1, 2]\n[[points]]\nservers = 2": "points 1 and 2 are the same run",
    "name = 'a'": "name is the sweep's own",
    "command = 'inspect'\nservers = 1": "choose train or compare",
    "ranks = [2, 0]": "ranks = 0 is no number of ranks",
    "ranks = [2, 9]": "asks for ranks = 9, but there are 3",
    "[model]\nname = 'lenet'": "[model] is a table",
    "steps = 1979-05-27": "is no value",
    "servers = 1\nservers = 2": "is no TOML",
    "seed = [%s]" % ",".join(map(str, range(1001))): "at most 1000",
}


def sweep(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ROOT / "scripts/sweep"), "--program", PROGRAM, *words], capture_output=True, text=True, check=False,
                          timeout=100)


def check_crossing() -> None:
    data = {"model": "lenet", "points": [{"mode": "ps", "servers": [1, 2], "lr": [0.1, 0.2]}, {"mode": "allreduce", "ranks": 2}]}
    points = grid.expand("here", data).points
    assert [point.name for point in points] == [
        "000-mode-ps-servers-1-lr-0.1", "001-mode-ps-servers-1-lr-0.2", "002-mode-ps-servers-2-lr-0.1",
        "003-mode-ps-servers-2-lr-0.2", "004-mode-allreduce-ranks-2"], points
    assert points[3].arguments == ["--model=lenet", "--mode=ps", "--servers=2", "--lr=0.2"]
    assert [point.ranks for point in points] == [None] * 4 + [2] and "--ranks" not in str(points[4].arguments)


def check_values() -> None:
    """Lists in lists are one value; a trial's are several trials; texts become file names."""
    data = {"server-weight": [[1, 1, 0.5], [1, 1, 1]], "deterministic": True, "data-dir": ["/a/b c", "../d"]}
    points = grid.expand("here", data).points
    assert points[0].arguments == ["--server-weight=1,1,0.5", "--deterministic=true", "--data-dir=/a/b c"]
    assert [point.name for point in points][:2] == ["000-server-weight-1_1_0.5-data-dir-_a_b_c", "001-server-weight-1_1_0.5-data-dir-.._d"]
    trials = grid.expand("here", {"command": "compare", "trial": [["mode=ps", "mode=allreduce"]]}).points
    assert [point.arguments for point in trials] == [["--trial=mode=ps", "--trial=mode=allreduce"]]


def check_ranges() -> None:
    assert command.ranges([0, 1, 2]) == "0-2" and command.ranges([0, 2, 3, 7]) == "0,2-3,7" and command.ranges([5]) == "5"


def check_refusals(folder: Path) -> None:
    file = folder / "grid.toml"
    for text, message in REFUSED.items():
        file.write_text(text)
        done = sweep(str(file), "-n", "3", "--results", str(folder / "results"))
        assert done.returncode == 2 and message in done.stderr, (text, message, done)
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for words, message in (((str(folder / "none.toml"),), "cannot be read"), ((str(file), "--name", "a/b"), "is no name"),
                           ((str(file), "-n", "0"), "1 rank or more")):
        file.write_text("servers = 1")
        done = sweep(*(("-n", "3") if "-n" not in words else ()), *words, "--results", str(folder / "results"))
        assert done.returncode == 2 and message in done.stderr, (words, done)
    done = sweep(str(file), "-n", "3", "--program", str(file), "--results", str(folder / "results"))
    assert done.returncode == 2 and "there is no program" in done.stderr, done
    assert not (folder / "results").exists(), "a refusal leaves nothing behind"


def check_examples() -> None:
    for file in sorted((ROOT / "scripts/slurm/grids").glob("*.toml")):
        points = grid.read(file).points
        assert len(points) > 1, file
        for point in points:
            words = [PROGRAM, grid.read(file).command, *point.arguments, "--print-config"]
            assert subprocess.run(words, capture_output=True, check=False).returncode == 0, words


def main() -> None:
    check_crossing()
    check_values()
    check_ranges()
    check_examples()
    with Workplace() as folder:
        check_refusals(folder)
    print("ok")


main()
