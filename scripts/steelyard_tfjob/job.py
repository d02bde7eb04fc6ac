"""Reads a TFJob, or the TF_CONFIG of one: who takes part, with what resources, and what has no counterpart in Slurm.

Fields as in the Kubeflow Training Operator's API, kubeflow.org/v1; quantities as in Kubernetes.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml

# In the order of ranks: servers are the first.
SERVERS, WORKERS = ("PS",), ("Chief", "Master", "Worker")
ELSEWHERE = {"Evaluator": "no rank of its own: worker 0 evaluates, see --evaluate and --evaluate-every"}
GPU = re.compile(r".*/gpu$|.*/mig-.*")
MEMORY = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
          "Pi": 2**50}
# What to do instead, for fields that users have.
COUNTERPARTS = {
    "image": "nodes need the program and its libraries: PROGRAM and modules in scripts/slurm/env.sh",
    "command": "options of `steelyard train` go to the end of the last line",
    "args": "options of `steelyard train` go to the end of the last line",
    "env": "set variables in scripts/slurm/env.sh",
    "volumes": "use a file system that every node sees",
    "volumeMounts": "use a file system that every node sees",
    "nodeSelector": "say --constraint or --partition",
    "affinity": "say --constraint or --partition",
    "tolerations": "say --partition or --reservation",
    "priorityClassName": "say --qos or --partition",
    "restartPolicy": "a job whose node fails is queued again whole (--requeue); a rank that fails ends the job",
    "backoffLimit": "see MAX_REQUEUES in scripts/slurm/env.sh",
    "cleanPodPolicy": "the job's end is the end of all its processes",
    "schedulingPolicy": "a job starts when all its nodes are free",
}


class BadInput(Exception):
    """Something the user can mend; the text says the value, the reason and what is allowed."""


@dataclass
class Replica:
    """Pods of one kind, all alike."""

    kind: str
    count: int
    cores: int = 1  # Of one pod.
    memory_mib: int | None = None
    gpus: int = 0

    @property
    def resources(self) -> tuple:
        return self.cores, self.memory_mib, self.gpus


@dataclass
class Job:
    name: str
    replicas: list[Replica] = field(default_factory=list)
    seconds: int | None = None
    unmatched: dict[str, list[str]] = field(default_factory=dict)  # What has no counterpart, and where it stands.

    def note(self, where: str, what: str) -> None:
        self.unmatched.setdefault(what, []).append(where)

    def count(self, kinds: tuple[str, ...]) -> int:
        return sum(replica.count for replica in self.replicas if replica.kind in kinds)


def quantity(where: str, value: object, units: dict[str, float]) -> float:
    match = re.fullmatch(r"([0-9.]+(?:[eE][0-9]+)?)([A-Za-z]*)", str(value))
    try:
        return float(match[1]) * units[match[2]]
    except (TypeError, ValueError, KeyError):
        raise BadInput(f"{where}: '{value}' is no quantity; give a number with one of the units "
                       f"{' '.join(unit for unit in units if unit)}") from None


def table(where: str, value: object) -> dict:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadInput(f"{where} is {value!r}; it must be a mapping")
    return value


def count_of(where: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadInput(f"{where}: {value!r} is no number of replicas; give 0 or more")
    return value


def note(job: Job, where: str, fields: dict, known: set[str]) -> None:
    for key in fields:
        if key not in known:
            job.note(where, f"{key}: {COUNTERPARTS.get(key, 'no counterpart')}")


def read_resources(replica: Replica, container: dict, job: Job) -> None:
    """What a pod reserves: its requests, or its limits where there are none."""
    where = f"{replica.kind}.resources"
    resources = table(where, container.get("resources"))
    limits, requests = (table(f"{where}.{key}", resources.get(key)) for key in ("limits", "requests"))
    for key, value in {**limits, **requests}.items():
        if key == "cpu":
            replica.cores = max(1, math.ceil(quantity(f"{where}.cpu", value, {"": 1.0, "m": 1e-3})))
        elif key == "memory":
            replica.memory_mib = max(1, math.ceil(quantity(f"{where}.memory", value, MEMORY) / 2**20))
        elif GPU.fullmatch(key):
            replica.gpus = int(quantity(f"{where}.{key}", value, {"": 1.0}))
        else:
            job.note(replica.kind, f"resources.{key}: no counterpart")


def read_variables(kind: str, container: dict, spec: dict, job: Job) -> None:
    """A TF_CONFIG that is written out says who takes part, as the replicas do."""
    for variable in container.get("env") or []:
        if variable.get("name") != "TF_CONFIG" or not variable.get("value"):
            job.note(kind, f"env.{variable.get('name')}: {COUNTERPARTS['env']}")
            continue
        cluster = read_cluster(f"{kind}.env.TF_CONFIG", variable["value"])
        said = {name: count_of(f"{name}.replicas", (value or {}).get("replicas", 1)) for name, value in spec.items()}
        if {k: n for k, n in cluster.items() if n} != {k: n for k, n in said.items() if n}:
            raise BadInput(f"{kind}.env.TF_CONFIG has {cluster}, but tfReplicaSpecs have {said}; make them agree")


def read_cluster(where: str, text: str) -> dict[str, int]:
    """@return how many of each kind a TF_CONFIG names."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{where} is no JSON: {error}") from None
    kinds = {kind.lower(): kind for kind in (*SERVERS, *WORKERS, *ELSEWHERE)}
    found = {}
    for name, hosts in table(f"{where}: cluster", table(where, data).get("cluster")).items():
        if name not in kinds:
            raise BadInput(f"{where}: cluster has '{name}'; choose among {', '.join(kinds)}")
        found[kinds[name]] = len(hosts)
    return found


