"""Replay takes its model from a file of any known format, on several ranks, and refuses what it cannot train."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.steelyard import Workplace, run, run_json  # noqa: E402

FILES = Path(__file__).resolve().parents[1] / "data" / "inventories"
# Elements of the convolution, the normalisation and two dense layers; and of the parts of the sharded file.
KERAS = (36 + 4) + 4 * 4 + (64 * 3 + 3) + (3 * 3 + 3)
TRAINED = {"keras3.keras": KERAS, "keras2_model.h5": KERAS, "sharded/model.safetensors.index.json": 6 + 3 + 10}
REFUSED = {"mixed.safetensors": "dtype 'int64' of 'steps': only float32 is trained",
           "tiny.onnx": "dtype 'float16' of 'half': only float32 is trained",
           "README.md": "is not known by its ending"}
STEPS = 3


def main() -> None:
    with Workplace() as folder:
        asked = ("train", "--mode", "ps", "--servers", "1", "--steps", str(STEPS), "--results", str(folder), "--model")
        for name, elements in TRAINED.items():
            load = run_json(2, *asked, f"replay:{FILES / name}")["server_load"][0]
            # One worker sends every element as four bytes in each step, and with each message a short header.
            pushed = STEPS * 4 * elements
            assert pushed <= load["bytes_in"] <= pushed + 64 * load["messages"], (name, elements, load)
        for name, why in REFUSED.items():
            result = run(2, *asked, f"replay:{FILES / name}")
            assert result.code == 2 and len(result.own_lines()) == 1 and why in result.own_lines()[0], result
    print("ok")


main()
