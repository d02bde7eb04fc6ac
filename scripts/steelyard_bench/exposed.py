"""Section exposed: the part of a step that is not compute, where compute sleeps on both sides.

Tensors, times of their slices and buckets are the same; both subtract what their own slices took.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from .bench import LEAST_STEPS, Bench, Command
from .processes import ROOT, peers
from .rounds import Figures, column, play
from .rows import Row, compare
from .train import PS_BUCKET_MIB

COMPUTE_MS = {"mnist-fc": 5.0, "googlenet": 30.0}
SERVERS, WORKERS = 2, 2
BUCKET_MIB = {"torch gloo": 4, "mpi4py": 1}  # Of allreduce after the first of 1; each peer's best of 1, 4, 8 and 25.
COMPUTE_PHASES = ("forward", "backward")
WARMUP_STEPS = 10


def ours(bench: Bench, ranks: int, options: str, steps: int) -> Figures:
    phases = bench.train(ranks, f"{options} --data none --batch 64", steps, WARMUP_STEPS)["phases_ms"]
    exposed = sum(ms for name, ms in phases.items() if name not in COMPUTE_PHASES)
    return {"exposed_ms": exposed, "step_ms": sum(phases.values())}


def peer_figures(measure: Callable[[], Figures]) -> Figures:
    figures = measure()
    return {"exposed_ms": figures["step_ms"] - figures["compute_ms"], "step_ms": figures["step_ms"]}


def contest(bench: Bench, model: str, what: str, mode: str, commands: dict[str, Command], parts: int) -> list[Row]:
    compute_ms = COMPUTE_MS[model]
    steps = max(LEAST_STEPS // 2, round(1e3 * bench.seconds / compute_ms))
    options = f"{mode} --model replay:{model} --compute sleep --compute-ms {compute_ms}"
    ranks = WORKERS + (SERVERS if "--servers" in mode else 0)
    with peers(bench.usable(commands)) as started:
        contestants: dict[str, Callable[[], Figures]] = {"ours": functools.partial(ours, bench, ranks, options, steps)}
        for name, peer in started.items():
            seconds = 1e-3 * compute_ms * steps
            contestants[name] = functools.partial(peer_figures, functools.partial(peer.measure, seconds))
        results = play(what, contestants, bench.rounds, bench.budget_s / parts)
    rows = []
    # The whole step too: what a side's slices took too long is in it.
    for key, text in (("exposed_ms", what), ("step_ms", f"{what}, step")):
        times = {name: column(figures, key) for name, figures in results.items()}
        rows += compare("exposed", text, "ms/step", times.pop("ours"), times, lower_is_better=True)
    return rows


def section(bench: Bench) -> list[Row]:
    rows = []
    models = list(COMPUTE_MS)[:1] if bench.quick else list(COMPUTE_MS)
    for model in models:
        parts = 2 * len(models)
        inventory = ROOT / "data" / "models" / f"{model}.csv"
        worker = f"--model {inventory} --compute-ms {COMPUTE_MS[model]} --bucket-mib"
        mode = f"--mode allreduce --collective {bench.collective}"
        gloo = f"--exchange gloo --workers {WORKERS} {worker} {BUCKET_MIB['torch gloo']}"
        commands = {"torch gloo": bench.torch_peer(gloo),
                    "mpi4py": bench.mpi_peer(WORKERS, f"{worker} {BUCKET_MIB['mpi4py']}")}
        rows += contest(bench, model, f"{model} allreduce x{WORKERS}", mode, commands, parts)
        servers = f"--servers {SERVERS} {worker}"
        rpc = f"--exchange rpc --workers {WORKERS} {servers} {PS_BUCKET_MIB['torch RPC']}"
        commands = {"torch RPC": bench.torch_peer(rpc),
                    "mpi4py": bench.mpi_peer(SERVERS + WORKERS, f"{servers} {PS_BUCKET_MIB['mpi4py']}")}
        mode = f"--mode ps --servers {SERVERS}"
        rows += contest(bench, model, f"{model} ps {SERVERS}+{WORKERS}", mode, commands, parts)
    return rows
