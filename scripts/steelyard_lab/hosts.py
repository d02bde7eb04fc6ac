"""Makes and ends the hosts: namespaces, links between them, bandwidth shaping."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

from . import cgroups, state
from .specification import BadInput, Host, Specification
from .state import State

HERE = pathlib.Path(__file__).resolve().parent
MTU = 9000  # Jumbo frames, as clusters have them: 99 % of a link carries payload.
BURST_US = 500  # What an idle link lets through at once, as time on that link.
QUEUE_BYTES = 64 << 20  # Deep: a loss would cost a retransmission time-out, which no HPC fabric has.
SUBNET = "10.77.0.0/24"
HEAD_ADDRESS = "10.77.0.254"


def refuse_unless_possible(specification: Specification, switch: pathlib.Path) -> None:
    if os.geteuid() != 0:
        raise BadInput("a lab makes namespaces, links and cgroups, which needs root; say sudo scripts/lab …")
    for tool in ("ip", "tc", "unshare", "nsenter"):
        if not any(os.access(os.path.join(d, tool), os.X_OK) for d in os.get_exec_path()):
            raise BadInput(f"'{tool}' is missing; Debian has ip and tc in iproute2, the others in util-linux")
    if specification.latency_us > 0 and not os.access(switch, os.X_OK):
        raise BadInput(f"--latency needs the program {switch}; scripts/quickstart builds it, --switch names another")


def spawn(groups: cgroups.Groups, member: str, command: list[str], **options) -> subprocess.Popen:
    """Starts a process that is in its group before it does anything."""

    def join() -> None:
        for path in groups.joins(member):
            with open(path, "w", encoding="ascii") as file:
                file.write(str(os.getpid()))

    return subprocess.Popen(command, preexec_fn=join, start_new_session=True, stdin=subprocess.DEVNULL,
                            text=True, **options)


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise cgroups.Unavailable(f"'{' '.join(command)}' failed: {done.stderr.strip()}")


def in_net(process: int, *command: str) -> None:
    run("nsenter", "-t", str(process), "--net", *command)


def start_init(lab: State, member: str, name: str, namespaces: list[str]) -> int:
    """@return the process that holds the namespaces."""
    command = ["unshare", *namespaces, "--", sys.executable, str(HERE / "init.py"), name, str(lab.hosts_file)]
    process = spawn(lab.groups, member, command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if process.stdout.readline().strip() != "ready":
        raise cgroups.Unavailable(f"host {name} did not start: {process.communicate()[1].strip()}")
    if "--fork" not in namespaces:
        return process.pid
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(children[0])


def start_hosts(lab: State) -> None:
    shared = ["--net", "--mount", "--uts"]
    own = [*shared, "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
    lab.head = start_init(lab, "head", "lab-head", shared)
    lab.save()
    for host in lab.specification.hosts:
        lab.hosts.append(start_init(lab, host.name, host.name, own))
        lab.save()


def connect(lab: State) -> None:
    """A pair of virtual interfaces for each host; the far ends meet in the head."""
    bridged = lab.specification.latency_us == 0.0
    in_net(lab.head, "ip", "link", "set", "lo", "up")
    if bridged:
        in_net(lab.head, "ip", "link", "add", "br0", "type", "bridge")
        in_net(lab.head, "ip", "link", "set", "br0", "mtu", str(MTU), "up")
    plug(lab, lab.head, HEAD_ADDRESS, "p0", bridged)
    for host, process in zip(lab.specification.hosts, lab.hosts, strict=True):
        in_net(process, "ip", "link", "set", "lo", "up")
        plug(lab, process, host.address, f"p{host.number}", bridged)
        if host.link is not None:
            shape(process, "eth0", host)
            shape(lab.head, f"p{host.number}", host)


def plug(lab: State, process: int, address: str, port: str, bridged: bool) -> None:
    in_net(lab.head, "ip", "link", "add", port, "mtu", str(MTU), "type", "veth", "peer", "name", "eth0", "mtu",
           str(MTU), "netns", str(process))
    in_net(process, "ip", "addr", "add", f"{address}/24", "dev", "eth0")
    in_net(process, "ip", "link", "set", "eth0", "up")
    if bridged:
        in_net(lab.head, "ip", "link", "set", port, "master", "br0")
    in_net(lab.head, "ip", "link", "set", port, "up")


def shape(process: int, device: str, host: Host) -> None:
    burst = max(int(host.link / 8 * BURST_US / 1e6), 2 * (MTU + 18))
    # Whole frames that fit the burst, or the shaper would have to cut them up.
    segments = min(burst // (MTU + 18) - 1, 65536 // MTU)
    in_net(process, "ip", "link", "set", device, "gso_max_size", str(segments * MTU))
    in_net(process, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{host.link:.0f}bit", "burst",
           str(burst), "limit", str(QUEUE_BYTES))


def start_switch(lab: State, switch: pathlib.Path) -> None:
    ports = [f"p{i}" for i in range(len(lab.hosts) + 1)]
    command = ["nsenter", "-t", str(lab.head), "--net", "--", str(switch), str(lab.specification.latency_us),
               *ports]
    process = spawn(lab.groups, "head", command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if process.stdout.readline().strip() != "ready":
        raise cgroups.Unavailable(f"the switch did not start: {process.communicate()[1].strip()}")


def up(name: str, specification: Specification, switch: pathlib.Path) -> State:
    """Makes a lab. @param switch the program that delays frames, used where a latency is asked for. Whatever goes wrong, Ctrl-C included, nothing of it is left."""
    refuse_unless_possible(specification, switch)
    lab = state.create(name, specification)
    try:
        lines = ["127.0.0.1 localhost", f"{HEAD_ADDRESS} lab-head"]
        lines += [f"{host.address} {host.name}" for host in specification.hosts]
        lab.hosts_file.write_text("\n".join(lines) + "\n")
        lab.groups.make(["head", *(host.name for host in specification.hosts)])
        lab.groups.favour("head")
        for host in specification.hosts:
            if host.cpu is not None:
                lab.groups.limit(host.name, host.cpu)
        start_hosts(lab)
        connect(lab)
        if specification.latency_us > 0.0:
            start_switch(lab, switch)
        write_agent(lab)
        lab.ready = True
        lab.save()
    except BaseException:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # A second Ctrl-C must not cut the cleaning short.
        state.destroy(name)
        raise
    return lab


def write_agent(lab: State) -> None:
    """`agent HOST COMMAND…`: joins the host's group and namespaces; Open MPI starts its daemons by it."""
    cases = []
    for host, process in zip(lab.specification.hosts, lab.hosts, strict=True):
        joins = "".join(f' echo $$ >"{path}";' for path in lab.groups.joins(host.name))
        cases.append(f"  {host.name}) process={process};{joins} ;;")
    text = "\n".join([
        "#!/bin/sh", "host=$1; shift", 'case "$host" in', *cases,
        '  *) echo "lab: no host $host" >&2; exit 2 ;;', "esac",
        # As ssh does, the words make one command line of a shell.
        'exec nsenter -t "$process" --mount --uts --ipc --net --pid --wdns="$PWD" -- sh -c "$*"', ""])
    agent = lab.directory / "agent"
    agent.write_text(text)
    agent.chmod(0o755)
