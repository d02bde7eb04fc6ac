"""Writes the safetensors and ONNX test files into the folder that is given.

usage: write_others.py FOLDER     (safetensors 0.8.0, onnx 1.23.2, numpy)

No installed library writes model.safetensors.index.json without PyTorch: that file is written here by its published form,
{"metadata": {"total_size": bytes}, "weight_map": {tensor: file}}; the parts are the library's.
"""
import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

folder = Path(sys.argv[1])


def zeros(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.zeros(shape, dtype)


def write_safetensors() -> None:
    tensors = {"embed": zeros(7, 4), "w": zeros(4, 3, dtype="float16"), "scale": zeros(), "steps": zeros(2, dtype="int64"), "none": zeros(0, 3)}
    save_file(tensors, folder / "mixed.safetensors", metadata={"format": "np"})
    parts = {"model-00001-of-00002.safetensors": {"b.weight": zeros(3, 2), "b.bias": zeros(3)}, "model-00002-of-00002.safetensors": {"a.weight": zeros(2, 5)}}
    (folder / "sharded").mkdir(exist_ok=True)
    for name, part in parts.items():
        save_file(part, folder / "sharded" / name)
    index = {"metadata": {"total_size": 76}, "weight_map": {tensor: name for name, part in parts.items() for tensor in part}}
    (folder / "sharded" / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def model(external: bool) -> onnx.ModelProto:
    initializers = [numpy_helper.from_array(zeros(5, 3), "fc.weight"), helper.make_tensor("fc.bias", TensorProto.FLOAT, (5,), [0.0] * 5),
                    numpy_helper.from_array(np.array([-1, 3], "int64"), "shape"), helper.make_tensor("half", TensorProto.FLOAT16, (2, 2), [0.0] * 4),
                    helper.make_tensor("slope", TensorProto.DOUBLE, (), [0.1])]
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["flat"]), helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["y"], transB=1)]
    graph = helper.make_graph(nodes, "tiny", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("n", 3))],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n", 5))], initializers)
    made = helper.make_model(graph)
    onnx.checker.check_model(made)
    if external:
        onnx.external_data_helper.convert_model_to_external_data(made, location="external.data", size_threshold=0)
    return made


write_safetensors()
onnx.save(model(False), folder / "tiny.onnx")
onnx.save(model(True), folder / "external.onnx")
