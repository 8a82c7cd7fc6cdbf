"""Tools of installed packages: found by their entry points, offered and switched like others, or refused by name."""

from __future__ import annotations

import textwrap
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from agent.fakes import FakeLibrary, FakeSearcher
from agent.switches import Switches
from agent.tools.base import ToolContext
from agent.tools.entry_points import GROUP, RESERVED, OwnTool, OwnToolError, load_own_tools
from agent.tools.executor import ToolExecutor
from agent.tools.registry import ToolRegistry
from agent.tools.whitelist import offer
from retrieval.labels import LabelBook
from retrieval.types import Principal, SearchFilter

OWNER = Principal(tenant="local", user="owner")
MODULE = """
from agent.tools.base import ToolResult, ToolSpec

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Weather:
    def __init__(self, name="weather", **more):
        self.spec = ToolSpec(name=name, description="Tells the weather.", arguments=CITY, **more)

    async def run(self, arguments, context):
        text = f"{arguments['city']}: 21 °C"
        return ToolResult(text=text, label=context.reserve(self.spec.name, text))


class Slow:
    spec = ToolSpec(name="slow", description="Blocks.", arguments=CITY, runs_in="thread")

    def run(self, arguments, scope):
        return ToolResult(text=f"{scope.tenant} {arguments['city']}")


class Silent:
    spec = ToolSpec(name="silent", description="Never of use.", arguments={"type": "object"})

    async def run(self, arguments, context):
        return ToolResult()

    async def is_of_use(self, principal, filter):
        return False


class Blocks(Weather):
    def run(self, arguments, context):
        return None


def both():
    return [Weather(), Slow()]


def broken():
    raise RuntimeError("no key")


def taken():
    return Weather("finish")


def of_another():
    return Weather("mcp_files_read")


def without_schema():
    weather = Weather()
    weather.spec = ToolSpec(name="odd", description="d", arguments={"type": "objekt"})
    return weather


def of_a_list():
    weather = Weather()
    weather.spec = ToolSpec(name="odd", description="d", arguments={"type": "array"})
    return weather


number = 7
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Install a package that names what the test says; a module of its own for each, as imports are kept."""
    module = f"own_tools_{abs(hash(request.node.name))}"
    (tmp_path / f"{module}.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    metadata = tmp_path / "weather_tools-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-tools\nVersion: 1.2\n", encoding="utf-8")
    lines = "\n".join(f"{name} = {module}:{name}" for name in request.param)
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return module


def load() -> list[OwnTool]:
    return load_own_tools(entry for entry in entry_points(group=GROUP))


def context() -> ToolContext:
    return ToolContext(
        principal=OWNER,
        language="en",
        book=LabelBook(),
        searcher=FakeSearcher(),
        library=FakeLibrary(),
        filter=SearchFilter(),
        max_chars=2000,
    )


@pytest.mark.parametrize("package", [["both", "Silent"]], indirect=True)
async def test_tools_of_a_package_are_offered_and_run(package: str) -> None:
    tools = load()
    assert [tool.spec.name for tool in tools] == ["silent", "weather", "slow"]
    offered = await offer(ToolRegistry(tools), Switches(), OWNER, SearchFilter(), knowledge=False)
    assert [spec.name for spec in offered] == ["weather", "slow"]
    at = context()
    outcome = await ToolExecutor().execute(tools[1], {"city": "Bonn"}, at)
    assert outcome.observation == "Bonn: 21 °C [SOURCE: tool_weather#1]"
    assert (await ToolExecutor().execute(tools[2], {"city": "Bonn"}, at)).observation == "local Bonn"
    assert (await ToolExecutor().execute(tools[1], {}, at)).result.error_code == "tool_arguments"


@pytest.mark.parametrize("package", [["both"]], indirect=True)
@pytest.mark.parametrize(
    ("off", "left"), [("feature:external_tools", []), ("tool:slow", ["weather"]), ("tool:other", ["weather", "slow"])]
)
async def test_tools_of_a_package_can_be_switched_off(package: str, off: str, left: list[str]) -> None:
    switches = Switches(tenants={"local": frozenset({off})})
    offered = await offer(ToolRegistry(load()), switches, OWNER, SearchFilter(), knowledge=True)
    assert [spec.name for spec in offered] == left


@pytest.mark.parametrize(
    ("package", "reason"),
    [
        (["broken"], "RuntimeError: no key"),
        (["absent"], "has no attribute 'absent'"),
        (["number"], "int is no tool"),
        (["taken"], "the name 'finish' is taken"),
        (["of_another"], "the name 'mcp_files_read' is taken"),
        (["without_schema"], "the schema of odd's arguments is none: 'objekt'"),
        (["of_a_list"], "must be of type object"),
        (["Blocks"], "that needs async def run"),
        (["both", "Weather"], "another entry point has a tool named 'weather' too"),
    ],
    indirect=["package"],
)
def test_what_is_no_tool_is_refused_by_name(package: str, reason: str) -> None:
    with pytest.raises(OwnToolError) as refused:
        load()
    message = str(refused.value)
    assert reason in message
    assert f" = {package}:" in message
    assert "of weather-tools 1.2" in message


def test_names_of_built_in_tools_are_reserved() -> None:
    folder = Path(__file__).parents[2] / "agent" / "tools" / "builtin"
    text = "".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    named = {part.split('"')[0] for part in text.split('name="')[1:]}
    assert named <= RESERVED


async def test_the_documented_example_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs" / "tools.md").read_text("utf-8")
    source = text.split("```python\n")[1].split("```")[0]
    (tmp_path / "weather_tools.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tool,) = load_own_tools([EntryPoint("weather", "weather_tools:Weather", GROUP)])
    at = context()
    outcome = await ToolExecutor().execute(tool, {"city": "Bonn"}, at)
    assert outcome.observation == "Bonn: 21 °C [SOURCE: tool_weather#1]"
    assert at.untrusted
    assert (await ToolExecutor().execute(tool, {"city": "Ulm"}, at)).observation == "No station in Ulm."
