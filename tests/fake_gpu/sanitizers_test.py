"""The stand-in and its tests have no race and no wrong access: thread and address sanitizer of GCC."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1])
LINKED = ("stream", "memory", "blas", "nccl", "nonblocking", "faults")


def check(folder: Path, *settings: str) -> None:
    subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                    "-DCMAKE_CXX_COMPILER=g++", *settings], check=True)
    listed = subprocess.run(["ninja", "-C", str(folder), "-t", "targets", "all"], capture_output=True, text=True,
                            check=True).stdout
    targets = [f"fake_gpu_{name}_test" for name in LINKED]
    if "fake_gpu_kernel_test:" in listed:  # Where nvcc is.
        targets.append("fake_gpu_kernel_test")
    subprocess.run(["ninja", "-C", str(folder), f"-j{os.cpu_count()}", *targets], check=True)
    chosen = "|".join((*LINKED, "fake_gpu_kernel"))
    subprocess.run(["ctest", "--test-dir", str(folder), "-R", f"^fake_gpu/({chosen})_test$", "--output-on-failure",
                    "--no-tests=error"], check=True)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="steelyard-sanitizers-") as scratch:
        check(Path(scratch) / "thread", "-DCMAKE_CXX_FLAGS=-fsanitize=thread")
        check(Path(scratch) / "address", "-DSTEELYARD_SANITIZE=ON")
    print("ok")


main()
