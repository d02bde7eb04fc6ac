"""Section kernels: their speed on one core beside what that core can do at best."""

from __future__ import annotations

import json

from .bench import GIGA, Bench
from .processes import run
from .rows import Row, compare

PEAK = "peak"
STREAMS = {"cache": "scale/cache", "memory": "scale/memory"}


def measure(bench: Bench) -> dict[str, list[dict]]:
    """Repetitions of every benchmark, in random order over all of them."""
    options = ["--benchmark_format=json", "--benchmark_enable_random_interleaving=true"]
    options += [f"--benchmark_repetitions={bench.rounds}", f"--benchmark_min_time={0.01 if bench.quick else 0.1}"]
    report = json.loads(run([str(bench.program_of("kernels")), *options], bench.environment))
    results: dict[str, list[dict]] = {}
    for one in report["benchmarks"]:
        if one["run_type"] == "iteration":
            results.setdefault(one["run_name"], []).append(one)
    for repetitions in results.values():
        repetitions.sort(key=lambda one: one["repetition_index"])
    return dict(sorted(results.items(), key=lambda item: item[1][0]["family_index"]))


def rates(repetitions: list[dict], counter: str) -> list[float]:
    return [one[counter] / GIGA for one in repetitions]


def section(bench: Bench) -> list[Row]:
    if not bench.program_of("kernels").exists():
        bench.missing("kernels (no bench_kernels in the build)", "benchmark", rebuild=True)
        return []
    results = measure(bench)
    rows = []
    for name, repetitions in results.items():
        if name == PEAK or name in STREAMS.values():
            continue
        if "flop" in repetitions[0]:
            peak = {"multiply-add peak": rates(results[PEAK], "flop")}
            made = compare("kernels", name, "GFLOP/s", rates(repetitions, "flop"), peak)
        elif "bytes" in repetitions[0]:
            where = "memory" if name.endswith("memory") else "cache"
            peak = {f"scale in {where}": rates(results[STREAMS[where]], "bytes")}
            made = compare("kernels", name, "GB/s", rates(repetitions, "bytes"), peak)
        else:
            made = compare("kernels", name, "rows/us", [one["items_per_second"] / 1e6 for one in repetitions], {})
        for row in made:
            row.share = row.ratio
        rows += made
    return rows
