"""Sections that train: on one rank, by allreduce, and with parameter servers. Images per second."""

from __future__ import annotations

import functools
from collections.abc import Callable

from .bench import LEAST_STEPS, Bench, Command, cores
from .processes import peers
from .rounds import Figures, column, play
from .rows import Row, compare
from .targets import MLP

MODELS = ("lenet", MLP)
BATCH = 64  # Of a worker.
UNIT = "images/s"
PS_BUCKET_MIB = {"torch RPC": 1, "mpi4py": 25}  # Pieces of the flat tensors; each peer's best of 1, 4 and 25.
PS_SETUPS = ((1, 1), (1, 2), (2, 2))


class Ours:
    """Trains for about as long as a peer's turn lasts."""

    def __init__(self, bench: Bench, ranks: int, workers: int, options: str) -> None:
        self.bench, self.ranks = bench, ranks
        self.batch = BATCH * workers
        self.options = f"{options} --data {bench.data} --batch {self.batch}"
        self.steps = LEAST_STEPS

    def __call__(self) -> Figures:
        report = self.bench.train(self.ranks, self.options, self.steps)
        speed = float(report["images_per_s"])
        self.steps = max(LEAST_STEPS, round(self.bench.seconds * speed / self.batch))
        return {"images_per_s": speed}


def contest(bench: Bench, what: str, ours: dict[str, Callable[[], Figures]], commands: dict[str, Command],
            parts: int) -> dict[str, list[float]]:
    """One part of a section of `parts`: speeds of every contestant, by round."""
    with peers(bench.usable(commands)) as started:
        contestants = dict(ours)
        for name, peer in started.items():
            contestants[name] = functools.partial(peer.measure, bench.seconds)
            if peer.info.get("blas") == "reference":
                bench.note("PyTorch has only the slow reference BLAS: apt-get install libopenblas0-pthread")
        for contestant in ours.values():
            contestant()  # A first run says how many steps fill the time.
        results = play(what, contestants, bench.rounds, bench.budget_s / parts)
    return {name: column(figures, "images_per_s") for name, figures in results.items()}


def models(bench: Bench) -> tuple[str, ...]:
    return MODELS[:1] if bench.quick else MODELS


def flops_per_image(model: str) -> float:
    """Of forward and backward of an mlp; NaN for lenet, whose backward passes skip most of them."""
    kind, _, widths = model.partition(":")
    if kind != "mlp":
        return float("nan")
    sides = [int(width) for width in widths.split("-")]
    products = [before * after for before, after in zip(sides, sides[1:], strict=False)]
    return 6.0 * sum(products) - 2.0 * products[0]  # Nobody needs the gradient of the images.


def share_of_peak(bench: Bench, model: str, images_per_s: list[float], used_cores: int) -> float:
    fastest = sorted(images_per_s)[len(images_per_s) // 2]
    return fastest * flops_per_image(model) / (1e9 * bench.peak_gflops * used_cores)


def one_rank(bench: Bench) -> list[Row]:
    rows = []
    for model in models(bench):
        ours = Ours(bench, 1, 1, f"--mode allreduce --model {model}")
        commands = {"PyTorch": bench.torch_peer(f"--exchange one --model {model} --batch {BATCH}")}
        speeds = contest(bench, model, {"ours": ours}, commands, len(models(bench)))
        mine = speeds.pop("ours")
        rows += compare("train-one-rank", model, UNIT, mine, speeds, share=share_of_peak(bench, model, mine, 1))
    return rows


def allreduce(bench: Bench) -> list[Row]:
    """Two ranks beside two processes of each peer, and beside one process that has both cores."""
    rows = []
    for model in models(bench):
        mode = f"--mode allreduce --collective {bench.collective} --model {model}"
        ours: dict[str, Callable[[], Figures]] = {
            "ours": Ours(bench, 2, 2, mode),
            "ours x1": Ours(bench, 1, 1, f"--mode allreduce --model {model}"),
        }
        worker = f"--model {model} --batch {BATCH}"
        commands = {
            "torch DDP": bench.torch_peer(f"--exchange ddp --workers 2 {worker}"),
            "mpi4py": bench.mpi_peer(2, worker),
            "PyTorch, 2 threads": bench.torch_peer(f"--exchange one --model {model} --batch {2 * BATCH}", 2),
        }
        speeds = contest(bench, f"{model} x2", ours, commands, len(models(bench)))
        mine = speeds.pop("ours")
        share = share_of_peak(bench, model, mine, min(2, cores()))
        rows += compare("train-allreduce", f"{model} x2", UNIT, mine, speeds, share=share)
    return rows


def ps(bench: Bench) -> list[Row]:
    rows = []
    for model in models(bench):
        for servers, workers in PS_SETUPS:
            what = f"{model} ps {servers}+{workers}"
            ours = Ours(bench, servers + workers, workers, f"--mode ps --servers {servers} --model {model}")
            worker = f"--model {model} --batch {BATCH} --servers {servers} --bucket-mib"
            rpc = f"--exchange rpc --workers {workers} {worker} {PS_BUCKET_MIB['torch RPC']}"
            commands = {
                "torch RPC": bench.torch_peer(rpc),
                "mpi4py": bench.mpi_peer(servers + workers, f"{worker} {PS_BUCKET_MIB['mpi4py']}"),
            }
            speeds = contest(bench, what, {"ours": ours}, commands, len(models(bench)) * len(PS_SETUPS))
            mine = speeds.pop("ours")
            share = share_of_peak(bench, model, mine, min(workers, cores()))
            rows += compare("train-ps", what, UNIT, mine, speeds, share=share)
    return rows
