"""video_tagger in both modes: clips without being asked for, an accuracy that is a mean average precision and says so, that learns."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402

SAMPLE = Path(__file__).resolve().parents[2] / "data/fashion-mnist-sample"
# Seconds, not a proof of learning; docs/models.md has that.
SHORT = ("--model", "video_tagger", "--data-dir", str(SAMPLE), "--steps", "40", "--batch", "32", "--evaluate", "end")


def main() -> None:
    with Workplace() as folder:
        asked = (*SHORT, "--results", str(folder))
        trained = {}
        for mode in ("ps", "allreduce"):
            one = trained[mode] = run_json(2, "train", "--mode", mode, "--name", mode, *asked)
            assert one["accuracy_measure"] == "mean average precision", one
            assert "16384 training and 2048 test clips" in one["data"], one["data"]
            assert one["loss"] < 10 * 0.6931, "below that of a coin for each tag"
            assert 0.23 < one["accuracy"] <= 1, "an order without meaning gives 0.20, these steps 0.27"
            text = run(1, "inspect", str(folder / mode), launcher=False).out
            assert "test mean average precision 0." in text and "accuracy" not in text, text
            shown = run_json(1, "inspect", str(folder / mode), launcher=False)["trials"][0]
            for key in ("accuracy", "accuracy_measure", "evaluations", "parameter_hash"):
                assert shown[key] == one[key], (key, shown[key], one[key])
        # The same training up to rounding: one worker, or two that share each batch. Near ties may change places.
        assert abs(trained["ps"]["accuracy"] - trained["allreduce"]["accuracy"]) < 0.01, trained
        again = run_json(2, "train", "--config", str(folder / "ps/run.toml"), "--name", "again", "--trace", "off")
        assert again["parameter_hash"] == trained["ps"]["parameter_hash"] and again["accuracy"] == trained["ps"]["accuracy"]
        kept = run(1, "inspect", str(folder / "again"), launcher=False).out
        assert "mean average precision" in kept and "accuracy" not in kept, kept
        labelled = run_json(1, "train", "--mode", "allreduce", "--data", "fashion-mnist-sample", "--steps", "2", "--results", str(folder))
        assert labelled["accuracy_measure"] == "accuracy", labelled
    print("ok")


main()
