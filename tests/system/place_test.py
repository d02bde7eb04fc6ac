"""`place` says which server would hold what: figures, JSON, CSV, explicit placements that training takes back, refusals."""
import csv
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import PROGRAM, Workplace, run, run_json  # noqa: E402

FILES = Path(__file__).resolve().parents[1] / "data" / "inventories"
DEFINITIONS = Path(__file__).resolve().parents[2] / "modes/ps/placement/placements.def"
ALL = DEFINITIONS.read_text().count("\nPLACEMENT(") - 1  # all but explicit
KEYS = {"name", "server_bytes", "server_shards", "shards", "server_messages", "messages", "cut_tensors", "max_over_mean",
        "cov", "gini", "percent_imbalance", "bound"}  # as DESIGN and docs/json.md have them
# Names that patterns, lines and tables must survive.
ODD_NAMES = ("plain", "with blank", " edge ", "star*", "ques?tion", "[a-z]", "back\\slash", "#comment", "fallback", "a 3", "b 0:4",
             "ünïcode", "x" * 120)


def place(*arguments: str) -> dict:
    return run_json(1, "place", *arguments, launcher=False)


def check_figures() -> None:
    hot = ("mnist-fc", "--servers", "4", "--placement", "round_robin", "--placement-offset", "1")
    found = place(*hot)
    one = found["placements"][0]
    shares = [round(100 * b / found["bytes"], 2) for b in one["server_bytes"]]
    assert shares == [0.27, 82.78, 13.55, 3.40], shares  # tensorflow#24953
    shown = run(1, "place", *hot, launcher=False)
    assert shown.code == 0 and not shown.err, shown
    for share in ("0.27", "82.78", "13.55", "3.40"):
        assert f" {share} " in shown.out, shown.out
    lenet = place("lenet", "--servers", "8")
    by_name = {p["name"]: p for p in lenet["placements"]}
    assert len(by_name) == ALL and "explicit" not in by_name and not lenet["refused"]
    assert (lenet["servers"], lenet["elements"], lenet["bytes"]) == (8, 61_706, 246_824)
    for name, uneven, shards in (("round_robin", 6.22, 10), ("range", 1.0, 17), ("tf_fixed_shards", 1.02, 76), ("p3", 5.19, 11),
                                 ("paddle", 1.62, 14), ("paa", 1.0, 17), ("byteps", 6.22, 10)):
        assert round(by_name[name]["max_over_mean"], 2) == uneven and by_name[name]["shards"] == shards, by_name[name]
    best = by_name["optimal"]
    assert best["optimum"]["proven"] and round(best["bound"], 4) == round(best["max_over_mean"], 4) == 6.2231, best
    for one in by_name.values():
        assert KEYS <= set(one), one
        assert sum(one["server_bytes"]) == lenet["bytes"] and sum(one["server_shards"]) == one["shards"], one
        assert sum(one["server_messages"]) == one["messages"] and len(one["server_messages"]) == 8, one
        assert abs(one["max_over_mean"] - 8 * max(one["server_bytes"]) / lenet["bytes"]) < 1e-12, one
        assert (one["cut_tensors"] == 0) == (one["shards"] == 10), one
    assert place("replay:lenet", "--servers", "8")["placements"] == lenet["placements"]
    assert place("lenet", "--servers", "8", "--placement", "p3,paa")["placements"] == [by_name["p3"], by_name["paa"]]


def check_messages() -> None:
    """Those of a training run whose ranks share no memory."""
    for name in ("striped", "greedy", "p3", "range"):
        sizes = ("--bundle-bytes", "5000", "--piece-bytes", "65536")
        here = place("mnist-fc", "--servers", "2", "--placement", name, *sizes)["placements"][0]
        there = run_json(3, "train", "--model", "replay:mnist-fc", "--servers", "2", "--placement", name, "--transport", "message",
                         "--dry-run", *sizes)
        assert here["server_messages"] == there["server_messages"] and here["server_bytes"] == there["server_bytes"], (here, there)


def check_weights() -> None:
    """max/mean is of bytes over weights, against what all bytes over all weights give."""
    weights = (1.0, 0.25, 2.0)
    found = place("resnet50", "--servers", "3", "--server-weight", ",".join(map(str, weights)))
    assert found["server_weights"] == list(weights)
    for one in found["placements"]:
        loads = [b / w for b, w in zip(one["server_bytes"], weights)]
        assert abs(one["max_over_mean"] - max(loads) * sum(weights) / found["bytes"]) < 1e-9, one
        assert one["name"] not in ("striped", "wrap", "range", "optimal") or one["max_over_mean"] < 1.02, one
        assert one["name"] not in ("round_robin", "tf_fixed_shards") or one["max_over_mean"] > 3, one


