"""The file of tuned parameters: `ATTEST_HOME/tuned.toml`, read below `attest.toml` and the environment."""

from __future__ import annotations

import tomllib
from pathlib import Path

from api.errors import SettingsError
from api.settings import TUNED, Settings


def write_tuned(home: Path, *, weak: float, strong: float) -> Path:
    """Write tuned thresholds of the trigger; the server reads them at its next start.

    Raises:
        SettingsError: the file cannot be written.
    """
    path = home / TUNED
    text = (
        "# Written by `attest tune-triggers --apply`; `attest tune-triggers --undo` takes it away again.\n"
        f"[trigger]\nweak = {weak:.4f}\nstrong = {strong:.4f}\n"
    )
    partial = path.with_suffix(".part")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as exc:
        raise SettingsError(f"{path} cannot be written ({exc.strerror})") from exc
    return path


def remove_tuned(home: Path) -> bool:
    """Take the tuned parameters away; tells whether there were any."""
    path = home / TUNED
    if not path.exists():
        return False
    path.unlink()
    return True


def thresholds(settings: Settings) -> str:
    """Tell the trigger's thresholds in force, and what of them was tuned."""
    now = settings.trigger
    said = f"weak {now.weak:g}, strong {now.strong:g}"
    tuned = _read(settings.home / TUNED)
    if tuned is None:
        return said
    if tuned == (now.weak, now.strong):
        return f"{said} ({TUNED})"
    weak, strong = tuned
    return (
        f"{said}; {TUNED} says weak {weak:g}, strong {strong:g}, which attest.toml or the environment overrides, "
        "or this server started before it"
    )


def _read(path: Path) -> tuple[float, float] | None:
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))["trigger"]
        return float(written["weak"]), float(written["strong"])
    except (OSError, ValueError, KeyError, TypeError):  # none, or a file that the next start will refuse
        return None