def read_replica(kind: str, data: dict, spec: dict, job: Job) -> None:
    replica = Replica(kind, count_of(f"{kind}.replicas", data.get("replicas", 1)))
    note(job, kind, data, {"replicas", "template"})
    template = table(f"{kind}.template", data.get("template"))
    pod = table(f"{kind}.template.spec", template.get("spec"))
    note(job, kind, pod, {"containers"})
    containers = pod.get("containers") or []
    for other in containers[1:]:
        job.note(kind, f"containers.{other.get('name')}: a second container has no counterpart")
    if containers:
        read_resources(replica, containers[0], job)
        read_variables(kind, containers[0], spec, job)
        note(job, kind, containers[0], {"name", "resources", "env", "ports"})
    if replica.count:
        job.replicas.append(replica)


def add_kinds(job: Job, specs: dict) -> Job:
    for kind in specs:
        if kind not in (*SERVERS, *WORKERS, *ELSEWHERE):
            raise BadInput(f"replicas of kind '{kind}' are unknown; a TFJob has {', '.join((*SERVERS, *WORKERS, *ELSEWHERE))}")
        if kind in ELSEWHERE:
            job.note(kind, ELSEWHERE[kind])
    for kind in (*SERVERS, *WORKERS):
        if kind in specs:
            read_replica(kind, table(kind, specs[kind]), specs, job)
    if job.count(WORKERS) == 0:
        raise BadInput("no Chief, Master or Worker takes part; at least one must, or nobody trains")
    return job


def from_tfjob(data: dict) -> Job:
    name = str(table("metadata", data.get("metadata")).get("name", "tfjob"))
    job = Job(re.sub(r"[^A-Za-z0-9._-]", "_", name))
    spec = table("spec", data.get("spec"))
    policy = table("spec.runPolicy", spec.get("runPolicy"))
    if "activeDeadlineSeconds" in policy:
        job.seconds = count_of("spec.runPolicy.activeDeadlineSeconds", policy["activeDeadlineSeconds"])
    note(job, "runPolicy", policy, {"activeDeadlineSeconds"})
    note(job, "spec", spec, {"runPolicy", "tfReplicaSpecs"})
    return add_kinds(job, table("spec.tfReplicaSpecs", spec.get("tfReplicaSpecs")))


def read(file: Path) -> Job:
    """@param file a TFJob in YAML, or a TF_CONFIG in JSON."""
    try:
        text = file.read_text(encoding="utf-8")
        documents = [one for one in yaml.safe_load_all(text) if isinstance(one, dict)]
    except OSError as error:
        raise BadInput(f"'{file}' cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"{file} is no YAML: {' '.join(str(error).split())}") from None
    jobs = [one for one in documents if one.get("kind") == "TFJob"]
    if len(jobs) == 1:
        return from_tfjob(jobs[0])
    if jobs:
        raise BadInput(f"{file} has {len(jobs)} TFJobs; give a file with one")
    if documents and "cluster" in documents[0]:
        cluster = read_cluster(str(file), json.dumps(documents[0]))
        return add_kinds(Job("tfjob"), {kind: {"replicas": count} for kind, count in cluster.items()})
    raise BadInput(f"{file} has no TFJob and no TF_CONFIG; it must have `kind: TFJob`, or `cluster`")
