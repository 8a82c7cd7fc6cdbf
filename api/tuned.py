"""The file of tuned parameters: `ATTEST_HOME/tuned.toml`, read below `attest.toml` and the environment."""

from __future__ import annotations

from pathlib import Path

from api.errors import SettingsError
from api.settings import TUNED


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
