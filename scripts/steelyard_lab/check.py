"""The fidelity report: is the lab what it was asked to be?"""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from . import run
from .measure import Flow, Load, flows, machine_cpu, measure_load, measure_ping_pong
from .specification import Host, link_text
from .state import State

LEAST_LINK_SHARE, MOST_LINK_SHARE = 0.94, 1.01
CPU_TOLERANCE = 0.10
MOST_CHANGE = 0.05
MOST_BUSY = 0.70


def check(lab: State, seconds: float, thorough: bool, program: pathlib.Path | None) -> dict:
    """Measures and keeps the report for later runs. @param program steelyard, for the A/A run; None: without."""
    hosts = lab.specification.hosts
    limited = [h for h in hosts if h.cpu is not None]
    doing(f"every host at once ({seconds:g} s)")
    report = {"time": datetime.datetime.now().astimezone().isoformat(timespec="seconds"), "seconds": seconds,
              "ping_pong_us": measure_ping_pong(lab)}
    together = measure_load(lab, flows(hosts), limited, seconds)
    alone = {}
    for left, host in zip(range(len(hosts), 0, -1), hosts if thorough else [], strict=False):
        doing(f"{host.name} alone, about {left * (seconds + 1):.0f} s left for all")
        alone[host.name] = measure_alone(lab, host, seconds)
    rows = [host_row(h, flow, together, alone.get(h.name))
            for h, flow in zip(hosts, flows(hosts) or [None] * len(hosts), strict=True)]
    report |= {"hosts": rows, "machine_cpu_busy": together.machine_busy}
    if program is not None:
        doing("the A/A run, about 20 s")
        report["a_a"] = a_a_run(lab, program)
    doing("")
    report["findings"] = findings(report)
    lab.fidelity_file.write_text(json.dumps(report, indent=1))
    return report


