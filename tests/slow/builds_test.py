"""The other builds: clang with warnings as errors and its tests, sanitizers with unit and MPI tests, neither oneDNN nor OTF2,
every header alone."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1])


def run(*command: str, **variables: str) -> None:
    print("+", *command, flush=True)
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **variables})


def build(folder: Path, *settings: str) -> None:
    run("cmake", "-S", ".", "-B", str(folder), "-G", "Ninja", "-DSTEELYARD_WERROR=ON", *settings)
    run("cmake", "--build", str(folder))


def check_headers(folder: Path) -> None:
    """Compiles each header before anything else has been included, with the flags of the build."""
    commands = subprocess.run(["ninja", "-C", str(folder), "-t", "commands", "tests/unit_options_test"], capture_output=True,
                              text=True, check=True).stdout.splitlines()
    flags = next(line for line in commands if "options_test.cpp" in line).split(" -o ")[0].split()
    flags = [flag for flag in flags[1:] if flag not in ("-MD",)]
    flags = [flag for index, flag in enumerate(flags) if flag not in ("-MT", "-MF") and flags[index - 1] not in ("-MT", "-MF")]
    headers = (h for top in ("kernels", "src", "modes", "tests") for h in (ROOT / top).rglob("*.hpp"))
    for header in sorted(h for h in headers if "fake_gpu" not in h.parts):  # Those need CUDA's.
        subprocess.run(["c++", *flags, "-fsyntax-only", "-include", str(header), "-x", "c++", "/dev/null"], check=True, cwd=folder)


def check_refuses_otf2(folder: Path) -> None:
    target = folder / "archive"
    done = subprocess.run([str(folder / "steelyard"), "export", str(folder), "--otf2", str(target)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and not done.stdout, done
    assert done.stderr.startswith("steelyard: --otf2: this program was built without") and done.stderr.count("\n") == 1, done
    assert not target.exists()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="steelyard-builds-") as scratch:
        folder = Path(scratch)
        build(folder / "clang", "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_C_COMPILER=clang")
        run("ctest", "--test-dir", str(folder / "clang"), "-L", "unit|mpi", "--output-on-failure")
        build(folder / "asan", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DSTEELYARD_SANITIZE=ON")
        # Open MPI and oneDNN keep memory to the end of the process; leaks are looked for in our unit tests.
        run("ctest", "--test-dir", str(folder / "asan"), "-L", "unit", "--output-on-failure")
        run("ctest", "--test-dir", str(folder / "asan"), "-L", "mpi", "--output-on-failure", ASAN_OPTIONS="detect_leaks=0")
        build(folder / "least", "-DSTEELYARD_ONEDNN=OFF", "-DSTEELYARD_OTF2=OFF")
        run("ctest", "--test-dir", str(folder / "least"), "-L", "unit|mpi", "--output-on-failure")
        check_refuses_otf2(folder / "least")
        check_headers(folder / "least")
    print("ok")


main()
