"""scripts/dev/consistency_table and scripts/dev/uneven_staleness: their figures are those of the runs that they look at."""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.support.steelyard import PROGRAM, Workplace, run_json  # noqa: E402

SMALL = ("--data", "synthetic", "--lr-scale", "none")


def script(name: str, *arguments: str, code: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run([sys.executable, str(ROOT / "scripts/dev" / name), *arguments], capture_output=True, text=True, check=False,
                          timeout=100)
    assert done.returncode == code, done
    return done


def check_consistency_table(folder: Path) -> None:
    report = folder / "table.json"
    done = script("consistency_table", "--program", PROGRAM, "--model", "mlp:50-20-10", "--ranks", "3", "--servers", "1", "--batch", "32",
                  "--steps", "60", "--evaluate-every", "20", "--target", "0.3", "--rates", "0.00001,0.003", "--momenta", "0.9",
                  "--grid-seeds", "1", "--seeds", "2", "--only", "bsp;asp keep", "--json", str(report), "--", *SMALL)
    kept = json.loads(report.read_text())
    for name in ("bsp", "asp keep"):
        slow, fast = kept["grid"][name]
        assert slow["times_s"] == [None] and fast["times_s"][0] > 0, kept["grid"]
        (row,) = [line for line in done.stdout.splitlines() if line.startswith(f"| {name} | 0.003 | 0.9 ")]
        trials = [trial for trial in kept["comparison"]["trials"] if trial["consistency"] == name.split()[0]]
        assert len(trials) == 2 and "2 of 2" in row, (row, len(trials))
        times = sorted(trial["time_to_target_s"] for trial in trials)
        assert f"| {(times[0] + times[1]) / 2:.2f} |" in row, (row, times)
    (pushes,) = {sum(one["pushes"] for one in trial["staleness"]["histogram"]) for trial in trials}
    assert pushes == trials[0]["applied"], (pushes, trials[0])
    assert "never" in done.stdout and "**" in done.stdout
    refused = script("consistency_table", "--only", "bsp;asp kept", code=2)
    assert "asp kept" in refused.stderr and "asp cost_aware" in refused.stderr, refused


def check_uneven_staleness(folder: Path) -> None:
    trial = "mode=ps servers=2 consistency=asp placement="
    compared = run_json(4, "compare", "--model", "lenet", "--data", "fashion-mnist-sample", "--batch", "32", "--steps", "30", "--rounds", "2",
                        "--confirm-rounds", "0", "--evaluate-every", "10", "--trial", f"{trial}round_robin", "--trial", f"{trial}striped",
                        "--results", str(folder), "--name", "uneven")
    table, picture = folder / "uneven.json", folder / "uneven.png"
    done = script("uneven_staleness", str(folder / "uneven"), "--json", str(table), "--figure", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG") and len(done.stdout.splitlines()) == 2 + 4, done
    for one in json.loads(table.read_text()):
        trials = [trial for trial in compared["trials"] if trial["placement"] == one["placement"]]
        assert one["rounds"] == len(trials) == 2
        for server in one["servers"]:
            of_server = [trial["staleness"]["by_server"][server["server"]] for trial in trials]
            mean = sum(each["mean"] * each["pushes"] for each in of_server) / sum(each["pushes"] for each in of_server)
            age = sum(each["mean_age_ms"] * each["pushes"] for each in of_server) / sum(each["pushes"] for each in of_server)
            assert abs(server["staleness"] - mean) < 1e-9 and abs(server["age_ms"] - age) < 1e-6, (server, of_server)
            assert server["oldest_bundle_ms"] >= server["age_ms"]
        first, second = (trial["evaluations"][0]["time_s"] for trial in trials)
        assert abs(one["accuracy"][0]["time_s"] - (first + second) / 2) < 1e-9, (one["accuracy"], first, second)
        assert [point["step"] for point in one["accuracy"]] == [10, 20, 30]
    refused = script("uneven_staleness", str(folder), code=2)
    assert "run.h5" in refused.stderr, refused


def main() -> None:
    with Workplace() as folder:
        check_consistency_table(folder)
        check_uneven_staleness(folder)
    print("ok")


main()
