"""Every function of CUDA, NCCL and cuBLAS that programs need is one that the stand-in has.

coverage_test.py <nm> <library> <programs...>
"""
import re
import subprocess
import sys

NAME = r"((?:__cuda|cuda|p?nccl|cublas)\w*)"


def symbols(nm: str, binary: str, kind: str, which: str) -> set[str]:
    listed = subprocess.run([nm, "-D", which, binary], capture_output=True, text=True, check=True).stdout
    return set(re.findall(rf" {kind} {NAME}(?:@|$)", listed, re.MULTILINE))


def main() -> None:
    nm, library, *programs = sys.argv[1:]
    has = symbols(nm, library, "T", "--defined-only")  # What is only refused is weak.
    missing = []
    for program in programs:
        needed = symbols(nm, program, "U", "--undefined-only")
        assert needed, f"{program} needs nothing of CUDA, so it shows nothing"
        missing += [f"{program} needs {name}, for which {library} has no stand-in" for name in sorted(needed - has)]
    print("\n".join(missing) or f"ok, {len(programs)} programs")
    sys.exit(bool(missing))


main()
