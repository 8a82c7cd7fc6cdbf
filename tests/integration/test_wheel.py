"""The wheel works outside the checkout: it brings its templates, migrations and domain files."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

CHECK = """
import sys
from importlib.metadata import packages_distributions
import api.main, agent.loop, ingest.service, prompts.render, retrieval.search
for name in ("api", "agent", "ingest", "prompts", "retrieval"):
    assert sys.modules[name].__file__.startswith(sys.prefix), sys.modules[name].__file__
    assert set(packages_distributions()[name]) == {"attest"}, name
from retrieval.symbols.language import load_language
read = load_language(bytes(32)).symbolise("C1 客户不得购买 R4 基金", tenant="t")
assert {s.kind for s in read.symbols} == {"customer_risk", "fund_risk"}, read.symbols
from api.database import open_engine
open_engine("sqlite://").dispose()
from importlib.resources import files
assert any(f.name.endswith(".j2") for f in (files("prompts") / "templates").iterdir())
print("fine")
"""


def _run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_works_outside_the_checkout(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    source = tmp_path / "source"
    _run("git", "clone", "--quiet", str(REPOSITORY), str(source), cwd=tmp_path)
    _run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(source), cwd=tmp_path)
    (wheel,) = wheels.glob("attest-*.whl")
    home = tmp_path / "env"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    _run(*pip[:3], "--python", str(python), "--quiet", "install", "--no-deps", str(wheel), cwd=tmp_path)
    # The dependencies of the environment that runs the tests serve; attest itself must come from the wheel.
    site = next((home / "lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(str(next(Path(p) for p in sys.path if p.endswith("site-packages"))))
    assert _run(str(python), "-W", "error", "-c", CHECK, cwd=tmp_path).strip().endswith("fine")
