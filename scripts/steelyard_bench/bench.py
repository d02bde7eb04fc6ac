"""What all sections share: the build, the peers that there are, and how programs are started."""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .processes import ROOT, run

PYTHON = "/usr/bin/python3"
PEERS = ROOT / "tests" / "bench" / "peers"
ROOT_VARIABLES = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
# Choices for the matrix library of some machine, made for other programs: each peer chooses for itself.
FOREIGN_CHOICES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY")
PACKAGES = {"torch": "python3-torch libopenblas0-pthread", "mpi4py": "python3-mpi4py", "gloo": "libgloo-dev",
            "benchmark": "libbenchmark-dev"}
WARMUP_STEPS = 20  # Of `steelyard train`, not timed.
LEAST_STEPS = 60
GIGA = 1e9

Command = tuple[list[str], dict[str, str]]


class Bench:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.build = Path(arguments.build).resolve()
        self.program = self.build / "steelyard"
        self.quick = arguments.quick
        self.rounds = arguments.rounds
        self.budget_s = 0.0
        self.seconds = 0.2 if self.quick else 1.0
        self.data = arguments.data
        self.notes: list[str] = []
        self.failed = False
        self.environment = mpi_environment()

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def missing(self, what: str, package: str, rebuild: bool = False) -> None:
        again = ", then build again" if rebuild else ""
        self.note(f"not measured: {what}; apt-get install {PACKAGES[package]}{again}")

    def launch(self, ranks: int, *options: str) -> list[str]:
        over = ["--oversubscribe"] if ranks > cores() else []
        return ["mpirun", "-n", str(ranks), *over, *options]

    def program_of(self, name: str) -> Path:
        return self.build / "tests" / "bench" / f"bench_{name}"

    @functools.cached_property
    def version(self) -> str:
        return run([str(self.program), "--version"], self.environment).strip()

    @functools.cached_property
    def modules(self) -> set[str]:
        """Which of the Python modules that peers need are there."""
        found = set()
        for name in ("torch", "mpi4py"):
            check = [PYTHON, "-c", f"import {name}"]
            if subprocess.run(check, env=self.peer_environment(1), capture_output=True, check=False).returncode == 0:
                found.add(name)
        return found

    def peer_environment(self, threads: int) -> dict[str, str]:
        environment = {name: value for name, value in self.environment.items() if name not in FOREIGN_CHOICES}
        return environment | {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads),
                              "PYTHONDONTWRITEBYTECODE": "1"}

    def torch_peer(self, options: str, threads: int = 1) -> Command:
        command = [PYTHON, str(PEERS / "torch_peer.py"), *options.split(), "--threads", str(threads)]
        return command, self.peer_environment(threads)

    def mpi_peer(self, ranks: int, options: str) -> Command:
        launch = self.launch(ranks, "--bind-to", "none")
        return [*launch, PYTHON, str(PEERS / "mpi_peer.py"), *options.split()], self.peer_environment(1)

    def usable(self, commands: dict[str, Command]) -> dict[str, Command]:
        """Those whose modules are there; says what is missing."""
        usable = {}
        for name, command in commands.items():
            needs = {"torch", "mpi4py"} if "mpi4py" in name else {"torch"}
            for module in sorted(needs - self.modules):
                self.missing(f"peers that need {module}", module)
            if needs <= self.modules:
                usable[name] = command
        return usable

    def train(self, ranks: int, options: str, steps: int, warmup: int = WARMUP_STEPS) -> dict:
        """The report of `steelyard train`. Ranks are not bound to cores, because those of peers are not."""
        with tempfile.TemporaryDirectory(prefix="steelyard-bench-") as folder:
            report = Path(folder) / "report.json"
            command = [*self.launch(ranks, "--bind-to", "none"), str(self.program), "train", *options.split()]
            command += ["--steps", str(steps + warmup), "--warmup", str(warmup), "--evaluate", "never"]
            command += ["--trace", "off", "--progress", "never", "--results", folder, "--json", str(report)]
            run(command, self.environment)
            return json.loads(report.read_text())

    @functools.cached_property
    def collective(self) -> str:
        """`auto` where the build has it."""
        options = ["train", "--mode", "allreduce", "--collective", "auto", "--dry-run"]
        command = [*self.launch(1), str(self.program), *options]
        done = subprocess.run(command, env=self.environment, cwd=ROOT, capture_output=True, check=False, timeout=60)
        return "auto" if done.returncode == 0 else "shared"

    @functools.cached_property
    def peak_gflops(self) -> float:
        """What one core multiplies and adds in registers, 10^9 operations per second; NaN where unknown."""
        program = self.program_of("kernels")
        if not program.exists():
            return float("nan")
        options = ["--benchmark_filter=^peak", "--benchmark_format=json", "--benchmark_min_time=0.2"]
        report = json.loads(run([str(program), *options], self.environment))
        return report["benchmarks"][0]["flop"] / GIGA


def cores() -> int:
    return len(os.sched_getaffinity(0))


def mpi_environment() -> dict[str, str]:
    """Open MPI refuses to run as root unless told; the variables are set only then, and it is said."""
    environment = dict(os.environ)
    if os.geteuid() == 0 and not all(environment.get(name) for name in ROOT_VARIABLES):
        print(f"running as root: setting {' and '.join(ROOT_VARIABLES)} for this command")
        environment |= dict.fromkeys(ROOT_VARIABLES, "1")
    return environment


def size_text(count: int) -> str:
    kibi = count // 1024
    return f"{kibi // 1024} MiB" if kibi >= 1024 else f"{kibi} KiB"


def has_mpirun() -> bool:
    return shutil.which("mpirun") is not None
