"""Runs that were killed or are still going: their figures by `steelyard inspect`, which computes them from the rank "
"files."""

from __future__ import annotations

import json
import math
import pathlib
import shutil
import subprocess
from typing import Any

from .notes import Notes
from .runs import Figure, Run, Trial

# Key of docs/json.md, metric and role of /summary, factor, unit.
FIGURES = (
    ("images_per_s", "throughput", "all", 1.0, "images/s"),
    ("step_ms", "step_time", "worker", 1.0, "ms"),
    ("wait.share", "wait_share", "worker", 1.0, "1"),
    ("goodput_gb_per_s", "goodput", "worker", 1.0, "GB/s"),
    ("worker_max_over_mean.compute", "compute_max_over_mean", "worker", 1.0, "1"),
    ("pop.load_balance", "load_balance", "all", 1.0, "1"),
    ("pop.communication_efficiency", "communication_efficiency", "all", 1.0, "1"),
    ("pop.parallel_efficiency", "parallel_efficiency", "all", 1.0, "1"),
    ("trace_overhead", "trace_overhead", "all", 1.0, "1"),
)
OF_SERVERS = (
    ("server_max_over_mean.bytes", "bytes_max_over_mean", "server", 1.0, "1"),
    ("server_max_over_mean.messages", "messages_max_over_mean", "server", 1.0, "1"),
    ("server_max_over_mean.busy", "busy_max_over_mean", "server", 1.0, "1"),
    ("staleness.median", "staleness_median", "server", 1.0, "updates"),
    ("staleness.max", "staleness_max", "server", 1.0, "updates"),
    ("drops.share", "drop_share", "server", 1.0, "1"),
)


def find_program(asked: pathlib.Path | None) -> str | None:
    """As asked for; else that of the build folder beside scripts/; else the one on PATH."""
    if asked is not None:
        return str(asked)
    built = pathlib.Path(__file__).resolve().parents[3] / "build" / "steelyard"
    return str(built) if built.is_file() else shutil.which("steelyard")


def looked_up(said: dict[str, Any], key: str) -> Any:
    for part in key.split("."):
        said = said.get(part) if isinstance(said, dict) else None
    return said


def fill(trial: Trial, said: dict[str, Any]) -> None:
    rows = FIGURES + (OF_SERVERS if trial.row["mode"] == "ps" else ())
    for key, metric, role, factor, unit in rows:
        value = looked_up(said, key)
        low = high = value
        if isinstance(value, dict):
            value, low, high = value["median"], value["low"], value["high"]
        if value is not None:
            ends = [math.nan if end is None else factor * end for end in (low, high)]
            trial.summary[metric, role] = Figure(factor * value, *ends, unit)
    trial.final = {
        "accuracy": math.nan if said["accuracy"] is None else said["accuracy"],
        "time_to_target_s": math.nan,
        "target_accuracy": 0.0,
    }
    trial.cut_short = said["steps"] < trial.row["steps"]
    trial.row["steps"] = said["steps"]
    trial.row["status"] = "diverged" if said["status"] == "diverged" else "done"


def recover(run: Run, program: str | None, notes: Notes) -> None:
    """Gives the trials that have steps their figures."""
    if program is None:
        notes.add(
            run.path,
            "did not end, so it holds no figures; build steelyard, or say --program, and they are "
            "recovered from its rank files",
        )
        return
    try:
        done = subprocess.run(
            [program, "inspect", str(run.path), "--json", "-"], capture_output=True, text=True, check=True, timeout=60
        )
        said = json.loads(done.stdout)["trials"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        words = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        notes.add(run.path, f"did not end, and '{program} inspect' cannot recover it: {words[-1] if words else error}")
        return
    recovered = 0
    for trial, figures in zip(run.trials, said):
        if figures["steps"] and figures["images_per_s"]:
            fill(trial, figures)
            recovered += 1
    notes.add(
        run.path,
        f"did not end: killed, or still running; {recovered} of {len(run.trials)} trials are recovered from its rank files"
        if recovered
        else "did not end, and no worker wrote a step",
    )
