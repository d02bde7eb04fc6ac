"""Four hosts over TCP: names, topology and clocks are right in the trace; a narrow link shows as the slow server.
Exported, a bundle's way is in order across hosts. A signal ends all of them."""
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.lab import LAB, NAME, Before, must, wait_until  # noqa: E402

PROGRAM = sys.argv[1]
HOSTS = 4
SLOW = 0  # The rank on lab1, behind 100 Mbit/s; the others have 500.
# 1.6 MB of parameters; links decide, not cores, so that a busy machine changes little.
TRAFFIC = ("--model", "replay:mlp:784-512-10", "--compute-ms", "1")
FAR_NS = 10_000_000  # Two clocks are read one after the other, and the process may lose its core between.


def program(folder: str, name: str, *options: str) -> dict:
    must("run", "--no-check", "-n", str(HOSTS), "--", PROGRAM, *options, "--results", folder, "--name", name, "--json", f"{folder}/{name}.json")
    return json.loads(Path(f"{folder}/{name}.json").read_text())


def rank_files(folder: str, name: str) -> list[h5py.File]:
    return [h5py.File(path) for path in sorted(Path(folder, name, "ranks/part-0001").iterdir())]


def the_trace_says_where(folder: str, name: str) -> None:
    manifest = json.loads(Path(folder, name, "manifest.json").read_text())
    assert manifest["hosts"] == [f"lab{i + 1}" for i in range(HOSTS)], manifest["hosts"]
    assert manifest["node_of_rank"] == list(range(HOSTS)), manifest["node_of_rank"]
    files = rank_files(folder, name)
    assert [file.attrs["host"].decode() for file in files] == manifest["hosts"]
    assert [int(file.attrs["node"]) for file in files] == list(range(HOSTS))
    assert [int(file.attrs["local_rank"]) for file in files] == [0] * HOSTS
    for file in files:
        # One machine has one clock, so the epochs say how far the ranks' clocks are apart.
        apart = int(file.attrs["epoch_unix_ns"]) - int(files[0].attrs["epoch_unix_ns"])
        for when in ("", "_at_end"):
            offset, error = int(file.attrs[f"clock_offset{when}_ns"]), int(file.attrs[f"clock_error{when}_ns"])
            assert abs(offset - apart) <= error + FAR_NS, (when, offset, apart, error)
            assert (error == 0) == (file is files[0]), error
    assert max(abs(int(file.attrs["clock_offset_ns"])) for file in files) > 0


def wait_ns(events: np.ndarray, wait: int, server: int) -> int:
    chosen = events[(events["phase"] == wait) & (events["peer"] == server)]
    return int((chosen["end_ns"] - chosen["begin_ns"]).sum())


def the_slow_server_shows(folder: str) -> None:
    said = program(folder, "server", "train", "--mode", "ps", "--servers", "2", *TRAFFIC, "--steps", "12", "--warmup", "4")
    the_trace_says_where(folder, "server")
    assert said["transport"] == "message" and said["server_max_over_mean"]["bytes"] < 1.1, said
    files = rank_files(folder, "server")
    phases = h5py.check_enum_dtype(files[0]["events"].dtype["phase"])
    events = [file["events"][:] for file in files]
    slow, fast = (sum(wait_ns(events[worker], phases["wait"], server) for worker in (2, 3)) for server in (SLOW, 1))
    print(f"the slow server has equal bytes and {slow / max(fast, 1):.1f} x the waiting of the other")
    assert slow > 2 * fast, (slow, fast)


def exported_ways_are_in_order(folder: str) -> None:
    done = subprocess.run([PROGRAM, "export", f"{folder}/server", "--perfetto", f"{folder}/server.trace"], capture_output=True, text=True,
                          timeout=100, check=False)
    assert done.returncode == 0, done
    told = json.loads(Path(f"{folder}/server.trace").read_text())
    names = [e["args"]["name"] for e in told["traceEvents"] if e.get("name") == "process_name"]
    assert names == ["server 0 (rank 0, lab1)", "server 1 (rank 1, lab2)", "worker 0 (rank 2, lab3)", "worker 1 (rank 3, lab4)"], names
    errors = [told["otherData"]["clock_error_ns"][str(rank)] / 1000 for rank in range(HOSTS)]
    begins, handled = {}, {}
    for event in told["traceEvents"]:
        if event["ph"] == "s":
            begins[event["id"]] = event
        elif event["ph"] == "t" and event["id"] not in handled:
            handled[event["id"]] = event  # The earlier of handling and reply.
        elif event["ph"] == "t":
            handled[event["id"]] = min(handled[event["id"]], event, key=lambda e: e["ts"])
    assert begins and begins.keys() == handled.keys(), (len(begins), len(handled))
    for key, begin in begins.items():
        allowed = errors[begin["pid"] - 1] + errors[handled[key]["pid"] - 1]
        assert begin["ts"] <= handled[key]["ts"] + allowed, (begin, handled[key], allowed)


def a_signal_stops_all_hosts(folder: str) -> None:
    job = subprocess.Popen([LAB, "run", "--name", NAME, "--no-check", "-n", str(HOSTS), "--", PROGRAM, "train", "--mode", "ps", *TRAFFIC,
                            "--steps", "1000000", "--flush-seconds", "0.1", "--results", folder, "--name", "stopped"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: Path(folder, "stopped", "ranks/part-0001/rank-00003.h5").exists() or job.poll() is not None, "the run has begun")
    job.send_signal(signal.SIGUSR1)
    out, err = job.communicate(timeout=100)
    assert job.returncode == 85 and "STOPPED" in out, (job.returncode, out, err)
    assert not Path(folder, "stopped", "done").exists()


def main() -> None:
    before = Before()
    try:
        must("up", str(HOSTS), "--link", "500mbit", "--host", f"{SLOW + 1}:link=100mbit")
        with tempfile.TemporaryDirectory(prefix="steelyard-test-") as folder:
            the_slow_server_shows(folder)
            exported_ways_are_in_order(folder)
            a_signal_stops_all_hosts(folder)
    finally:
        must("down")
    before.check("down")
    print("ok")


main()
