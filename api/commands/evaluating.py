"""What the evaluations share: where their data lies, and minima that a figure must reach."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from api.commands.session import fail
from api.errors import EXIT_FAILED, EXIT_USAGE
from api.settings import Settings, load_settings

KEY = bytes(32)
"""Evaluation data holds no secrets of anybody; a fixed key keeps its figures repeatable."""

Minimum = Annotated[
    list[str] | None, typer.Option("--min", help="METRIC=VALUE; repeatable. Exit code 1 when a metric is below.")
]


def find(path: Path, settings: Settings) -> Path:
    """Return the path itself, or the one of that name below the evaluation data; ends the command when neither is."""
    if path.exists():
        return path
    if settings.eval.data is not None and (settings.eval.data / path).exists():
        return settings.eval.data / path
    where = f" or in {settings.eval.data}" if settings.eval.data else "; ATTEST_EVAL_DATA names no folder"
    fail(f"{path} is neither here{where}", EXIT_USAGE)


def with_settings(changed: list[str]) -> Settings:
    """Return the settings with SECTION.NAME=VALUE changed; ends the command on one that is not of that form.

    Raises:
        SettingsError: a name is unknown or a value does not fit.
    """
    sections: dict[str, dict[str, str]] = {}
    for text in changed:
        name, found, value = text.partition("=")
        section, dot, field = name.strip().partition(".")
        if not (found and dot and section and field):
            fail(f"{text}: write SECTION.NAME=VALUE, as in search.rrf_k=60", EXIT_USAGE)
        sections.setdefault(section, {})[field] = value.strip()
    return load_settings(**sections)


def read_bounds(minimum: list[str] | None) -> dict[str, float]:
    """Read METRIC=VALUE options; ends the command on one that is not of that form."""
    bounds: dict[str, float] = {}
    for text in minimum or []:
        name, _, value = text.partition("=")
        try:
            bounds[name] = float(value)
        except ValueError:
            bounds[name] = math.nan
        if not math.isfinite(bounds[name]):  # nothing is below "nan": it would pass always
            fail(f"--min {text}: write METRIC=VALUE", EXIT_USAGE)
    return bounds


def enforce(bounds: dict[str, float], metrics: dict[str, Any]) -> None:
    """End the command with exit code 1 when a metric is below its minimum."""
    for name in bounds:
        if name not in metrics:
            fail(f"--min {name}: there is no such metric; metrics are {', '.join(sorted(metrics))}", EXIT_USAGE)
    low = [f"{name} is {metrics[name]:.4f}, below {bound}" for name, bound in bounds.items() if metrics[name] < bound]
    if low:
        fail("; ".join(low), EXIT_FAILED)
