"""A job ends when its time is up, in order and to be queued again; and when one of its ranks has died, however the others
wait for it."""
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.slurm_jobs import ENDLESS, Site, check_stopped, site  # noqa: E402

ON_TWO_NODES = ("--nodes=2", "--ntasks-per-node=1")


def process_of(job: str, rank: int) -> int:
    """Number of the process on this machine."""
    wanted = {f"SLURM_JOB_ID={job}".encode(), f"SLURM_PROCID={rank}".encode()}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "exe").readlink() == Path(sys.argv[2]).resolve() and \
                    wanted <= set((folder / "environ").read_bytes().split(b"\0")):
                return int(folder.name)
        except OSError:  # It has ended meanwhile, or is the kernel's.
            continue
    raise AssertionError(f"job {job} has no rank {rank}")


def main() -> None:
    with site() as at:
        timed = at.submit("train.sbatch", *ENDLESS, log="timed.out",  # A minute is the least that Slurm takes.
                          options=("--nodes=1", "--ntasks-per-node=2", "--time=1", "--signal=B:USR1@20"))
        dying = {wait: at.submit("train.sbatch", *ENDLESS, "--wait", wait, options=ON_TWO_NODES) for wait in ("block", "sleep")}
        for wait, job in dying.items():
            at.wait_until_trains(f"train-{job}", job)
            os.kill(process_of(job, rank=1), signal.SIGKILL)
        at.wait_until_trains(f"train-{timed}-restart1", timed)
        assert (at.logs / "timed.out").read_text().count("USR1: stopping the run") == 1, at.text()
        assert "TIME LIMIT" not in (at.logs / "timed.out").read_text(), "the run ended before Slurm had to end it"
        check_stopped(at, f"train-{timed}")
        at.cluster.call("scancel", timed)
        # srun waits 60 s for the others before it ends them (SRUN_OPTIONS).
        for wait, job in dying.items():
            at.cluster.wait_until(lambda: not at.is_queued(job), f"the job with --wait {wait} and a dead rank ends", 120)
            assert "JobState=FAILED" in at.cluster.call("scontrol", "show", "job", job).stdout, at.text()
            assert at.restarts(job) == 0 and not (at.results / f"train-{job}/done").exists()
    print("ok")


main()
