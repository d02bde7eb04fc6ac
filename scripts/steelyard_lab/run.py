"""Runs a program on the hosts of a lab by Open MPI."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import signal
import subprocess

from .hosts import SUBNET
from .specification import BadInput
from .state import State

PR_SET_PDEATHSIG = 1


def command_line(lab: State, ranks: int, options: list[str], command: list[str]) -> list[str]:
    """mpirun in the head's network; ranks in blocks, as many on each host; TCP between hosts, shared memory
    within; sessions of Open MPI in each host's private memory, so that they end with it."""
    write_record(lab)
    hosts = len(lab.hosts)
    slots = -(-ranks // hosts)
    file = lab.directory / "hostfile"
    file.write_text("".join(f"{h.name} slots={slots}\n" for h in lab.specification.hosts))
    settings = {"plm": "rsh", "plm_rsh_agent": str(lab.directory / "agent"), "plm_rsh_no_tree_spawn": "1",
                "oob_tcp_if_include": SUBNET, "btl_tcp_if_include": SUBNET, "btl": "tcp,vader,self",
                "pml": "ob1", "orte_tmpdir_base": "/dev/shm"}
    line = ["nsenter", "-t", str(lab.head), "--net", "--mount", "--uts", f"--wdns={os.getcwd()}", "--",
            "env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun"]
    for key, value in settings.items():
        line += ["--mca", key, value]
    line += ["--hostfile", str(file), "--bind-to", "none", "-x", f"STEELYARD_LAB={lab.directory / 'lab.json'}"]
    return [*line, "-n", str(ranks), *options, *command]


def write_record(lab: State) -> None:
    """What the program puts into its manifest."""
    fidelity = json.loads(lab.fidelity_file.read_text()) if lab.fidelity_file.exists() else None
    record = {"name": lab.name, **lab.specification.as_dict(), "fidelity": fidelity}
    (lab.directory / "lab.json").write_text(json.dumps(record, indent=1))


def parse_ranks(words: list[str]) -> tuple[int, list[str]]:
    """Takes `-n N` out of mpirun's options. @return N and the others."""
    for i, word in enumerate(words):
        if word in ("-n", "-np") and i + 1 < len(words):
            if not words[i + 1].isdecimal() or int(words[i + 1]) < 1:
                raise BadInput(f"-n {words[i + 1]}: give the number of ranks, 1 or more")
            return int(words[i + 1]), words[:i] + words[i + 2:]
    raise BadInput("how many ranks? say lab run -n N [mpirun options] -- COMMAND")


def execute(lab: State, ranks: int, options: list[str], command: list[str]) -> int:
    """@return the exit code of mpirun. It ends if this process ends, however that happens."""
    parent = os.getpid()
    libc = ctypes.CDLL(None)

    def bind_to_parent() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)
        for path in lab.groups.joins("head"):
            pathlib.Path(path).write_text(str(os.getpid()))

    child = subprocess.Popen(command_line(lab, ranks, options, command), preexec_fn=bind_to_parent)
    previous = {number: signal.signal(number, lambda got, _: child.send_signal(got))
                for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)}
    previous[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)  # The terminal tells mpirun itself.
    code = child.wait()
    for number, handler in previous.items():
        signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def execute_in_host(lab: State, number: int, command: list[str]) -> int:
    host = lab.specification.hosts[number - 1]
    return subprocess.call([str(lab.directory / "agent"), host.name, *command])
