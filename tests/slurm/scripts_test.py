"""Every sbatch file with tiny work: both launchers, servers and workers on nodes of different partitions, refusals."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.slurm_jobs import SCRIPTS, TINY, Site, site  # noqa: E402

ON_TWO_NODES = ("--nodes=2", "--ntasks-per-node=1")


def check_launchers(at: Site) -> None:
    jobs = {launcher: at.submit("train.sbatch", *TINY, options=ON_TWO_NODES, LAUNCHER=launcher) for launcher in ("srun", "mpirun")}
    at.wait_for_all()
    for launcher, job in jobs.items():
        manifest = at.manifest(f"train-{job}")
        assert len(set(manifest["hosts"])) == 2 and manifest["node_of_rank"] == [0, 1], (launcher, manifest["hosts"])
        assert manifest["variables"]["SLURM_JOB_ID"] == job


def check_compare(at: Site) -> None:
    job = at.submit("compare.sbatch", "--data", "synthetic", "--model", "mlp:20-10", "--steps", "10", "--rounds", "6",
                    "--confirm-rounds", "0", options=ON_TWO_NODES)
    at.wait_for_all()
    assert at.manifest(f"compare-{job}")["hosts"]
    assert "ps 1+1" in at.text() and "allreduce 2" in at.text(), at.text()


def check_hetjob(at: Site) -> None:
    parts = ("--partition=cpu", ":", "--partition=gpu")
    job = at.submit("hetjob.sbatch", *TINY, options=parts)
    at.wait_for_all()
    manifest = at.manifest(f"hetjob-{job}")
    # Partition cpu is n1, partition gpu the others; one world over both.
    assert manifest["hosts"] == ["n1", "n2", "n3", "n4"] and manifest["node_of_rank"] == [0, 1, 2, 3], manifest["hosts"]
    roles = [role_of(at.results / f"hetjob-{job}", rank) for rank in range(4)]
    assert roles == [("server", "n1"), ("worker", "n2"), ("worker", "n3"), ("worker", "n4")], roles
    at.submit("hetjob.sbatch", *TINY, options=parts, LAUNCHER="mpirun")
    at.wait_for_all()
    assert "LAUNCHER=mpirun starts ranks in the first component alone" in at.text(), at.text()


def role_of(run: Path, rank: int) -> tuple[str, str]:
    """Role and host as the trace of this rank has them."""
    import h5py  # Not needed where the test is skipped.
    with h5py.File(run / f"ranks/part-0001/rank-{rank:05d}.h5") as file:
        return file.attrs["role"].decode(), file.attrs["host"].decode()


TFJOB = """
kind: TFJob
metadata: {name: tiny}
spec:
  tfReplicaSpecs:
    PS: {template: {spec: {containers: [{resources: {limits: {cpu: 2}}}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{resources: {limits: {cpu: 1, nvidia.com/gpu: 1}}}]}}}
"""


def check_tfjob(at: Site) -> None:
    """What from-tfjob writes is a job that runs."""
    file, written = at.results.parent / "job.yaml", at.results.parent / "job.sbatch"
    file.write_text(TFJOB)
    done = at.cluster.call(str(at.root / SCRIPTS / "from-tfjob"), str(file), "-o", str(written))
    assert done.returncode == 0, done
    job = at.submit(str(written), *TINY)
    at.wait_for_all()
    manifest = at.manifest(f"tiny-{job}")
    assert manifest["node_of_rank"] == [0, 1, 2], manifest["node_of_rank"]
    assert role_of(at.results / f"tiny-{job}", 0)[0] == "server" and role_of(at.results / f"tiny-{job}", 1)[0] == "worker"


def check_refusals(at: Site) -> None:
    wrong = {"there is no program '/nowhere'": {"PROGRAM": "/nowhere"},
             "LAUNCHER=rsh is unknown; choose srun or mpirun": {"LAUNCHER": "rsh"}}
    jobs = [at.submit("train.sbatch", *TINY, options=ON_TWO_NODES, **variables) for variables in wrong.values()]
    at.wait_for_all()
    for job, message in zip(jobs, wrong):
        assert message in at.text(), at.text()
        assert "ExitCode=2:0" in at.cluster.call("scontrol", "show", "job", job).stdout


def main() -> None:
    with site() as at:
        check_launchers(at)
        check_compare(at)
        check_hetjob(at)
        check_tfjob(at)
        check_refusals(at)
    print("ok")


main()
