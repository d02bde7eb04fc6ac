"""Values that are no finite numbers: the trial is marked, step and tensor are said, the exit code is 3; a comparison goes on without it."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402

SMALL = ("--data", "synthetic", "--model", "mlp:50-20-10", "--optimizer", "sgd")
WILD = "lr=100000"


def check_train(folder: Path) -> None:
    for mode in ("ps", "allreduce"):
        result = run(2, "train", "--mode", mode, *SMALL, "--steps", "80", "--lr", "100000", "--results", str(folder), "--name", mode, "--json",
                     str(folder / f"{mode}.json"))
        assert result.code == 3, result
        said = json.loads((folder / f"{mode}.json").read_text())
        assert said["status"] == "diverged" and 0 < said["diverged"]["step"] < 80, said
        name = said["diverged"]["tensor"]
        quoted = name if name == "the loss" else f"'{name}'"
        assert f"DIVERGED   step {said['diverged']['step']}: {quoted} is not finite" in result.out, result.out
        assert (folder / mode / "done").exists()
        shown = run_json(1, "inspect", str(folder / mode), launcher=False)["trials"][0]
        assert shown["diverged"] == said["diverged"] and shown["status"] == "diverged", shown
        if mode == "allreduce":
            assert said["steps"] <= said["diverged"]["step"] + 2, "it stops"
    healthy = run_json(2, "train", "--mode", "allreduce", *SMALL, "--steps", "20", "--results", str(folder), "--name", "healthy")
    assert healthy["diverged"] is None and healthy["steps"] == 20, healthy


def compare(folder: Path, name: str, *trials: str) -> tuple[dict, str]:
    options = [word for trial in trials for word in ("--trial", trial)]
    result = run(2, "compare", *SMALL, "--steps", "60", "--rounds", "6", "--confirm-rounds", "0", "--results", str(folder), "--name", name, "--json",
                 str(folder / f"{name}.json"), *options)
    assert result.code == 3, result
    return json.loads((folder / f"{name}.json").read_text()), result.out


def rounds(said: dict) -> dict[str, int]:
    """Trials by the contestant's letter."""
    letters = [trial["label"][0] for trial in said["trials"]]
    return {letter: letters.count(letter) for letter in sorted(set(letters))}


def check_compare(folder: Path) -> None:
    said, text = compare(folder, "one", "mode=allreduce", f"mode=allreduce {WILD}", "mode=ps servers=1")
    assert rounds(said) == {"A": 6, "B": 1, "C": 6}, said["trials"]
    assert [(r["a"][0], r["b"][0]) for r in said["ratios"]] == [("C", "A")], said["ratios"]
    assert "B: allreduce 2 diverged in round 0, step" in said["verdict"] and "is not finite" in said["verdict"], said["verdict"]
    assert "No verdict" not in said["verdict"], said["verdict"]
    assert [one["diverged"] for one in said["contestants"]] == [False, True, False]
    labels = {trial["label"][0]: trial["mode"] for trial in said["trials"]}
    assert labels == {"A": "allreduce", "B": "allreduce", "C": "ps"}, "the plan's other trials keep their rows"
    assert "diverged" in text
    shown = run_json(1, "inspect", str(folder / "one"), launcher=False)["trials"]
    by_status = [one["status"] for one in shown]
    assert by_status.count("diverged") == 1 and by_status.count("planned") == 5 and by_status.count("done") == 12, by_status
    for one in shown:
        assert (one["mode"] == "ps") == (one["servers"] == 1) and (one["status"] == "planned") == (one["images_per_s"] == 0), one
    assert all(one["label"].startswith("B") for one in shown if one["status"] != "done"), shown

    said, _ = compare(folder, "first", f"mode=allreduce {WILD}", "mode=allreduce", "mode=ps servers=1")
    assert [(r["a"][0], r["b"][0]) for r in said["ratios"]] == [("C", "B")], "who was measured against is replaced"
    said, _ = compare(folder, "nobody", f"mode=allreduce {WILD}", "mode=ps servers=1")
    assert "no two contestants are left" in said["verdict"] and said["winner"] is None, said["verdict"]
    said, _ = compare(folder, "all", f"mode=allreduce {WILD}", f"mode=ps servers=1 {WILD}")
    assert rounds(said) == {"A": 1, "B": 1} and said["winner"] is None, said["trials"]


def main() -> None:
    with Workplace() as folder:
        check_train(folder)
        check_compare(folder)
    print("ok")


main()
