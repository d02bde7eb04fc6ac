#!/usr/bin/python3
"""A throw-away Slurm on this machine, for tests and to try scripts/slurm: munged, slurmctld, and a slurmd per node.

  slurm.py up DIR [--nodes N] [--requeue-exit]      prints what to export; --requeue-exit: RequeueExit=85
  slurm.py down DIR                                 ends it with its jobs, and removes DIR

Every daemon and every job is in one process namespace with a /dev/shm of its own, so that nothing outlives the
cluster. Each node has a host name of its own (n1, n2, ...); all share the loopback network and the files.
Needs root, and Debian's slurm-wlm and munge (scripts/packages_slow.txt).
"""
from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = {"munged": "munge", "slurmctld": "slurm-wlm", "slurmd": "slurm-wlm", "sbatch": "slurm-wlm"}
CORES_PER_NODE = 4
GPUS_PER_NODE = 4  # Devices in name only; enough for the scheduler.
LONGEST_SOCKET_PATH = 107
PR_SET_PDEATHSIG = 1


class Refused(Exception):
    """No cluster can be had here; the text says why."""


def missing() -> str:
    """@return why no cluster can be had on this machine, or "" if it can."""
    absent = sorted({package for program, package in PROGRAMS.items() if shutil.which(program) is None})
    if absent:
        return f"not installed: {', '.join(absent)}"
    return "" if os.geteuid() == 0 else "needs root"


def free_ports(count: int) -> int:
    """@return the first of `count` neighbouring ports that nobody listens on."""
    for first in range(26800, 28800, 100):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise Refused(f"no {count} neighbouring free ports from 26800 to 28800")


def configuration(folder: Path, nodes: int, requeue_exit: bool) -> str:
    """slurm.conf. Short intervals, since tests wait for what they say; cred_expire is the least time to a requeue."""
    port = free_ports(nodes + 1)
    gpu_nodes = f"n[2-{nodes}]" if nodes > 1 else "n1"
    requeue = "RequeueExit=85\n" if requeue_exit else ""
    return f"""ClusterName=fixture
SlurmctldHost=n1(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,cred_expire=5
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
TmpFS={folder}/tmp/%n
TaskProlog={folder}/taskprolog
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
{requeue}ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MpiDefault=none
ReturnToService=1
KillWait=5
MinJobAge=300
SlurmctldParameters=preempt_send_user_signal
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=n[1-{nodes}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{port + 1}-{port + nodes}] \
CPUs={CORES_PER_NODE} RealMemory=4000 Gres=gpu:{GPUS_PER_NODE} State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=1440 PriorityTier=1 PreemptMode=REQUEUE GraceTime=10 State=UP
PartitionName=cpu Nodes=n1 MaxTime=1440 PriorityTier=1 State=UP
PartitionName=gpu Nodes={gpu_nodes} MaxTime=1440 PriorityTier=1 State=UP
PartitionName=urgent Nodes=ALL MaxTime=1440 PriorityTier=10 PreemptMode=OFF State=UP
"""


def write(folder: Path, nodes: int, requeue_exit: bool) -> None:
    """The files of a cluster that is not up yet. Open MPI puts its files into the node's own folder."""
    for name in ("state", "log", "dev", *(f"{kind}/n{i + 1}" for kind in ("spool", "tmp") for i in range(nodes))):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))
    for i in range(GPUS_PER_NODE):
        os.mknod(folder / f"dev/nvidia{i}", stat.S_IFCHR | 0o666, os.makedev(1, 3))  # As /dev/null is.
    (folder / "hosts").write_text("127.0.0.1 localhost " + " ".join(f"n{i + 1}" for i in range(nodes)) + "\n")
    (folder / "gres.conf").write_text(f"AutoDetect=off\nNodeName=n[1-{nodes}] Name=gpu "
                                      f"File={folder}/dev/nvidia[0-{GPUS_PER_NODE - 1}]\n")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    place = f"{folder}/tmp/$SLURMD_NODENAME"
    prolog = folder / "taskprolog"
    prolog.write_text(f"#!/bin/sh\necho \"export TMPDIR={place}\"\n"
                      f"echo \"export OMPI_MCA_btl_vader_backing_directory={place}\"\n")
    prolog.chmod(0o755)
    (folder / "slurm.conf").write_text(configuration(folder, nodes, requeue_exit))


def daemons(folder: Path, nodes: int) -> list[list[str]]:
    munged = ["munged", "--foreground", "--force", "--num-threads=2", "--origin=127.0.0.1"]
    for option, name in (("key-file", "munge.key"), ("socket", "munge.sock"), ("pid-file", "munged.pid"),
                         ("log-file", "log/munged.log"), ("seed-file", "munged.seed")):
        munged.append(f"--{option}={folder / name}")
    # Under a host name of its own each, as on a cluster.
    named = ["unshare", "--uts", "sh", "-c", 'hostname "$1"; shift; exec "$@"', "sh"]
    return [munged, [*named, "n1", "slurmctld", "-D", "-i"],
            *([*named, f"n{i + 1}", "slurmd", "-D", "-N", f"n{i + 1}"] for i in range(nodes))]


