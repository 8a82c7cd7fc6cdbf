"""Nothing that attest stores is ever brought back as code or objects: no pickle, no eval, in none of its packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("agent", "api", "ingest", "prompts", "retrieval")
MODULES = frozenset({
    "cPickle", "cloudpickle", "copyreg", "dill", "jsonpickle", "joblib", "klepto", "marshal", "pickle",
    "pickletools", "shelve", "sqlitedict",
})  # fmt: skip
CALLS = frozenset({"eval", "exec", "compile", "__import__"})
SAFE_LOADERS = frozenset({"SafeLoader", "CSafeLoader"})
NOT_STORED = {"retrieval/stores/embedded/frames.py": ["import marshal"]}
"""Plain values over a pipe between a process and the child it started itself: never a file, never another sender."""


def offences(source: str) -> list[str]:
    """Name what in a module may bring objects back from data, in order."""
    return list(_offences(ast.parse(source)))


def _offences(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (f"import {a.name}" for a in node.names if a.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            yield f"import {node.module}"
        elif isinstance(node, ast.Constant) and node.value in MODULES:
            yield f"the name {node.value!r}"  # importlib.import_module("pickle")
        elif isinstance(node, ast.Call):
            yield from _call(node)


def _call(node: ast.Call) -> Iterator[str]:
    name = ast.unparse(node.func)
    last = name.rpartition(".")[2]
    keywords = {k.arg: ast.unparse(k.value) for k in node.keywords}
    if name in CALLS or name.removeprefix("builtins.") in CALLS:
        yield f"{name}()"
    if last == "load" and name.startswith("torch.") and keywords.get("weights_only") != "True":
        yield f"{name}() without weights_only=True"
    if "allow_pickle" in keywords and keywords["allow_pickle"] != "False":
        yield f"{name}(allow_pickle=…)"
    if last in {"unsafe_load", "full_load", "unsafe_load_all", "full_load_all", "read_pickle", "to_pickle", "FastText"}:
        yield f"{name}()"
    if name in {"yaml.load", "yaml.load_all"}:
        loader = keywords.get("Loader") or (ast.unparse(node.args[1]) if len(node.args) > 1 else "")
        if loader.rpartition(".")[2] not in SAFE_LOADERS:
            yield f"{name}() without a safe loader"


def test_no_module_brings_objects_back_from_data() -> None:
    modules = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(modules) > 200
    found = {str(path.relative_to(ROOT)): offences(path.read_text(encoding="utf-8")) for path in modules}
    assert {path: each for path, each in found.items() if each} == NOT_STORED


def test_no_table_has_a_column_of_pickles() -> None:
    from sqlalchemy import PickleType

    import agent.tables
    import ingest.tables

    for metadata in (agent.tables.metadata, ingest.tables.metadata):
        columns = [column for table in metadata.sorted_tables for column in table.columns]
        assert columns
        assert [str(column) for column in columns if isinstance(column.type, PickleType)] == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import marshal as m",
        "import joblib.numpy_pickle",
        "from shelve import open",
        "importlib.import_module('pickle')",
        "eval(text)",
        "builtins.exec(text)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.unsafe_load(text)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path, allow_pickle=True)",
        "pd.read_pickle(path)",
    ],
)
def test_search_for_deserialisation_finds_it(source: str) -> None:
    assert len(offences(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "json.loads(text)",
        "yaml.load(text, Loader=yaml.SafeLoader)",
        "yaml.safe_load(text)",
        "torch.load(path, weights_only=True)",
        "np.load(path, allow_pickle=False)",
        "re.compile(pattern)",
        "self.compile(x)",
    ],
)
def test_search_for_deserialisation_leaves_safe_ways_alone(source: str) -> None:
    assert offences(source) == []
