"""A job that is stopped by USR1, or whose node goes down, is queued again once and begins anew beside what it left."""
import json
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.slurm_jobs import ENDLESS, Site, site  # noqa: E402

STOPPED = 85
ON_TWO_NODES = ("--nodes=2", "--ntasks-per-node=1")


def trains(at: Site, run: str) -> Callable[[], bool]:
    return (at.results / run / "run.h5").exists


def restarts(at: Site, job: str) -> int:
    words = at.cluster.call("scontrol", "show", "job", job).stdout.split()
    return int(next(word for word in words if word.startswith("Restarts=")).partition("=")[2])


def check_signal(at: Site, launcher: str, said: str) -> None:
    """@param said who queues the job again."""
    log = f"{launcher}.out"
    job = at.submit("train.sbatch", *ENDLESS, options=ON_TWO_NODES, log=log, LAUNCHER=launcher, MAX_REQUEUES="1")
    for tried, run in enumerate((f"train-{job}", f"train-{job}-restart1")):
        at.cluster.wait_until(trains(at, run), f"{run} trains by {launcher}")
        assert restarts(at, job) == tried
        at.cluster.call("scancel", "--batch", "--signal=USR1", job)
        text = "is left alone" if tried else "is queued again"
        at.cluster.wait_until(lambda: job not in at.cluster.jobs() or restarts(at, job) > tried, f"{run} ends and the job {text}")
    at.wait_for_all()
    log_text = (at.logs / log).read_text()
    assert "User defined signal" not in log_text, "the program ends in order"
    assert log_text.count(said) == 1 and "requeued 1 times already" in log_text, log_text
    assert restarts(at, job) == 1
    for run in (f"train-{job}", f"train-{job}-restart1"):
        assert not (at.results / run / "done").exists(), "a run that was stopped is not done"
        assert json.loads((at.results / run / "manifest.json").read_text())["exit_status"] == STOPPED
        assert "stopped" in (at.results / run / "summary.csv").read_text()


def check_node_down(at: Site) -> None:
    grid = at.results.parent / "node.toml"
    grid.write_text('mode = "ps"\ndata = "fashion-mnist-sample"\nevaluate = "end"\nsteps = [2000, 2001]\n')
    job = at.submit("sweep.sbatch", str(grid), options=("--array=0", "--nodes=2", "--ntasks-per-node=1"))
    run = at.results / "node/000-steps-2000"
    at.cluster.wait_until((run / "run.h5").exists, "the run trains")
    at.cluster.call("scontrol", "update", "nodename=n2", "state=down", "reason=test")
    at.cluster.wait_until((run / "done").exists, "the run is done on the nodes that are left")
    at.wait_for_all()
    assert restarts(at, job) == 1
    assert "n2" not in at.manifest("node/000-steps-2000")["hosts"]
    assert (at.results / "node/000-steps-2000.partial-1/run.h5").exists(), "what the first try left is kept"
    at.cluster.call("scontrol", "update", "nodename=n2", "state=resume")


def main() -> None:
    with site() as at:
        check_node_down(at)
        for launcher in ("srun", "mpirun"):
            check_signal(at, launcher, "queueing the job again")
    with site(nodes=2, requeue_exit=True) as at:
        check_signal(at, "srun", "RequeueExit queues the job again")
    print("ok")


main()
