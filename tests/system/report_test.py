"""scripts/report/report: the figures of runs are those that the program computed, the verdict is its own."""
import json
import sys
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.report import SAMPLE, Report, must, report, summary  # noqa: E402
from tests.support.steelyard import Workplace  # noqa: E402

POINTS = {"000-ps-1": ("--mode", "ps", "--servers", "1"), "001-ps-2": ("--mode", "ps", "--servers", "2"),
          "002-allreduce": ("--mode", "allreduce")}


def make_sweep(folder: Path) -> None:
    for name, options in POINTS.items():
        must(4, "train", *options, *SAMPLE, "--steps", "60", "--evaluate-every", "20", "--results", str(folder / "sweep"), "--name", name)


def check_sweep(folder: Path) -> None:
    """Nested one folder deeper than given; figures are those of summary.csv and of the servers' rows."""
    figures = folder / "figures"
    shown = report(folder / "r.html", folder / "sweep", "--figures", figures)
    assert shown.code == 0 and not shown.err, shown
    text = shown.text()
    assert "No winner is named" in text and "ps 2+2" in text and "allreduce 4" in text, text[:2000]
    for word in ("Open MPI", "Release", "one_node", "--evaluate-every 20"):
        assert word in text, (word, "provenance")
    assert shown.titles()[:3] == ["Throughput of every contestant", "Throughput and imbalance against the ratio of servers to workers",
                                  "Load per server"], shown.titles()
    assert "Staleness of gradients" not in shown.titles(), "bsp has no stale gradients, so no figure of them"
    median = {name: float(summary(folder / "sweep" / name)["images_per_s"]) for name in POINTS}
    ratio = next(trace for trace in shown.figure("ratio") if trace["name"] == "parameter servers")
    assert ratio["x"] == ["1:3", "2:2"], ratio
    assert all(abs(a / b - 1) < 1e-5 for a, b in zip(ratio["y"], [median["000-ps-1"], median["001-ps-2"]])), (ratio, median)
    check_load(folder, shown.figure("server-load"))
    check_waits(folder, shown)
    check_learning(folder, shown.figure("learning"))
    kinds = {path.suffix for path in figures.iterdir()}
    assert kinds == {".png", ".svg"} and len(list(figures.iterdir())) == 2 * shown.page.count("Plotly.newPlot"), list(figures.iterdir())
    assert b"images/s" in (figures / "throughput.svg").read_bytes(), "text of SVG files stays text"
    assert (folder / "r.html").stat().st_size < 12e6
    assert "http" not in shown.page, "nothing is loaded from elsewhere"


def check_load(folder: Path, traces: list[dict]) -> None:
    with h5py.File(folder / "sweep" / "001-ps-2" / "run.h5") as file:
        load, rows = file["load"][:], file["load"].attrs["rank_rows"]
    for server in (0, 1):
        own = load[sum(rows[:server]):sum(rows[:server + 1])]
        wanted = float(own["bytes_in"].sum() + own["bytes_out"].sum()) / 60 / 1e6
        drawn = next(trace for trace in traces if trace["name"] == "ps 2+2")["y"][server]
        assert abs(drawn / wanted - 1) < 1e-9, (server, drawn, wanted)


def check_waits(folder: Path, shown: Report) -> None:
    """Time waited for each server is that of /reads; the timeline gives each wait the colour and entry of its server."""
    with h5py.File(folder / "sweep" / "001-ps-2" / "run.h5") as file:
        reads, placement, warmup = file["reads"][:], file["placement"][:], int(file["trials"]["warmup"][0])
        events, phases = file["events"][:], h5py.check_enum_dtype(file["events"].dtype["phase"])
    owner = dict(zip(placement["shard"].tolist(), placement["server"].tolist()))
    measured = reads[reads["step"] >= warmup]
    drawn = [trace for trace in shown.figure("server-load") if trace["name"] == "ps 2+2"][3]["y"]
    for server in (0, 1):
        own = [int(row["wait_ns"]) for row in measured if owner[int(row["shard"])] == server]
        wanted = sum(own) / 2 / (60 - warmup) / 1e6
        assert abs(drawn[server] - wanted) <= 1e-9 * wanted, (server, drawn, wanted)
    assert sum(drawn) > 0, drawn
    spans = [(trace["name"], y, text) for trace in shown.figure("timeline-02") for y, text in zip(trace["y"], trace["hovertext"])]
    waits = [(name, text) for name, row, text in spans if row.startswith("worker") and ": wait" in text]
    assert waits and all(f"with {name}" in text for name, text in waits), waits[:5]
    known = {f"{(end - begin) / 1e6:.3f} ms" for begin, end in events[events["phase"] == phases["wait"]][["begin_ns", "end_ns"]].tolist()}
    assert all(text.split("<br>")[0].rpartition(": ")[2] in known for _, text in waits), waits[:5]
    assert all(row == name for name, row, text in spans if "on the way" in text), spans[:5]
    assert {row for _, row, text in spans if "on the way" in text} == {"server 0", "server 1"}, spans[:5]
    assert {name for name, row, _ in spans if row.startswith("server")} >= {"server 0", "server 1"}, spans[:5]


def check_learning(folder: Path, traces: list[dict]) -> None:
    with h5py.File(folder / "sweep" / "002-allreduce" / "run.h5") as file:
        wanted = file["evaluation"]["accuracy"].tolist()
    accuracy = [trace["y"] for trace in traces if trace["name"] == "allreduce 4"][-1]
    assert accuracy == wanted and len(wanted) == 3, (accuracy, wanted)


def check_comparison(folder: Path) -> None:
    """The verdict is the program's own, word for word; asp has a figure of staleness."""
    must(3, "compare", *SAMPLE, "--steps", "60", "--evaluate", "never", "--rounds", "6", "--confirm-rounds", "0", "--trial",
         "mode=ps servers=1", "--trial", "mode=ps servers=1 consistency=asp", "--results", str(folder), "--name", "compare")
    kept = json.loads((folder / "compare" / "comparison.json").read_text())
    shown = report(folder / "r.html", folder / "compare")
    assert shown.code == 0 and not shown.err, shown
    assert kept["verdict"] in shown.text(), (kept["verdict"], shown.text()[:1500])
    ratio = kept["ratios"][0]
    assert f"{ratio['a']} / {ratio['b']}" in shown.text() and f"{ratio['median']:.3f}" in shown.text()
    assert {trace["name"] for trace in shown.figure("staleness")} == {"B: ps 1+2 consistency=asp"}
    bars = shown.figure("throughput")[0]
    assert bars["error_x"]["array"] and max(bars["error_x"]["array"]) > 0, "six rounds have an interval"
    (folder / "compare" / "comparison.json").unlink()
    assert "No verdict: comparison.json is not in this run" in report(folder / "r.html", folder / "compare").text()


def main() -> None:
    with Workplace() as folder:
        make_sweep(folder)
        check_sweep(folder)
        check_comparison(folder)
    print("ok")


main()
