"""A job that is told to stop, that is preempted, or whose node goes down is queued again once and begins anew beside what it
left; so is a heterogeneous one, as a whole."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.slurm_jobs import ENDLESS, Site, check_heterogeneous, check_stopped, site  # noqa: E402

ON_TWO_NODES = ("--nodes=2", "--ntasks-per-node=1")
ON_TWO_OF_THREE = ("--partition=cpu", ":", "--partition=gpu", "--nodes=2")


def check_signal(at: Site, script: str, said: str, options: tuple[str, ...] = ON_TWO_NODES, launcher: str = "srun") -> None:
    """@param said who queues the job again."""
    name = script.removesuffix(".sbatch")
    job = at.submit(script, *ENDLESS, options=options, log="%j.out", LAUNCHER=launcher, MAX_REQUEUES="1")
    for tried, run in enumerate((f"{name}-{job}", f"{name}-{job}-restart1")):
        at.wait_until_trains(run, job)
        assert at.restarts(job) == tried
        at.cluster.call("scancel", "--batch", "--signal=USR1", job)
        text = "is left alone" if tried else "is queued again"
        at.cluster.wait_until(lambda: not at.is_queued(job) or at.restarts(job) > tried, f"{run} ends and the job {text}")
    at.wait_for_all()
    log_text = (at.logs / f"{job}.out").read_text()
    assert "User defined signal" not in log_text, "the program ends in order"
    assert log_text.count(said) == 1 and "requeued 1 times already" in log_text, log_text
    assert at.restarts(job) == 1
    for run in (f"{name}-{job}", f"{name}-{job}-restart1"):
        check_stopped(at, run)


def check_preempted(at: Site) -> None:
    """A job of a higher partition takes a node: the signal is Slurm's own, GraceTime before it takes the node."""
    job = at.submit("train.sbatch", *ENDLESS, options=(*ON_TWO_NODES, "--nodelist=n1,n2"), log="preempted.out")
    at.wait_until_trains(f"train-{job}", job)
    urgent = at.cluster.submit("--partition=urgent", "--nodelist=n2", "--exclusive", "--output=/dev/null", "--wrap=true")
    at.wait_until_trains(f"train-{job}-restart1", job)
    assert not at.is_queued(urgent), "the job that took the node has had it"
    assert at.restarts(job) == 1
    assert (at.logs / "preempted.out").read_text().count("USR1: stopping the run") == 1, at.text()
    check_stopped(at, f"train-{job}")
    at.cluster.call("scancel", job)
    at.wait_for_all()


def check_node_down(at: Site) -> None:
    grid = at.results.parent / "node.toml"
    grid.write_text('mode = "ps"\ndata = "fashion-mnist-sample"\nevaluate = "end"\nsteps = [2000, 2001]\n')
    job = at.submit("sweep.sbatch", str(grid), options=("--array=0", "--nodes=2", "--ntasks-per-node=1"))
    run = at.results / "node/000-steps-2000"
    at.cluster.wait_until((run / "run.h5").exists, "the run trains")
    with at.node_down("n2"):
        at.cluster.wait_until((run / "done").exists, "the run is done on the nodes that are left")
        at.wait_for_all()
    assert at.restarts(job) == 1
    assert "n2" not in at.manifest("node/000-steps-2000")["hosts"]
    assert (at.results / "node/000-steps-2000.partial-1/run.h5").exists(), "what the first try left is kept"


def check_hetjob_node_down(at: Site) -> None:
    """One node of the workers' component: both components are requeued, and start together on what is left."""
    job = at.submit("hetjob.sbatch", *ENDLESS, options=ON_TWO_OF_THREE)
    at.wait_until_trains(f"hetjob-{job}", job)
    with at.node_down("n2"):
        at.wait_until_trains(f"hetjob-{job}-restart1", job)
        hosts = json.loads((at.results / f"hetjob-{job}-restart1/manifest.json").read_text())["hosts"]
        assert hosts == ["n1", "n3", "n4"], hosts
        assert at.restarts(job) == 1
        assert not (at.results / f"hetjob-{job}/done").exists()
        at.cluster.call("scancel", job)
        at.wait_for_all()


def main() -> None:
    with site() as at:
        check_node_down(at)
        check_heterogeneous(at, lambda: check_hetjob_node_down(at))
        check_preempted(at)
        for launcher in ("srun", "mpirun"):
            check_signal(at, "train.sbatch", "queueing the job again", launcher=launcher)
        check_heterogeneous(at, lambda: check_signal(at, "hetjob.sbatch", "queueing the job again", ON_TWO_OF_THREE))
    with site(requeue_exit=True) as at:
        check_preempted(at)
        check_signal(at, "train.sbatch", "RequeueExit queues the job again")
        check_heterogeneous(at, lambda: check_signal(at, "hetjob.sbatch", "RequeueExit queues the job again", ON_TWO_OF_THREE))
    print("ok")


main()
