"""Whatever happens to one of the GPUs, every rank ends soon, and one says which rank, step and call it was.

nccl_faults_test.py <program> <library> <times> <launcher>...
"""
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
PROGRAM, LIBRARY, TIMES, *LAUNCHER = sys.argv[1:]
TIMEOUT_S = 2
SOON_S = 60  # The patience of the ranks, and a busy machine.
OPTIONS = ("train", "--mode", "allreduce", "--device", "cuda", "--model", "replay:lenet", "--compute-ms", "2", "--progress", "never",
           "--timeout", str(TIMEOUT_S), "--steps", "12")
WAITS = rf"no progress for {TIMEOUT_S} s \(--timeout\): all ranks wait in step 4, call 11: allreduce of \d+ elements"
# Of three ranks, on rank 1 alone: the 9th operation of NCCL is the first bucket of step 4, behind two calls of set-up.
FAULTS = {
    "mismatch:9@1": WAITS,
    "silent:9@1": WAITS,
    "async_error:9@1": r"rank 1, step 4, call 11: allreduce of \d+ elements: unhandled system error",
    "death_at_init:1@1": None,  # The launcher says that it was killed.
    "out_of_memory:2@1": r"\[rank 1\] steelyard: CUDA: out of memory \(cudaMalloc of \d+ bytes",
    "device_lost:60@1": r"\[rank 1, step \d+\] steelyard: CUDA: unspecified launch failure \(",
}


def start(fault: str, folder: Path) -> subprocess.Popen:
    """Preloaded by the ranks alone."""
    command = [*LAUNCHER[:-1], "-x", f"LD_PRELOAD={LIBRARY}", LAUNCHER[-1], "3", PROGRAM, *OPTIONS, "--results", str(folder)]
    environment = {"STEELYARD_FAKE_GPU_DEVICES": "3", "STEELYARD_FAKE_GPU_FAULT": fault}
    return subprocess.Popen(command, env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen, what: str) -> str:
    """What it wrote on stderr; it must fail, in time."""
    begin = time.monotonic()
    try:
        _, said = process.communicate(timeout=SOON_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"{what}: goes on after {SOON_S} s") from None
    assert process.returncode != 0, (what, said)
    print(f"{what}: {time.monotonic() - begin:.1f} s")
    return said


def check_fault(fault: str, sentence: str | None, folder: Path) -> None:
    said = ended(start(fault, folder), fault)
    if sentence is None:
        assert "signal 9" in said, said
        return
    assert re.search(sentence, said), (fault, said)
    assert said.count("steelyard: ") == 1, (fault, "one rank speaks", said)


def segments() -> set[Path]:
    """Memory that the stand-in shares between processes."""
    return set(Path("/dev/shm").glob("steelyard_fake*"))


def main() -> None:
    before = segments()
    with tempfile.TemporaryDirectory(prefix="steelyard-faults-") as folder:
        for _ in range(int(TIMES)):
            for fault, sentence in FAULTS.items():
                check_fault(fault, sentence, Path(folder))
    for left in segments() - before:  # Processes that were killed cannot tidy up.
        left.unlink()
    print("ok")


main()
