"""Writes a job as an sbatch file for scripts/slurm."""

from __future__ import annotations

import itertools
import math

from .job import SERVERS, WORKERS, Job, Replica

HEAD = """\
# sbatch runs a copy, so the folder comes from where it was submitted.
STEELYARD_HOME=${STEELYARD_HOME:-$SLURM_SUBMIT_DIR}
source "$STEELYARD_HOME/scripts/slurm/launch.sh" || {
  echo "steelyard: submit this from the top folder of Steelyard, or set STEELYARD_HOME to it" >&2
  exit 2
}
"""
OF_EVERY_JOB = ["--output=%x-%j.out", "--open-mode=append", "--requeue", "--signal=B:USR1@120"]


def components(job: Job) -> list[list[Replica]]:
    """Neighbours in rank order that need the same are one component of the Slurm job."""
    return [list(group) for _, group in itertools.groupby(job.replicas, key=lambda replica: replica.resources)]


def ranks_per_pod(replica: Replica) -> int:
    """A rank has one GPU."""
    return max(1, replica.gpus)


def resource_options(group: list[Replica]) -> list[str]:
    """GPUs are asked for by node: by task, ranks of one node could not reach each other's."""
    pods, one = sum(replica.count for replica in group), group[0]
    if not one.gpus:
        memory = [] if one.memory_mib is None else [f"--mem-per-cpu={math.ceil(one.memory_mib / one.cores)}M"]
        return [f"--ntasks={pods}", f"--cpus-per-task={one.cores}", *memory]
    memory = [] if one.memory_mib is None else [f"--mem={one.memory_mib}M"]
    return [f"--nodes={pods}", f"--ntasks-per-node={one.gpus}", f"--gpus-per-node={one.gpus}",
            f"--cpus-per-task={max(1, one.cores // one.gpus)}", *memory]


def time_text(seconds: int) -> str:
    minutes = math.ceil(seconds / 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def mode_options(job: Job) -> str:
    servers = sum(replica.count * ranks_per_pod(replica) for replica in job.replicas if replica.kind in SERVERS)
    return f"--mode ps --servers {servers} --server-ranks first" if servers else "--mode allreduce"


def launch_lines(job: Job, parts: int) -> list[str]:
    train = f'"$PROGRAM" train {mode_options(job)} --results "$RESULTS" --name "$run_name" "$@"'
    if parts == 1:
        return [f'run $launcher -n "$SLURM_NTASKS" {train}']
    groups = ",".join(str(i) for i in range(parts))
    return ['[[ $LAUNCHER == srun ]] || refuse "LAUNCHER=$LAUNCHER starts ranks in the first component alone; '
            'set LAUNCHER=srun"', f"run $launcher --het-group={groups} {train}"]


def notes(job: Job) -> list[str]:
    """What is said beside the file, and in it."""
    said = [f"{', '.join(where)}: {what}" for what, where in job.unmatched.items()]
    if job.seconds is None:
        said.append("runPolicy.activeDeadlineSeconds is not given: --time=01:00:00 is a guess")
    if job.count(SERVERS):
        said.append("TensorFlow's ParameterServerStrategy does not wait for other workers: add --consistency asp for the same")
    if any(replica.gpus > 1 for replica in job.replicas):
        said.append("a rank has one GPU, so a pod with several is as many ranks on one node")
    return said


def text(job: Job) -> str:
    parts = components(job)
    who = ", ".join(f"{replica.count} {replica.kind}" for replica in job.replicas)
    lines = ["#!/bin/bash", f"# TFJob {job.name}: {who}. Written by scripts/slurm/from-tfjob.",
             *(["# Without counterpart here, or to be looked at:"] if notes(job) else []),
             *(f"#   {line}" for line in notes(job)), f"#SBATCH --job-name={job.name}"]
    for number, group in enumerate(parts):
        lines += ["#SBATCH hetjob"] if number else []
        lines += [f"# {', '.join(replica.kind for replica in group)}"]
        lines += [f"#SBATCH {option}" for option in resource_options(group)]
        lines += [f"#SBATCH --time={time_text(job.seconds or 3600)}"]
        lines += [f"#SBATCH {option}" for option in (OF_EVERY_JOB if number == 0 else ["--requeue"])]
    return "\n".join([*lines, "", HEAD, *launch_lines(job, len(parts))]) + "\n"


def summary(job: Job) -> list[str]:
    servers = job.count(SERVERS)
    return [f"servers {servers}, workers {job.count(WORKERS)}, components of the Slurm job {len(components(job))}"
            if servers else f"no servers: allreduce, workers {job.count(WORKERS)}"]
