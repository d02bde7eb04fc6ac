"""A run leaves what docs/trace_format.md says; inspect shows the figures that train showed; run.toml repeats the run."""
import csv
import json
import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402

RANKS = 3
STEPS = 60


def check_files(directory: Path) -> None:
    names = {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}
    ranks = {f"ranks/part-0001/rank-{rank:05d}.h5" for rank in range(RANKS)}
    assert names == ranks | {"run.toml", "manifest.json", "run.h5", "summary.csv", "done"}, names
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["exit_status"] == 0 and manifest["end"] and len(manifest["hosts"]) == RANKS
    rows = list(csv.DictReader((directory / "summary.csv").open()))
    assert len(rows) == 1 and rows[0]["status"] == "done"


def check_run_file(directory: Path) -> None:
    with h5py.File(directory / "run.h5") as file:
        assert file.attrs["version"] == 1
        for name in ("events", "steps", "load", "shard_load", "staleness", "drops", "reads"):
            data = file[name]
            assert data.is_virtual or len(data) == 0, "nothing to map, nothing virtual"
            # Zeros of a missing file would show as a difference between the counts and the rank files.
            parts = []
            for rank in range(RANKS):
                with h5py.File(directory / f"ranks/part-0001/rank-{rank:05d}.h5") as part:
                    parts.append(part[name][:])
            assert list(data.attrs["rank_rows"]) == [len(part) for part in parts]
            assert np.array_equal(np.concatenate(parts), data[:])
        assert file["steps"].attrs["rank_rows"].tolist() == [0, STEPS, STEPS]
        phases = h5py.check_enum_dtype(file["events"].dtype["phase"])
        assert phases["data"] == 0 and phases["evaluate"] == 12, phases
        reasons = h5py.check_enum_dtype(file["drops"].dtype["reason"])
        assert reasons == {"stale": 0, "late": 1, "stopped": 2}, reasons
        assert file["trials"]["backup_workers"].tolist() == [0]
        assert file["inventory"]["elements"].sum() == 61706
        covered = file["placement"]["end"] - file["placement"]["begin"]
        assert covered.sum() == 61706


def check_rank_file_beside_run_file(directory: Path) -> None:
    """Each way that docs/trace_format.md names."""
    path = directory / "ranks/part-0001/rank-00001.h5"
    with h5py.File(directory / "run.h5") as run_file:
        joined = run_file["steps"]
        assert len(joined[:]) == 2 * STEPS
        with h5py.File(path) as part:  # While the joined dataset keeps it open.
            assert len(part["steps"]) == STEPS
        del joined
        with h5py.File(path, swmr=True) as part:
            assert len(part["steps"]) == STEPS
            assert (run_file["steps"][:]["end_ns"] > 0).all(), "the joined dataset reads it as it is open"


def check_rank_file(directory: Path) -> None:
    with h5py.File(directory / "ranks/part-0001/rank-00001.h5") as file:
        assert file.attrs["format"] == b"steelyard-rank" and file.attrs["role"] == b"worker"
        steps = file["steps"][:]
        assert (steps["step"] == np.arange(STEPS)).all()
        spent = sum(steps[f"{phase}_ns"] for phase in ("data", "forward", "backward", "push", "wait", "update"))
        assert (spent <= steps["end_ns"] - steps["begin_ns"]).all(), "phases are exclusive"
        for name in ("clock_offset_ns", "clock_error_ns", "clock_offset_at_end_ns", "epoch_unix_ns", "validity"):
            assert name in file.attrs, name


def main() -> None:
    with Workplace() as folder:
        asked = ("--data", "fashion-mnist-sample", "--steps", str(STEPS), "--deterministic", "--results", str(folder))
        train = run_json(RANKS, "train", "--mode", "ps", "--name", "first", *asked)
        directory = folder / "first"
        check_files(directory)
        check_run_file(directory)
        check_rank_file(directory)
        check_rank_file_beside_run_file(directory)
        shown = run_json(1, "inspect", str(directory), launcher=False)
        assert shown["complete"] and not shown["missing"]
        for key in ("images_per_s", "step_ms", "parameter_hash", "loss", "accuracy", "server_load", "pushes", "applied"):
            assert shown["trials"][0][key] == train[key], key

        again = run_json(RANKS, "train", "--config", str(directory / "run.toml"), "--name", "again")
        assert again["parameter_hash"] == train["parameter_hash"]
        untraced = run_json(RANKS, "train", "--config", str(directory / "run.toml"), "--name", "untraced", "--trace", "off")
        assert untraced["parameter_hash"] == train["parameter_hash"]
        assert not (folder / "untraced/ranks").exists()
        kept = run(1, "inspect", str(folder / "untraced"), launcher=False)
        assert kept.code == 0 and train["parameter_hash"] in kept.out, kept
        shown = run_json(1, "inspect", str(folder / "untraced"), launcher=False)["trials"][0]
        for key in ("images_per_s", "loss", "accuracy", "parameter_hash", "core_busy"):
            assert shown[key] == untraced[key], (key, shown[key], untraced[key])
        assert shown["step_ms"] is None and shown["validity"] == untraced["validity"], shown

        dry = run_json(RANKS, "train", "--mode", "ps", "--dry-run", *asked)
        assert dry["servers"] == [0] and dry["workers"] == [1, 2]
        pushes = train["server_load"][0]["bytes_in"]
        assert pushes == dry["server_bytes"][0] * 2 * STEPS, "the trace says what the plan said"
    print("ok")


main()