def check_tables(folder: Path) -> None:
    for arguments in (("gpt2", "--servers", "64", "--placement", "striped", "--explain"), ("resnet50", "--servers", "8"),
                      ("dlrm", "--servers", "4", "--placement", "wrap", "--server-weight", "1,1,1,0.5"), ("lenet", "--servers", "300",
                      "--placement", "p3"), (str(write_odd(folder)), "--servers", "3", "--placement", "wrap")):
        shown = run(1, "place", *arguments, launcher=False)
        assert shown.code == 0 and not shown.err, shown
        assert all(len(line) <= 100 for line in shown.out.splitlines()), shown.out
    assert run(1, "place", "lenet", "--servers", "8", "--placement", "p3", "--explain", launcher=False).out.count("p3 is uneven: ") == 1


def check_csv(folder: Path) -> None:
    path = folder / "rows.csv"
    found = place("googlenet", "--servers", "3", "--csv", str(path))
    rows = list(csv.DictReader(path.open()))
    assert len(rows) == ALL * 3
    for one in found["placements"]:
        mine = [r for r in rows if r["placement"] == one["name"]]
        assert [int(r["bytes"]) for r in mine] == one["server_bytes"] and [int(r["server"]) for r in mine] == [0, 1, 2]
        assert [int(r["shards"]) for r in mine] == one["server_shards"] and [int(r["messages"]) for r in mine] == one["server_messages"]
        assert abs(sum(float(r["share"]) for r in mine) - 1) < 1e-6
    plain = run(1, "place", "googlenet", "--servers", "3", "--csv", "-", launcher=False)
    assert plain.out == path.read_text() and "max/mean" in plain.err, plain


def write_odd(folder: Path) -> Path:
    path = folder / "odd.json"
    path.write_text(json.dumps([{"name": n, "shape": [7 + 3 * i, 5], "dtype": "float32"} for i, n in enumerate(ODD_NAMES)]))
    return path


def rows_of_run(folder: Path, name: str, model: str, placement: str) -> list[tuple]:
    """The shards that a training run recorded."""
    result = run(4, "train", "--mode", "ps", "--servers", "3", "--steps", "1", "--warmup", "0", "--model", model, "--placement", placement,
                 "--results", str(folder), "--name", name)
    assert result.code == 0, result
    with h5py.File(folder / name / "run.h5") as file:
        return [tuple(row) for row in file["placement"][:]]


def check_round_trip(folder: Path) -> None:
    odd = write_odd(folder)
    for model, name in ((str(odd), "wrap"), (str(odd), "hash"), ("mnist-fc", "striped"), ("mnist-fc", "paa")):
        explicit = folder / f"{name}.placement"
        written = place(model, "--servers", "3", "--placement", name, "--write", str(explicit))["placements"][0]
        again = place(model, "--servers", "3", "--placement", f"explicit:{explicit}")["placements"][0]
        assert {**again, "name": name, "optimum": None} == written, (again, written)
        assert (written["cut_tensors"] > 0) == (name != "hash"), written
        asked = rows_of_run(folder, f"{explicit.stem}-{name}-{Path(model).stem}", f"replay:{model}", name)
        taken = rows_of_run(folder, f"{explicit.stem}-again-{Path(model).stem}", f"replay:{model}", f"explicit:{explicit}")
        assert asked == taken and len(asked) == written["shards"], (asked, taken)
    # Types that are not trained; elements of one to eight bytes.
    for model in ("mixed.safetensors", "tiny.onnx"):
        explicit = folder / "typed.placement"
        written = place(str(FILES / model), "--servers", "2", "--placement", "wrap", "--write", str(explicit))["placements"][0]
        again = place(str(FILES / model), "--servers", "2", "--placement", f"explicit:{explicit}")["placements"][0]
        assert {**again, "name": "wrap"} == written and written["cut_tensors"] > 0, (again, written)


def check_explicit_in_all(folder: Path) -> None:
    rules = folder / "a,b.placement"
    rules.write_text("* 1\n")
    found = place("lenet", "--servers", "2", "--placement", f"all,explicit:{rules}")["placements"]
    assert len(found) == ALL + 1 and found[-1]["name"] == f"explicit:{rules}" and found[-1]["server_bytes"] == [0, 246_824], found[-1]


