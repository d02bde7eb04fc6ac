"""scripts/slurm/from-tfjob: roles, resources and limits of a TFJob become those of a Slurm job; the rest is said."""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.support.steelyard import Workplace  # noqa: E402

JOB = """
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: dist-mnist}
spec:
  runPolicy: {cleanPodPolicy: None, activeDeadlineSeconds: 5400}
  tfReplicaSpecs:
    PS:
      replicas: 2
      restartPolicy: Never
      template: {spec: {containers: [{name: tensorflow, image: tf, resources: {
        requests: {cpu: 1500m, memory: 2Gi}, limits: {cpu: 4, memory: 4Gi}}}]}}
    Chief:
      template: &gpu {spec: {nodeSelector: {kind: a100}, containers: [{name: tensorflow, image: tf, args: [--lr=1],
        resources: {limits: {cpu: 8, memory: 16G, nvidia.com/gpu: 2}}}]}}
    Worker: {replicas: 3, template: *gpu}
    Evaluator: {replicas: 1}
"""
PODS = "spec: {tfReplicaSpecs: {Worker: {replicas: %s, template: {spec: {containers: [{resources: {limits: {cpu: %s}}}]}}}}}"
REFUSED = {
    "kind: Job": "has no TFJob and no TF_CONFIG",
    "a: [": "is no YAML",
    "kind: TFJob": "nobody trains",
    "kind: TFJob\n---\nkind: TFJob": "has 2 TFJobs",
    "kind: TFJob\nspec: {tfReplicaSpecs: {PS: {replicas: 1}}}": "nobody trains",
    "kind: TFJob\nspec: {tfReplicaSpecs: {Launcher: {}}}": "kind 'Launcher' are unknown",
    "kind: TFJob\n" + PODS % ("many", 1): "'many' is no number of replicas",
    "kind: TFJob\n" + PODS % (1, "4x"): "'4x' is no quantity",
    '{"cluster": {"boss": ["a:1"]}}': "cluster has 'boss'",
}


def convert(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ROOT / "scripts/slurm/from-tfjob"), str(file), *words], capture_output=True, text=True, check=False,
                          timeout=60)


def written(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    file = folder / "job.yaml"
    file.write_text(text)
    return convert(file)


def check_job(folder: Path) -> None:
    done = written(folder, JOB)
    assert done.returncode == 0, done
    servers, workers = done.stdout.split("#SBATCH hetjob")
    for option in ("--job-name=dist-mnist", "--ntasks=2", "--cpus-per-task=2", "--mem-per-cpu=1024M", "--time=01:30:00",
                   "--requeue", "--signal=B:USR1@120"):
        assert f"#SBATCH {option}\n" in servers, (option, servers)
    # 4 pods with two GPUs each, 16e9 bytes a pod: a rank for each GPU.
    for option in ("--nodes=4", "--ntasks-per-node=2", "--gpus-per-node=2", "--cpus-per-task=4", "--mem=15259M", "--time=01:30:00"):
        assert f"#SBATCH {option}\n" in workers, (option, workers)
    assert "--gpus-per-task" not in done.stdout
    assert "--het-group=0,1" in workers and "train --mode ps --servers 2 --server-ranks first" in workers, workers
    for said in ("PS, Chief, Worker: image:", "Chief, Worker: nodeSelector:", "args:", "PS: restartPolicy:", "cleanPodPolicy:",
                 "Evaluator: no rank", "--consistency asp"):
        assert said in done.stderr and said in done.stdout, (said, done)
    assert subprocess.run(["bash", "-n"], input=done.stdout, text=True, check=False).returncode == 0


def check_one_component(folder: Path) -> None:
    """TF_CONFIG says who takes part, and nothing of resources: all ranks are alike."""
    cluster = {"ps": ["a:1"], "worker": ["b:1", "c:1"], "chief": ["d:1"]}
    done = written(folder, json.dumps({"cluster": cluster, "task": {"type": "ps", "index": 0}}))
    assert done.returncode == 0 and "hetjob" not in done.stdout, done
    assert "#SBATCH --ntasks=4\n" in done.stdout and "--servers 1" in done.stdout, done.stdout
    only = written(folder, json.dumps({"cluster": {"worker": ["b:1", "c:1"]}}))
    assert "--mode allreduce" in only.stdout and "--servers" not in only.stdout, only.stdout


def check_both(folder: Path) -> None:
    """A TF_CONFIG within a TFJob must agree with it."""
    text = "kind: TFJob\nspec: {tfReplicaSpecs: {PS: {}, Worker: {replicas: 2, template: {spec: {containers: [{env: [{name: TF_CONFIG, value: '%s'}]}]}}}}}"
    good = written(folder, text % json.dumps({"cluster": {"ps": ["a:1"], "worker": ["b:1", "c:1"]}}))
    assert good.returncode == 0 and "servers 1, workers 2" in good.stderr, good
    bad = written(folder, text % json.dumps({"cluster": {"ps": ["a:1"], "worker": ["b:1"]}}))
    assert bad.returncode == 2 and "make them agree" in bad.stderr, bad


def check_refusals(folder: Path) -> None:
    for text, message in REFUSED.items():
        done = written(folder, text)
        assert done.returncode == 2 and message in done.stderr and len(done.stderr.splitlines()) == 1, (text, message, done)
    (folder / "job.yaml").write_text(JOB)
    there = folder / "there.sbatch"
    there.write_text("mine")
    done = convert(folder / "job.yaml", "-o", str(there))
    assert done.returncode == 2 and "cannot be written" in done.stderr and there.read_text() == "mine", done
    assert convert(folder / "job.yaml", "-o", str(folder / "new.sbatch")).returncode == 0 and (folder / "new.sbatch").exists()


def main() -> None:
    with Workplace() as folder:
        check_job(folder)
        check_one_component(folder)
        check_both(folder)
        check_refusals(folder)
    print("ok")


main()