def serve(folder: Path, nodes: int) -> None:
    """The first process of the cluster's namespace: starts the daemons, and buries what they leave. Never returns."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=True)
    subprocess.run(["mount", "--bind", str(folder / "hosts"), "/etc/hosts"], check=True)
    first, *others = daemons(folder, nodes)
    subprocess.Popen(first, stdin=subprocess.DEVNULL)
    while not (folder / "munge.sock").exists():
        time.sleep(0.02)  # Only spares the core; the condition decides.
    for command in others:
        subprocess.Popen(command, stdin=subprocess.DEVNULL)
    while True:
        os.wait()


class StillWaiting(AssertionError):
    """A condition that should have come true."""


class Cluster:
    """A cluster that is up while its block lasts, however that ends."""

    def __init__(self, folder: Path, nodes: int = 4, requeue_exit: bool = False, detached: bool = False) -> None:
        self.folder, self.nodes, self.detached = folder.resolve(), nodes, detached
        if why := missing():
            raise Refused(why)
        if nodes < 1:
            raise Refused(f"{nodes} nodes: at least 1")
        if self.folder.exists() and any(self.folder.iterdir()):
            raise Refused(f"'{self.folder}' is not empty; a cluster may be up in it: take it down, or choose another folder")
        if len(str(self.folder / "munge.sock")) > LONGEST_SOCKET_PATH:
            raise Refused(f"'{self.folder}' is too long a path for a socket; choose a shorter one")
        write(self.folder, nodes, requeue_exit)
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self) -> Cluster:
        command = ["unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc", sys.executable,
                   str(Path(__file__).resolve()), "serve", str(self.folder), "--nodes", str(self.nodes)]
        libc = ctypes.CDLL(None)  # A test that is killed takes its cluster along.
        bind = None if self.detached else lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        with (self.folder / "log/daemons.log").open("w") as log:  # Not ours: who reads our output would wait for its end.
            self.process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=bind, start_new_session=True)
        (self.folder / "process").write_text(str(self.process.pid))
        deadline = time.monotonic() + 60
        while self.idle() != self.nodes:
            if self.process.poll() is not None or time.monotonic() > deadline:
                logs = (self.folder / "log/daemons.log").read_text()
                self.__exit__()
                raise Refused(f"the cluster does not come up:\n{logs}")
            time.sleep(0.1)  # Only spares the core; the condition decides.
        return self

    def idle(self) -> int:
        """Nodes that could take a job now."""
        return len(self.call("sinfo", "-h", "-N", "-p", "batch", "-t", "idle", "-o", "%N").stdout.split())

    def call(self, *command: str, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=110,
                              **options)

    def submit(self, *words: str, **variables: str) -> str:
        """@param words of sbatch; `variables` of its environment. @return the job's number."""
        done = subprocess.run(["sbatch", "--parsable", *words], env={**self.environment, **variables}, capture_output=True,
                              text=True, check=False, timeout=60)
        assert done.returncode == 0, (words, done)
        return done.stdout.strip()

    def jobs(self) -> dict[str, str]:
        """The state of each job, array elements by themselves, that has not ended."""
        lines = self.call("squeue", "-h", "-r", "-o", "%i %T").stdout.splitlines()
        return dict(line.split() for line in lines)

    def running(self) -> int:
        return list(self.jobs().values()).count("RUNNING")

    def wait_until(self, holds: Callable[[], object], what: str, seconds: float = 300) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() >= deadline:
                raise StillWaiting(f"still waiting until {what}; jobs: {self.jobs()}")
            time.sleep(0.1)  # Only spares the core; the condition decides.

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


def down(folder: Path) -> None:
    try:
        number = int((folder / "process").read_text())
        words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        raise Refused(f"no cluster is up in '{folder}'") from None
    if os.fsencode(folder.resolve()) not in words:
        raise Refused(f"process {number} is not the cluster of '{folder}'")
    os.kill(number, signal.SIGKILL)
    while Path(f"/proc/{number}/exe").exists():
        time.sleep(0.02)  # Only spares the core; the condition decides.
    shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("up", "down", "serve"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--requeue-exit", action="store_true")
    arguments = parser.parse_args()
    try:
        if arguments.command == "serve":
            serve(arguments.folder, arguments.nodes)
        elif arguments.command == "down":
            down(arguments.folder)
        else:
            cluster = Cluster(arguments.folder, arguments.nodes, arguments.requeue_exit, detached=True).__enter__()
            print(f"export SLURM_CONF={cluster.environment['SLURM_CONF']}")
    except Refused as refusal:
        print(f"slurm.py: {refusal}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
