"""A sweep as an array: its throttle, an element that fails, and a second submission that runs what is missing."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.slurm_jobs import Site, site  # noqa: E402

# Four elements; each could have a node of its own at once.
ONE_NODE = ("--nodes=1", "--ntasks-per-node=3")
GRID = """
model = "lenet"
data = "fashion-mnist-sample"
evaluate = "end"
steps = {steps}
[[points]]
mode = "ps"
servers = {servers}
[[points]]
mode = "allreduce"
"""


def write_grid(at: Site, name: str, servers: list[int], steps: int) -> Path:
    file = at.results.parent / name
    file.write_text(GRID.format(servers=servers, steps=steps))
    return file


def sweep(at: Site, *words: str) -> subprocess.CompletedProcess[str]:
    return at.cluster.call(str(at.root / "scripts/sweep"), *words, "--results", str(at.results))


def done(at: Site, name: str) -> dict[str, int]:
    """When each run of a sweep was done, in nanoseconds."""
    return {path.parent.name: path.stat().st_mtime_ns for path in (at.results / name).glob("*/done")}


def check_throttle_and_failure(at: Site) -> None:
    grid = write_grid(at, "fails.toml", servers=[1, 3, 2], steps=10)  # 3 servers of 3 ranks: nobody would work.
    job = at.submit("sweep.sbatch", str(grid), options=ONE_NODE)  # The file's own --array=0-3%2.
    most = [0]

    def ended() -> bool:
        most.append(at.cluster.running())
        return not at.cluster.jobs()
    at.cluster.wait_until(ended, "the sweep has ended", 400)
    assert max(most) <= 2, "more at once than the throttle allows"
    assert set(done(at, "fails")) == {"000-mode-ps-servers-1", "002-mode-ps-servers-2", "003-mode-allreduce"}, at.text()
    failed = at.cluster.call("scontrol", "show", "job", f"{job}_1").stdout
    assert "ExitCode=2:0" in failed and "JobState=FAILED" in failed, failed
    assert "3" in (at.logs / f"sweep-{job}_1.out").read_text()
    assert sweep(at, str(grid), "--array").stdout == "1\n"


def check_past_the_end(at: Site) -> None:
    grid = write_grid(at, "short.toml", servers=[1], steps=10)
    job = at.submit("sweep.sbatch", str(grid), options=(*ONE_NODE, "--array=7"))
    at.wait_for_all()
    assert "index 7:" in at.text() and "has 2 points, 0 to 1" in at.text(), at.text()
    assert "ExitCode=2:0" in at.cluster.call("scontrol", "show", "job", job).stdout
    assert not (at.results / "short").exists()


def check_resume(at: Site) -> None:
    grid = write_grid(at, "half.toml", servers=[1, 2], steps=1000)
    job = at.submit("sweep.sbatch", str(grid), options=(*ONE_NODE, "--array=0-2%1"))
    # One done, the next begun: then all is cancelled.
    begun = at.results / "half/001-mode-ps-servers-2/run.h5"
    at.cluster.wait_until(begun.exists, "the second element trains", 400)
    first = done(at, "half")
    assert list(first) == ["000-mode-ps-servers-1"], first
    at.cluster.call("scancel", job)
    at.wait_for_all()
    assert done(at, "half") == first, "the second element was too short to be killed"
    missing = sweep(at, str(grid), "--array").stdout.strip()
    assert missing == "1-2", missing

    # All elements again, as someone would who submits the same line: what is done is left out.
    job = at.submit("sweep.sbatch", str(grid), options=(*ONE_NODE, "--array=0-2%2"))
    at.wait_for_all()
    now = done(at, "half")
    assert len(now) == 3 and now["000-mode-ps-servers-1"] == first["000-mode-ps-servers-1"], (now, at.text())
    assert "is done; nothing to do" in (at.logs / f"sweep-{job}_0.out").read_text()
    aside = at.results / "half/001-mode-ps-servers-2.partial-1"
    assert (aside / "run.h5").exists() and not (aside / "done").exists()
    assert "there is nothing to submit" in sweep(at, str(grid), "--array").stderr


def main() -> None:
    with site() as at:
        check_past_the_end(at)
        check_throttle_and_failure(at)
        check_resume(at)
    print("ok")


main()