def check_memory() -> None:
    """A placement that memory refuses is a line among others, and an error alone."""
    asked = ("lenet", "--servers", "4", "--server-memory", "130000", "--optimizer", "momentum")
    found = place(*asked)
    refused = {one["name"]: one["reason"] for one in found["refused"]}
    assert "greedy" in refused and "striped" not in refused, refused
    assert {p["name"] for p in found["placements"]}.isdisjoint(refused) and len(found["placements"]) + len(refused) == ALL
    shown = run(1, "place", *asked, launcher=False)
    assert shown.code == 0 and shown.out.count("refused ") == len(refused), shown.out
    assert max(p["server_bytes"][s] for p in found["placements"] for s in range(4)) * 2 <= 130_000
    alone = run(1, "place", *asked, "--placement", "greedy", launcher=False)
    assert alone.code == 2 and not alone.out and "--server-memory allows 130000" in alone.err, alone
    assert not place("lenet", "--servers", "4", "--server-memory", "400000", "--optimizer", "momentum")["refused"]


def check_refusals(folder: Path) -> None:
    for mark, arguments in (
            ("--servers must be given", ("lenet",)), ("from 1 to 65536", ("lenet", "--servers", "0")),
            ("MODEL is required", ("--servers", "2")), ("there is no inventory 'lenett'", ("lenett", "--servers", "2")),
            ("lenet, lenet-wide:K, mlp:D0-D1-...", ("lenett", "--servers", "2")), ("mlp", ("mlp:7-", "--servers", "2")),
            ("unknown placement 'gredy'; choose one of: striped", ("lenet", "--servers", "2", "--placement", "gredy,p3")),
            ("or all", ("lenet", "--servers", "2", "--placement", "")),
            ("it goes with --placement round_robin", ("lenet", "--servers", "2", "--placement", "p3", "--placement-offset", "1")),
            (f"--write goes with one placement, and {ALL}", ("lenet", "--servers", "2", "--write", str(folder / "w"))),
            ("--explain goes with one placement, and 2", ("lenet", "--servers", "2", "--placement", "p3,paa", "--explain")),
            ("it goes with --server-memory", ("lenet", "--servers", "2", "--optimizer", "adam")),
            ("unknown optimizer", ("lenet", "--servers", "2", "--server-memory", "1000000", "--optimizer", "adams")),
            ("--server-weight gives 3 numbers for 2 servers", ("lenet", "--servers", "2", "--server-weight", "1,2,3")),
            ("would share standard output", ("lenet", "--servers", "2", "--json", "-", "--csv", "-")),
            ("say the file too", ("lenet", "--servers", "2", "--placement", "all,explicit")),
            ("there is no such file", ("lenet", "--servers", "2", "--placement", "explicit:/none")),
            ("--json '/none/x': cannot be written", ("lenet", "--servers", "2", "--json", "/none/x")),
            ("--csv '/none/x': cannot be written", ("lenet", "--servers", "2", "--csv", "/none/x")),
            ("--write '/none/x': cannot be written", ("lenet", "--servers", "2", "--placement", "p3", "--write", "/none/x")),
            ("is not known by its ending", (str(FILES / "README.md"), "--servers", "2"))):
        result = run(1, "place", *arguments, launcher=False)
        assert result.code == 2 and mark in result.err and len(result.own_lines()) == 1, (arguments, result)
        assert "--json" in arguments or "--csv" in arguments or "--write" in arguments or not result.out, (arguments, result)


def check_launcher() -> None:
    """Rank 0 alone speaks."""
    alone = run(1, "place", "lenet", "--servers", "4", launcher=False)
    together = run(3, "place", "lenet", "--servers", "4")
    assert together.code == 0 and together.out == alone.out, together
    refused = run(3, "place", "lenett", "--servers", "4")
    assert refused.code == 2 and len(refused.own_lines()) == 1, refused


def check_large(folder: Path, tensors: int = 100_000) -> None:
    """The header of a checkpoint of 79 GB: all placements in a second, in 200 MB. Time of the processor, since tests share it."""
    path = folder / "large.safetensors"
    head, at = {}, 0
    for i in range(tensors):
        shape = [4096, 128] if i % 4 else [128]
        size = 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        head[f"model.layers.{i // 400}.experts.{i % 400}.weight"] = {"dtype": "F16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(head).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)  # sparse: takes no room
    child = subprocess.Popen([PROGRAM, "place", str(path), "--servers", "8"], stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0 and f"{tensors:,} tensors" in out, out
    print(f"{tensors} tensors: {usage.ru_utime + usage.ru_stime:.2f} s of the processor, {usage.ru_maxrss / 1000:.0f} MB")
    assert usage.ru_maxrss * 1024 < 200e6, usage
    assert usage.ru_utime + usage.ru_stime < 2.0, usage  # Twice what it must take on a core of its own.


def main() -> None:
    with Workplace() as folder:
        check_figures()
        check_messages()
        check_weights()
        check_tables(folder)
        check_csv(folder)
        check_round_trip(folder)
        check_explicit_in_all(folder)
        check_memory()
        check_refusals(folder)
        check_launcher()
        check_large(folder)
    print("ok")


main()
