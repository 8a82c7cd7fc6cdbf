"""Legacy Office files through LibreOffice: converted by a process of its own, without network, macros or links.

Each conversion has its own profile in its own folder, so that any number run at
once. The folder goes when the conversion is over; what a killed process left
behind goes when its parent ends it, or with the next conversion.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

from ingest.errors import CorruptDocumentError, ParserLimitError, UnsupportedDocumentError
from ingest.parsers.office import office_launcher
from ingest.settings import ParserSettings

_FILTERS = {"docx": "MS Word 2007 XML", "pptx": "Impress MS PowerPoint 2007 XML"}
_PLACES = (
    "/usr/lib/libreoffice/program/soffice.bin",
    "/usr/lib64/libreoffice/program/soffice.bin",
    "/opt/libreoffice/program/soffice.bin",
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
)
_OPTIONS = ("--headless", "--norestore", "--nolockcheck", "--nodefault", "--nofirststartwizard", "--nologo")
_MAX_SECONDS = 120.0
_SHARE_OF_TIME = 0.8
"""Share of the document's time that the conversion may take; the rest is for parsing the result."""
_ADDRESS_SLACK_MB = 2048
"""Address space that LibreOffice maps without using it: libraries, fonts, thread stacks."""
_MAX_FILE_MB = 256
_RESTART = 81
"""Exit code of a first start: the profile is made now and the command is to be run again."""
_MAX_STARTS = 3
_PREFIX = "attest-office-"
_ITEM = (
    '<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
)
_SETTINGS = (
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Common/Save/Document", "WarnAlienFormat", "false"),
    ("Office.Writer/Content/Update", "Link", "0"),
    ("Office.Calc/Content/Update", "Link", "2"),
)
"""No macros, nothing fetched that a document names: no linked pictures, no sections of other files."""


def find_office() -> Path | None:
    """Return LibreOffice's program; None where it is not installed."""
    for name in ("soffice", "libreoffice"):
        found = shutil.which(name, path=os.defpath + os.pathsep + "/usr/local/bin")
        if found is not None:
            program = Path(found).resolve()
            # The script beside it only starts this program, and a process in between would be one more to end.
            binary = program.with_name("soffice.bin")
            return binary if binary.is_file() else program
    return next((Path(place) for place in _PLACES if Path(place).is_file()), None)


@contextlib.contextmanager
def converted(path: Path, display_name: str, source: str, target: str, limits: ParserSettings) -> Generator[Path]:
    """Convert a file and give the result's path while the context lasts.

    Args:
        path: the file.
        display_name: what messages call it.
        source: the format it has, `doc`, `rtf` or `ppt`.
        target: `docx` or `pptx`.
        limits: time and memory are taken from them.

    Raises:
        UnsupportedDocumentError: LibreOffice is not installed.
        ParserLimitError: the conversion took too long.
        CorruptDocumentError: LibreOffice cannot read the file.
    """
    office = find_office()
    if office is None:
        raise UnsupportedDocumentError(
            f"{display_name}: legacy {source.upper()} files are read through LibreOffice, which is not installed here; "
            f"install LibreOffice or save the file as {target.upper()}"
        )
    remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    try:
        _write_settings(folder / "profile")
        result = folder / "out" / f"document.{target}"
        seconds = min(_MAX_SECONDS, limits.timeout_s * _SHARE_OF_TIME)
        _run(_command(office, folder, path, source, target, limits, seconds), folder, seconds, display_name)
        if not result.is_file() or not result.stat().st_size:
            raise CorruptDocumentError(
                f"{display_name}: LibreOffice cannot read this file; save it as {target.upper()}"
            )
        yield result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers() -> None:
    """Remove the folders of processes that are gone: they hold documents in the clear."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if not owner.isdigit():
            continue
        try:
            os.kill(int(owner), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (PermissionError, OverflowError):
            continue


def _command(
    office: Path, folder: Path, path: Path, source: str, target: str, limits: ParserSettings, seconds: float
) -> list[str]:
    document = str(folder / f"document.{source}")
    launcher = str(Path(office_launcher.__file__).resolve())
    numbers = [limits.memory_mb + _ADDRESS_SLACK_MB, int(seconds) + 1, _MAX_FILE_MB]
    return [
        *(sys.executable, "-I", "-S", launcher, *map(str, numbers), str(path.absolute()), document),
        *(str(office), f"-env:UserInstallation={(folder / 'profile').as_uri()}", *_OPTIONS),
        *("--convert-to", f"{target}:{_FILTERS[target]}", "--outdir", str(folder / "out"), document),
    ]


def _run(command: list[str], folder: Path, seconds: float, display_name: str) -> None:
    environment = {"PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8"}
    deadline = time.monotonic() + seconds
    for _ in range(_MAX_STARTS):
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
        try:
            code = process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as exc:
            raise ParserLimitError(f"{display_name}: LibreOffice was stopped after {seconds:g} s") from exc
        finally:
            _end_group(process)
        if code != _RESTART:
            return


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _write_settings(profile: Path) -> None:
    items = "".join(_ITEM.format(path=path, name=name, value=value) for path, name, value in _SETTINGS)
    user = profile / "user"
    user.mkdir(parents=True)
    (user / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry" '
        'xmlns:xs="http://www.w3.org/2001/XMLSchema" '
        f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{items}</oor:items>\n',
        encoding="utf-8",
    )
