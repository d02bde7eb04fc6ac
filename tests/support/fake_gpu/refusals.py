"""Writes C functions that refuse: refusals.py <nm> <output> <libraries...>.

Each has the name of a function that the libraries have and is weak, so that one that this library stands in for wins.
"""
import re
import subprocess
import sys
from pathlib import Path

NAMES = re.compile(r" [TW] ((?:__cuda|cuda|p?nccl|cublas)\w+)")


def main() -> None:
    nm, output, *libraries = sys.argv[1:]
    names: set[str] = set()
    for library in libraries:
        listed = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        found = set(NAMES.findall(listed))
        assert found, f"{library} has no function of CUDA, NCCL or cuBLAS"
        names |= found
    lines = ['void steelyard_fake_gpu_refuses(const char* call) __attribute__((noreturn));',
             '#define REFUSED(call) __attribute__((weak, visibility("default"))) void call(void);'
             ' void call(void) { steelyard_fake_gpu_refuses(#call); }']
    lines += [f"REFUSED({name})" for name in sorted(names)]
    Path(output).write_text("\n".join(lines) + "\n")


main()
