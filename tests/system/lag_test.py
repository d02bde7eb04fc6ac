"""The bound of ssp in the traces of real runs: when a server starts a reply, its worker leads the slowest by at most --max-lag."""
import sys
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.support.steelyard import Workplace, run_json  # noqa: E402

TRAIN = ("train", "--model", "replay:lenet", "--mode", "ps", "--servers", "1", "--compute-ms", "2", "--steps", "60")
WORKERS = 3


def greatest_lead(run: Path) -> int:
    """Over all replies and shards, by the server's own clock: steps of its worker less those of the slowest one."""
    with h5py.File(run / "ranks/part-0001/rank-00000.h5") as file:
        names = {value: name for name, value in h5py.check_enum_dtype(file["events"].dtype["phase"]).items()}
        events = file["events"][:]
    lead = 0
    for shard in np.unique(events["shard"][events["shard"] >= 0]):
        own = events[events["shard"] == shard]
        done = {rank: 0 for rank in range(1, WORKERS + 1)}
        # A push counts from the moment that it has been handled, a reply is asked for from the moment that it starts.
        moments = [(e["end_ns"], 0, e) for e in own if names[e["phase"]] in ("apply", "serve")]
        moments += [(e["begin_ns"], 1, e) for e in own if names[e["phase"]] == "reply"]
        for _, reply, event in sorted(moments, key=lambda moment: moment[:2]):
            if reply:
                lead = max(lead, int(event["step"]) + 1 - min(done.values()))
            elif event["peer"] >= 0:  # Else an update that waited for a reply to leave.
                done[int(event["peer"])] = int(event["step"]) + 1
        assert set(done.values()) == {60}, done
    return lead


def main() -> None:
    with Workplace() as folder:
        for lag in (0, 2):
            name = f"ssp-{lag}"
            run_json(WORKERS + 1, *TRAIN, "--consistency", "ssp", "--max-lag", str(lag), "--results", str(folder), "--name", name)
            assert greatest_lead(folder / name) <= lag, (lag, greatest_lead(folder / name))
        run_json(WORKERS + 1, *TRAIN, "--consistency", "asp", "--results", str(folder), "--name", "asp")
        assert greatest_lead(folder / "asp") > 0, "or this test could not fail"
    print("ok")


main()
