"""Measurements of a lab under load."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator

from .hosts import HERE, spawn
from .specification import Host
from .state import State

PORT = 5001
PING_COUNT = 400
SETTLE_S = 0.4


@dataclasses.dataclass
class Flow:
    """One host sends to the next; each host has one of each, so every link is busy both ways."""

    source: Host
    target: Host

    @property
    def asked(self) -> float | None:
        """bit/s: of the narrower link on the way; None if neither is shaped."""
        rates = [h.link for h in (self.source, self.target) if h.link is not None]
        return min(rates) if rates else None


@dataclasses.dataclass
class Load:
    """What hosts reached in one measurement, by host name."""

    bit_per_s: dict[str, float]  # Sent.
    cores: dict[str, float]
    machine_busy: float  # Share of all real cores, 0 to 1.


def flows(hosts: list[Host]) -> list[Flow]:
    if len(hosts) < 2:
        return []
    return [Flow(h, hosts[(i + 1) % len(hosts)]) for i, h in enumerate(hosts)]


def machine_cpu() -> tuple[float, float]:
    """@return busy and total time of all cores since boot, in ticks."""
    fields = [int(x) for x in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle = fields[3] + fields[4]
    return sum(fields) - idle, sum(fields)


def probe(lab: State, host: Host, *words: str) -> subprocess.Popen:
    """A probe in the host's network but outside its slice of CPU: it measures the link, not the slice."""
    process = lab.hosts[host.number - 1]
    return spawn(lab.groups, "head", ["nsenter", "-t", str(process), "--net", "--", sys.executable,
                                      str(HERE / "probe.py"), *words], stdout=subprocess.PIPE)


@contextlib.contextmanager
def ending(processes: list[subprocess.Popen]) -> Iterator[None]:
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def measure_load(lab: State, busy: list[Flow], burning: list[Host], seconds: float) -> Load:
    """All of `busy` transmit and all of `burning` compute, at the same time."""
    running: list[subprocess.Popen] = []
    with ending(running):
        receivers = {}
        for flow in busy:
            receiver = probe(lab, flow.target, "receive", str(PORT + flow.source.number), str(seconds + 0.2))
            running.append(receiver)
            receivers[flow.source.name] = receiver
            receiver.stdout.readline()
        for flow in busy:
            running.append(probe(lab, flow.source, "send", flow.target.address, str(PORT + flow.source.number)))
        for host in burning:
            for _ in range(math.ceil(host.cpu)):
                running.append(spawn(lab.groups, host.name, [sys.executable, str(HERE / "probe.py"), "burn"]))
        time.sleep(SETTLE_S)
        begin, used, machine = time.monotonic(), usages(lab, burning), machine_cpu()
        time.sleep(seconds)
        elapsed, used_after, machine_after = time.monotonic() - begin, usages(lab, burning), machine_cpu()
        bandwidth = {name: json.loads(r.stdout.readline())["bit_per_s"] for name, r in receivers.items()}
    cores = {name: (used_after[name] - used[name]) / 1e9 / elapsed for name in used}
    return Load(bandwidth, cores, (machine_after[0] - machine[0]) / (machine_after[1] - machine[1]))


def usages(lab: State, hosts: list[Host]) -> dict[str, int]:
    return {host.name: lab.groups.usage_ns(host.name) for host in hosts}


def measure_ping_pong(lab: State) -> float | None:
    """@return microseconds one way, of one byte by TCP between the first two hosts of an idle lab."""
    if len(lab.hosts) < 2:
        return None
    first, second = lab.specification.hosts[:2]
    server = probe(lab, second, "echo", str(PORT))
    running = [server]
    with ending(running):
        server.stdout.readline()
        client = probe(lab, first, "ping", second.address, str(PORT), str(PING_COUNT))
        running.append(client)
        return json.loads(client.stdout.readline())["one_way_us"]
