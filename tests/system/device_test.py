"""--device cuda where there is no GPU to be used: one sentence with the reason, exit code 2, within two seconds."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run  # noqa: E402

MOST_SECONDS = 2.0
MOST_TRIES = 3  # Of which one must be fast enough: the machine may be busy with something else.


def check(reason: str, ranks: int, *arguments: str) -> None:
    seconds = []
    while len(seconds) < MOST_TRIES and (not seconds or min(seconds) > MOST_SECONDS):
        result = run(ranks, *arguments, "--device", "cuda", launcher=ranks > 1, CUDA_VISIBLE_DEVICES="")
        lines = result.own_lines()
        assert result.code == 2 and len(lines) == 1 and not result.out.strip(), (arguments, result)
        assert lines[0].startswith("steelyard: --device cuda: ") and reason in lines[0] and "use --device cpu" in lines[0], lines
        seconds.append(result.seconds)
    assert min(seconds) <= MOST_SECONDS, (arguments, seconds)


def main() -> None:
    version = run(1, "--version", launcher=False).out
    without = "devices: cpu (built without CUDA)" in version
    assert without or "devices: cpu; cuda by CUDA " in version and ", NCCL " in version, version
    reason = "this program was built without CUDA" if without else "(cudaGetDeviceCount: error "
    with Workplace() as folder:
        results = ("--results", str(folder / "results"))
        for ranks in (1, 4):
            check(reason, ranks, "train", "--mode", "allreduce", *results)
            check(reason, ranks, "compare", "--trial", "mode=allreduce", "--trial", "mode=allreduce optimizer=sgd", *results)
        assert not (folder / "results").exists(), "nothing was made"
        on_cpu = run(1, "train", "--mode", "allreduce", "--device", "cpu", "--data", "synthetic", "--steps", "2", *results, launcher=False)
        assert on_cpu.code == 0, on_cpu
    print(f"ok, {'without' if without else 'with'} CUDA")


main()
