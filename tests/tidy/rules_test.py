"""The repository's own rules: who may include whom, sizes, format, no marks of unfinished work."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
# Lowest first; a layer may include itself and what stands in its set.
MAY_INCLUDE = {
    "kernels": {"kernels"},
    "src/base": {"src/base"},
    "src/mpi": {"src/mpi", "src/base"},
    "src/cuda": {"src/cuda", "src/base", "kernels"},
    "src/collective": {"src/collective", "src/mpi", "src/cuda", "src/base", "kernels"},
    "src/data": {"src/data", "src/base"},
    "src/trace": {"src/trace", "src/mpi", "src/base"},
    "src/model": {"src/model", "src/optim", "src/data", "src/cuda", "src/base", "kernels"},
    "src/optim": {"src/optim", "src/base", "kernels"},
}
EVERY_LOWER = set(MAY_INCLUDE)
MAY_INCLUDE["src/lab"] = {"src/lab"}
MAY_INCLUDE["modes"] = EVERY_LOWER | {"modes"}
MAY_INCLUDE["src/cli"] = EVERY_LOWER | {"modes", "src/cli"}
MAY_INCLUDE["src"] = MAY_INCLUDE["src/cli"]  # main.cpp
MAY_INCLUDE["tests"] = MAY_INCLUDE["src/cli"] | {"tests"}
# The only places that may see a library.
LIBRARIES = {
    "mpi.h": ("src/mpi/", "src/collective/", "tests/bench/"),
    "hdf5.h": ("src/trace/", "src/model/readers/", "tests/"),
    "minizip/unzip.h": ("src/model/readers/",),
    "nlohmann/json.hpp": ("src/cli/", "src/model/readers/"),
    "zlib.h": ("src/data/", "tests/"),
    "nccl.h": ("src/collective/nccl.cpp", "tests/support/fake_gpu/", "tests/fake_gpu/"),
    "cuda_runtime.h": ("src/cuda/", "kernels/cuda/", "tests/support/fake_gpu/", "tests/fake_gpu/"),
    "cuda_runtime_api.h": ("tests/support/fake_gpu/", "tests/fake_gpu/"),
    "cublas_v2.h": ("src/cuda/", "tests/support/fake_gpu/", "tests/fake_gpu/"),
    "dnnl.h": ("kernels/cpu/",),
    "otf2/otf2.h": ("src/cli/export/otf2.cpp",),
    "libfccp/csv.h": ("src/model/",),
    "CLI/CLI.hpp": ("src/cli/",),
    "toml++/toml.h": ("src/cli/",),
}
MOST_LINES = 300
MARKS = re.compile(r"\b(TODO|FIXME|XXX|not implemented|GTEST_SKIP|DISABLED_)\b")


def layer_of(name: str) -> str:
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "src" and len(parts) > 2 else parts[0]


def check_includes(name: str, text: str) -> list[str]:
    errors = []
    layer = layer_of(name)
    for header in re.findall(r'#include "([^"]+)"', text):
        if header in ("build_info.hpp", "cuda_build.hpp"):
            continue
        if layer_of(header) not in MAY_INCLUDE[layer]:
            errors.append(f"{name}: {layer} may not include {header}")
    for header in re.findall(r"#include <([^>]+)>", text):
        if header in LIBRARIES and not name.startswith(LIBRARIES[header]):
            errors.append(f"{name}: <{header}> belongs in {' or '.join(LIBRARIES[header])}")
    return errors


def check_format(sources: list[Path]) -> list[str]:
    tool = shutil.which("clang-format")
    if tool is None:
        return ["clang-format is missing; scripts/packages.txt lists it"]
    done = subprocess.run([tool, "--dry-run", "--Werror", *map(str, sources)], capture_output=True, text=True, check=False)
    return [line for line in done.stderr.splitlines() if "error:" in line]


def main() -> None:
    errors = []
    sources = sorted(p for top in ("kernels", "src", "modes", "tests") for p in (ROOT / top).rglob("*") if p.suffix in {".hpp", ".cpp", ".cu", ".cuh"})
    assert len(sources) > 80, "the sources are where they were"
    for path in sources:
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text()
        errors += check_includes(name, text)
        if path.suffix == ".hpp" and "#pragma once" not in text.splitlines()[:2]:
            errors.append(f"{name}: a header begins with #pragma once")
    for path in [*sources, *ROOT.glob("scripts/**/*"), *ROOT.glob("tests/**/*.py")]:
        if not path.is_file() or path == Path(__file__).resolve() or path.suffix == ".pyc":
            continue
        text = path.read_text()
        name = path.relative_to(ROOT).as_posix()
        if len(text.splitlines()) > MOST_LINES:
            errors.append(f"{name}: longer than {MOST_LINES} lines")
        errors += [f"{name}: mark of unfinished work: {mark}" for mark in MARKS.findall(text)]
    errors += check_format(sources)
    print("\n".join(errors) or f"ok, {len(sources)} sources")
    sys.exit(bool(errors))


main()
