#!/usr/bin/python3
"""PyTorch alone: one process, or several by Gloo or RPC. Starts its own ranks.

one: a process with --threads. ddp: DistributedDataParallel with gradients as views of its buckets and a static
graph. gloo: flat gradients by asynchronous all_reduce of each bucket as it becomes ready, fused SGD with
momentum on flat tensors. rpc: parameter servers over TensorPipe; workers push flat gradients and get flat
values as the answer; a server answers when it has all pushes of a bucket (an asynchronous execution, as the
tutorial on batch RPC processing has it) and has applied their mean.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import workload
from exchange import GlooExchange
from flat import make_compute
from torch import distributed
from turns import serve

PR_SET_PDEATHSIG = 1
EXCHANGES = ("one", "ddp", "gloo", "rpc")


class Alone:
    """A team of one."""

    rank = 0

    def tell(self, number: float) -> float:
        return number


class GlooTeam:
    def __init__(self) -> None:
        self.rank = distributed.get_rank()

    def tell(self, number: float) -> float:
        message = torch.tensor([number], dtype=torch.float64)
        distributed.broadcast(message, 0)
        return message.item()


def spread(values: torch.Tensor) -> float:
    """Between the ranks of the team; collective."""
    first = values.clone()
    distributed.broadcast(first, 0)
    apart = (values - first).abs().max() / first.abs().max()
    distributed.all_reduce(apart, distributed.ReduceOp.MAX)
    return apart.item()


class Module:
    """A module with an optimizer of its own: one process, or DistributedDataParallel."""

    compute_s = 0.0

    def __init__(self, model: str, batch: int, rank: int, parallel: bool) -> None:
        torch.set_flush_denormal(True)
        self.module = workload.make_model(model)
        if parallel:
            self.module = torch.nn.parallel.DistributedDataParallel(
                self.module, gradient_as_bucket_view=True, static_graph=True
            )
        self.samples, self.loss = batch, 0.0
        self.data = workload.batches(batch, rank)
        self.criterion = torch.nn.CrossEntropyLoss()
        options = {"lr": workload.RATE, "momentum": workload.MOMENTUM, "foreach": True}
        self.optimizer = torch.optim.SGD(self.module.parameters(), **options)

    def step(self) -> None:
        images, labels = next(self.data)
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.criterion(self.module(images), labels)
        loss.backward()
        self.optimizer.step()
        self.loss = loss.item()

    def values(self) -> torch.Tensor:
        return torch.cat([parameter.data.flatten() for parameter in self.module.parameters()])

    def wrong(self) -> str:
        return ""


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--exchange", choices=EXCHANGES, default="one")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--servers", type=int, default=1, help="rpc only")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", default="lenet", help="lenet, mlp:784-...-10, or an inventory's .csv file")
    parser.add_argument("--batch", type=int, default=64, help="of one worker")
    parser.add_argument("--compute-ms", type=float, default=0.0)
    parser.add_argument("--bucket-mib", type=float, default=25.0)
    parser.add_argument("--rank", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def run_rank(arguments: argparse.Namespace) -> None:
    """Workers are the first ranks."""
    torch.set_num_threads(arguments.threads)
    torch.set_num_interop_threads(1)
    info = {"torch": torch.__version__, "blas": blas_library()}
    if arguments.exchange == "one":
        work = Module(arguments.model, arguments.batch, 0, False)
        serve(work, Alone(), 1, info, lambda: 0.0)
        return
    if arguments.exchange == "rpc":
        import torch_rpc

        torch_rpc.start(arguments)
    is_worker = arguments.rank < arguments.workers
    if is_worker:
        store = f"file://{arguments.folder}/gloo"
        distributed.init_process_group("gloo", store, rank=arguments.rank, world_size=arguments.workers)
    if arguments.exchange == "ddp":
        work = Module(arguments.model, arguments.batch, arguments.rank, True)
        serve(work, GlooTeam(), arguments.workers, info, lambda: spread(work.values()))
    elif is_worker:
        compute = make_compute(arguments, arguments.rank, arguments.workers)
        work = GlooExchange(compute) if arguments.exchange == "gloo" else torch_rpc.RpcExchange(compute, arguments)
        serve(work, GlooTeam(), arguments.workers, info, lambda: spread(compute.flat.values))
    if arguments.exchange == "rpc":
        torch_rpc.stop()


def blas_library() -> str:
    """The file of the fast matrix library that this process has loaded, or `reference`."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        files = sorted({Path(line.split()[-1]).name for line in maps if ".so" in line})
    fast = [file for file in files if file.startswith(("libopenblas", "libmkl", "libblis", "libatlas"))]
    return fast[0] if fast else "reference"


def main() -> int:
    arguments = parse()
    if arguments.folder:
        run_rank(arguments)
        return 0
    ranks = {"one": 1, "rpc": arguments.workers + arguments.servers}.get(arguments.exchange, arguments.workers)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    os.environ.setdefault("TP_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory(prefix="steelyard-peer-") as folder:
        command = [sys.executable, *sys.argv, "--folder", folder, "--rank"]
        others = [start(command, rank) for rank in range(1, ranks)]
        arguments.folder = Path(folder)
        run_rank(arguments)
        return max((other.wait() for other in others), default=0)


def start(command: list[str], rank: int) -> subprocess.Popen:
    """A rank that ends with this process, however that happens."""
    libc = ctypes.CDLL(None)

    def die_with_parent() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    return subprocess.Popen([*command, str(rank)], stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)


if __name__ == "__main__":
    sys.exit(main())
