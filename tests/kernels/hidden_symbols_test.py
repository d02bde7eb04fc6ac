"""The kernels of an instruction set show their table and nothing else: no other part of the program can be linked to code
that needs those instructions.

usage: hidden_symbols_test.py NM OBJDUMP OBJECT..."""
import subprocess
import sys
from pathlib import Path

NM, OBJDUMP, *OBJECTS = sys.argv[1:]
# Registers that the compiler must have used, or the flags of the set were lost.
WIDEST = {"steelyard_kernels_x86_64": "xmm", "steelyard_kernels_x86_64_v3": "ymm", "steelyard_kernels_x86_64_v4": "zmm"}


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    assert {Path(name).stem for name in OBJECTS} == set(WIDEST), OBJECTS
    for name in OBJECTS:
        defined = [line.split()[-1] for line in output(NM, "--extern-only", "--defined-only", name).splitlines()]
        assert defined == [Path(name).stem], f"{name} shows {defined[:5]}"
        assert f"%{WIDEST[Path(name).stem]}" in output(OBJDUMP, "--disassemble", name), f"{name} uses narrower instructions"
    print(f"ok, {len(OBJECTS)} instruction sets")


main()
