"""A torch model with the weights of its linear layers in eight bits."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any


def quantised(model: Any) -> Any:
    """Return `model` with its linear layers in int8; the layers' inputs are quantised as they come in.

    Weights have one scale per output channel. An input has one scale for the whole batch, so a text's
    vector depends on its neighbours in a batch: callers run one text at a time, which costs a processor
    next to nothing once a text has some hundred tokens.
    """
    quantisation: Any = import_module("torch.ao.quantization")
    linear: Any = import_module("torch.nn").Linear
    with warnings.catch_warnings():
        # The version of torch is fixed with these functions in it; torchao, where they move, is a package more.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", UserWarning)
        return quantisation.quantize_dynamic(model, {linear: quantisation.per_channel_dynamic_qconfig}, inplace=True)
