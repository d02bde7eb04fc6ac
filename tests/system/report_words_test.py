"""What the report says of a server that is waited for: what the trace shows, and no cause that it does not show."""
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts" / "report"), str(ROOT / "scripts")]
sys.dont_write_bytecode = True
from steelyard_report.contestants import Contestant, differing  # noqa: E402
from steelyard_report.raw import Raw, ServerLoad  # noqa: E402
from steelyard_report.runs import Figure, Trial  # noqa: E402
from steelyard_report.waits import Waits  # noqa: E402
from steelyard_report.words import awaited_server  # noqa: E402

STEP_MS = 100.0


def said(waits: list[float], first: list[float], payload: list[int], busy: list[float], rates: list[float], weights: object = None) -> str:
    row = {"id": 0, "mode": "ps", "servers": len(waits), "workers": 2}
    summary = {("step_time", "worker"): Figure(STEP_MS, STEP_MS, STEP_MS, "ms"), ("throughput", "all"): Figure(1, 1, 1, "images/s")}
    contestant = Contestant("ps", [Trial(SimpleNamespace(path="run"), row, summary)])
    contestant.weigh(weights)
    loads = [ServerLoad(rank, *load) for rank, load in enumerate(zip(payload, [1] * len(waits), busy))]
    raw = Raw(servers=loads, waits=Waits(numpy.array(waits), numpy.array(first)), rates=rates)
    return awaited_server(contestant, {("run", 0): raw})


def check_named() -> None:
    even, nothing = [50, 50], [0.0, 0.0]
    assert said([60.0, 10.0], nothing, even, [1.0, 1.0], [10.0, 50.0]) == (
        "ps: workers wait 60 ms of a step for server 0, 10 ms for the other; pushes to it travel at 10 MB/s, to the others at 50.")
    assert "server 1, 10 ms for the other; its payload is 1.80 times the mean." in said([10.0, 60.0], nothing, [10, 90], [1.0, 1.0], [])
    assert "its busy time is 1.50 times the mean." in said([60.0, 10.0], nothing, even, [3.0, 1.0], [9.0, 9.0])
    assert "; it holds what a step needs first; neither" in said([60.0, 10.0], [50.0, 0.0], even, [1.0, 1.0], [9.0, 9.0])
    assert "; neither its payload nor its busy time explains it." in said([60.0, 10.0], [20.0, 0.0], even, [1.0, 1.0], [])
    assert "10 ms for each of the others" in said([10.0, 60.0, 10.0], [0.0] * 3, [1] * 3, [1.0] * 3, [])


def check_weights() -> None:
    """Who has a weight of five carries five times as much, and is not hot for that."""
    assert "neither its payload" in said([10.0, 60.0], [0.0, 0.0], [20, 100], [1.0, 5.0], [], "1,5")
    assert "its payload is 1.20 times what its weight asks" in said([60.0, 10.0], [0.0, 0.0], [20, 80], [1.0, 5.0], [], [1, 5])


def check_silent() -> None:
    assert said([60.0, 58.0], [0.0, 0.0], [50, 50], [1.0, 1.0], []) == "", "as long as for the other"
    assert said([9.0, 1.0], [0.0, 0.0], [50, 50], [1.0, 1.0], []) == "", "less than a tenth of the step"
    assert said([60.0], [0.0], [50], [1.0], []) == "", "there is no other"


def check_labels() -> None:
    settings = [{"mode": "ps", "servers": "2", "placement": "range"}, {"mode": "ps", "servers": "2", "placement": "striped"},
                {"mode": "allreduce", "placement": "range", "wire": "fp16"}]
    assert [differing(settings, place) for place in range(3)] == [["placement=range"], ["placement=striped"], ["placement=range", "wire=fp16"]]
    same = [{"servers": "2", "wire": "fp16"}, {"servers": "4", "wire": "fp16"}]
    assert differing(same, 0) == [], "servers are in the label already"


def main() -> None:
    check_named()
    check_weights()
    check_silent()
    check_labels()
    print("ok")


main()