def doing(what: str) -> None:
    """One line that is written over itself, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{'checking: ' + what if what else ''}", end="", file=sys.stderr, flush=True)


def measure_alone(lab: State, host: Host, seconds: float) -> Load:
    own = [flow for flow in flows(lab.specification.hosts) if flow.source is host]
    return measure_load(lab, own, [host] if host.cpu is not None else [], seconds)


def host_row(host: Host, flow: Flow | None, together: Load, alone: Load | None) -> dict:
    return {"host": host.name, "to": flow.target.name if flow else None,
            "link_asked_bit_per_s": flow.asked if flow else None,
            "link_bit_per_s": together.bit_per_s.get(host.name),
            "link_alone_bit_per_s": alone.bit_per_s.get(host.name) if alone else None,
            "cpu_asked": host.cpu, "cpu": together.cores.get(host.name),
            "cpu_alone": alone.cores.get(host.name) if alone else None}


def a_a_run(lab: State, program: pathlib.Path) -> dict:
    """Compares a configuration with itself in the lab; their ratio must not differ from 1."""
    ranks = len(lab.hosts)
    same = "mode=allreduce" if ranks < 2 else f"mode=ps servers={max(ranks // 2, 1)}"
    with tempfile.TemporaryDirectory() as scratch:
        result = os.path.join(scratch, "a_a.json")
        command = [str(program), "compare", "--model", "replay:mnist-fc", "--compute-ms", "5", "--steps", "40",
                   "--warmup", "5", "--rounds", "6", "--confirm-rounds", "0", "--trial", same, "--trial", same,
                   "--results", scratch, "--json", result]
        busy = machine_cpu()
        done = subprocess.run(run.command_line(lab, ranks, [], command), capture_output=True, text=True,
                              check=False)
        after = machine_cpu()
        if done.returncode != 0:
            return {"failed": done.stderr.strip()[-500:]}
        ratio = json.loads(pathlib.Path(result).read_text())["ratios"][0]
    return {"trial": same, "ratio": ratio["median"], "low": ratio["low"], "high": ratio["high"],
            "machine_cpu_busy": (after[0] - busy[0]) / (after[1] - busy[1])}


def findings(report: dict) -> list[str]:
    """What is not as asked, in sentences; empty if all is well."""
    said: list[str] = []
    for row in report["hosts"]:
        said += link_findings(row) + cpu_findings(row)
    if report["machine_cpu_busy"] >= MOST_BUSY:
        said.append(f"with every host at full load the machine's cores are {report['machine_cpu_busy']:.0%} busy "
                    f"(headroom ends at {MOST_BUSY:.0%}): fewer hosts or smaller slices leave more")
    a_a = report.get("a_a", {})
    if "failed" in a_a:
        said.append(f"the A/A run failed: {a_a['failed']}")
    elif a_a and a_a["low"] is not None and a_a["high"] is not None and not a_a["low"] <= 1 <= a_a["high"]:
        said.append(f"the A/A run found a difference where there is none: {a_a['ratio']:.3f}")
    return said


def link_findings(row: dict) -> list[str]:
    said = []
    asked, reached, alone = (row[k] for k in ("link_asked_bit_per_s", "link_bit_per_s", "link_alone_bit_per_s"))
    if asked and not LEAST_LINK_SHARE <= reached / asked <= MOST_LINK_SHARE:
        said.append(f"{row['host']} to {row['to']} reached {reached / asked:.1%} of {link_text(asked)}")
    if asked and alone and abs(reached / alone - 1) >= MOST_CHANGE:
        said.append(f"{row['host']}'s bandwidth changes by {reached / alone - 1:+.1%} when the others are busy")
    return said


def cpu_findings(row: dict) -> list[str]:
    said = []
    asked, reached, alone = row["cpu_asked"], row["cpu"], row["cpu_alone"]
    if asked and abs(reached / asked - 1) > CPU_TOLERANCE:
        said.append(f"{row['host']} got {reached:.3f} of a core where {asked:g} were asked")
    if asked and alone and abs(reached / alone - 1) >= MOST_CHANGE:
        said.append(f"{row['host']}'s CPU share changes by {reached / alone - 1:+.1%} when the others are busy")
    return said


def text(lab: State, report: dict) -> str:
    """The report as tables."""
    lines = [f"{'host':6} {'link asked':>13} {'achieved':>9} {'%':>6} {'alone %':>8} {'change':>7}   "
             f"{'cpu asked':>9} {'achieved':>9} {'alone':>6} {'change':>7}"]
    for row in report["hosts"]:
        lines.append(f"{row['host']:6} {link_columns(row)}   {cpu_columns(row)}")
    latency = report["ping_pong_us"]
    lines.append("")
    lines.append("ping-pong        " + ("one host" if latency is None else f"{latency:.1f} us one way, 1 byte, TCP"))
    if lab.specification.latency_us > 0:
        lines.append(f"latency asked    {lab.specification.latency_us:g} us one way, on top of the machine's own")
    lines.append(f"machine          cores {report['machine_cpu_busy']:.0%} busy with every host at full load")
    if a_a := report.get("a_a"):
        lines.append("A/A run          " + a_a_text(a_a))
    lines += [f"beware           {finding}" for finding in report["findings"]]
    if not report["findings"]:
        lines.append("result           all is as asked")
    return "\n".join(lines)


def a_a_text(a_a: dict) -> str:
    if "failed" in a_a:
        return "failed"
    return (f"{a_a['ratio']:.3f} [{a_a['low']:.3f}, {a_a['high']:.3f}] ({a_a['trial']} against itself), cores "
            f"{a_a['machine_cpu_busy']:.0%} busy")


def link_columns(row: dict) -> str:
    asked, reached, alone = (row[k] for k in ("link_asked_bit_per_s", "link_bit_per_s", "link_alone_bit_per_s"))
    if reached is None:
        return f"{'-':>13} {'-':>9} {'-':>6} {'-':>8} {'-':>7}"
    share = f"{100 * reached / asked:.1f}" if asked else "-"
    share_alone = f"{100 * alone / asked:.1f}" if asked and alone else "-"
    change = f"{100 * (reached / alone - 1):+.1f} %" if alone else "-"
    return f"{link_text(asked):>13} {reached / 1e6:>9.1f} {share:>6} {share_alone:>8} {change:>7}"


def cpu_columns(row: dict) -> str:
    asked, reached, alone = row["cpu_asked"], row["cpu"], row["cpu_alone"]
    if asked is None:
        return f"{'no limit':>9} {'-':>9} {'-':>6} {'-':>7}"
    change = f"{100 * (reached / alone - 1):+.1f} %" if alone else "-"
    return f"{asked:>9g} {reached:>9.3f} {f'{alone:.3f}' if alone else '-':>6} {change:>7}"


def built(name: str) -> pathlib.Path:
    """A program of the usual build folder."""
    return pathlib.Path(sys.argv[0]).resolve().parent.parent / "build" / name
