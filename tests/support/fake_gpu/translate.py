"""Makes C++ of CUDA sources: translate.py <from> <to>. A launch becomes the naming of its kernel (kernel.hpp)."""
import re
import sys
from pathlib import Path

TIMER = re.compile(r'asm volatile\("mov\.u64 %0, %%globaltimer;" : "=l"\((\w+)\)\)')
LAUNCH = re.compile(r"([\w:]+(?:<[^<>;]*(?:<[^<>;]*>[^<>;]*)*>)?)\s*<<<[^;]*?>>>\(")


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    translated = LAUNCH.sub(r"FAKE_GPU_LAUNCH(\1)(", source.read_text())
    translated = TIMER.sub(r"\1 = ::steelyard::fake_gpu::time_ns()", translated)
    if "<<<" in translated:
        sys.exit(f"{source}: a launch cannot be read: " + translated.split("<<<")[0].splitlines()[-1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(translated)


main()
