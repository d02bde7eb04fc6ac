"""scripts/report/report: what a broken, foreign, newer or partial file lacks is said, and the rest is shown."""
import shutil
import sys
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.report import SAMPLE, must, report, summary  # noqa: E402
from tests.support.steelyard import PROGRAM, Workplace  # noqa: E402


def cut(path: Path, share: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:int(len(data) * share)])


def spoil(folder: Path) -> dict[str, str]:
    """Copies of a good run, each with a fault of its own; name: what the message has to say."""
    good = folder / "good" / "run"
    names = ("truncated", "empty", "foreign", "future", "no-run-file", "no-rank-file", "broken-rank-file", "bad-manifest")
    for name in names:
        shutil.copytree(good, folder / "bad" / name)
    bad = folder / "bad"
    cut(bad / "truncated" / "run.h5", 0.5)
    (bad / "empty" / "run.h5").write_bytes(b"")
    (bad / "foreign" / "run.h5").unlink()
    with h5py.File(bad / "foreign" / "run.h5", "w") as file:
        file["picture"] = [1, 2, 3]
    with h5py.File(bad / "future" / "run.h5", "r+") as file:
        file.attrs["version"] = 2
    (bad / "no-run-file" / "run.h5").unlink()
    (bad / "no-rank-file" / "ranks/part-0001/rank-00003.h5").unlink()
    cut(bad / "broken-rank-file" / "ranks/part-0001/rank-00001.h5", 0.2)
    (bad / "bad-manifest" / "manifest.json").write_text("{ not JSON")
    shutil.copy(bad / "foreign" / "run.h5", bad / "stray.h5")
    return {"truncated": "run.h5 cannot be read", "empty": "run.h5 cannot be read", "foreign": "not Steelyard's",
            "future": "format version 2; this report reads version 1", "no-run-file": "no run.h5 in it",
            "no-rank-file": "the file of rank 3 is missing", "broken-rank-file": "cannot be read, figures per rank are without it",
            "bad-manifest": "manifest.json: cannot be read", "stray.h5": "outside a run directory"}


def check_bad_files(folder: Path) -> None:
    wanted = spoil(folder)
    shown = report(folder / "r.html", folder / "bad", folder / "nowhere", PROGRAM)
    assert shown.code == 0, shown
    wanted |= {"nowhere": "no such file or folder", PROGRAM: "not a run"}
    for name, words in wanted.items():
        lines = [line for line in shown.err.splitlines() if name in line and words in line]
        assert lines, (name, words, shown.err)
    assert all(line.startswith("report: ") for line in shown.err.splitlines()), shown.err
    for line in shown.err.splitlines():
        path, reason = line.removeprefix("report: ").split(": ", 1)
        assert path in shown.text() and reason in shown.text(), (line, "the foot says what was not used")
    assert "3 runs" in shown.text(), "the runs that can be shown are: " + shown.text()[:300]
    shutil.rmtree(folder / "bad" / "no-rank-file")
    only = report(folder / "r.html", folder / "bad" / "truncated", folder / "bad" / "future")
    assert only.code == 2 and not only.page and "no run that can be shown" in only.err, only


def check_unfinished(folder: Path) -> None:
    """As a kill leaves it: the plan in run.h5, rows in the rank files, no `done`. inspect recovers it."""
    run_directory = folder / "unfinished" / "killed"
    shutil.copytree(folder / "good" / "run", run_directory)
    for name in ("done", "summary.csv"):
        (run_directory / name).unlink()
    with h5py.File(run_directory / "run.h5", "r+") as file:
        del file["summary"], file["final"]
        file.create_dataset("summary", data=[], dtype=[("trial", "u2"), ("metric", "S48"), ("role", "S16"), ("value", "f8"),
                                                        ("low", "f8"), ("high", "f8"), ("unit", "S16")])
        file.create_dataset("final", data=[], dtype=[("trial", "u2")])
        trials = file["trials"][:]
        trials["status"] = b"planned"
        file["trials"][:] = trials
    shown = report(folder / "r.html", folder / "unfinished", "--program", PROGRAM)
    assert shown.code == 0 and "did not end: killed, or still running; 1 of 1 trials are recovered" in shown.err, shown
    drawn = shown.figure("throughput")[0]["x"][0]
    assert abs(drawn / float(summary(folder / "good" / "run")["images_per_s"]) - 1) < 1e-5, drawn
    lost = report(folder / "r.html", folder / "unfinished", "--program", folder / "no-program")
    assert lost.code == 2 and "cannot recover it" in lost.err, lost


def check_untraced(folder: Path) -> None:
    must(2, "train", "--mode", "allreduce", *SAMPLE, "--steps", "40", "--trace", "off", "--results", str(folder / "off"), "--name", "off")
    shown = report(folder / "r.html", folder / "off")
    assert shown.code == 0 and "no rank files" in shown.err and shown.titles()[0] == "Throughput of every contestant", shown
    assert not any(title.startswith("Timeline") for title in shown.titles()), shown.titles()


def check_refusals(folder: Path) -> None:
    """One sentence, before anything is read. The last -o counts, so the report's own is only a default here."""
    for output, more, words in (("/proc/none/r.html", (), "cannot be written"), ("/proc", (), "is a folder"),
                                (folder / "r.html", ("--figures", "/proc/none"), "cannot be written")):
        done = report(Path(output), folder / "good", *more)
        assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1, (output, more, done)


def main() -> None:
    with Workplace() as folder:
        must(4, "train", "--mode", "ps", "--servers", "2", *SAMPLE, "--steps", "60", "--results", str(folder / "good"), "--name", "run")
        check_bad_files(folder)
        check_unfinished(folder)
        check_untraced(folder)
        check_refusals(folder)
    print("ok")


main()
