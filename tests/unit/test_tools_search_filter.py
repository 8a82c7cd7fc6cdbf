"""What the search tool may be narrowed by: read like at the doors, AND-ed with the run's filter, never wider."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from agent.errors import ToolArgumentsError
from agent.fakes import FakeLibrary, FakeSearcher
from agent.tools.base import ToolContext
from agent.tools.builtin.search_knowledge import SearchKnowledge
from api.commands.filtering import filter_body
from retrieval.filters import read_filter
from retrieval.labels import LabelBook
from retrieval.symbols.language import load_language
from retrieval.types import Principal, SearchFilter

READ = partial(read_filter, language=load_language(b"a key of thirty-two bytes or more"))


async def asked(arguments: dict[str, Any], run: SearchFilter | None = None) -> SearchFilter:
    """Return the filter that a call searches with, within a run's."""
    searcher = FakeSearcher()
    context = ToolContext(
        principal=Principal(tenant="acme", user="ann", rights=frozenset({"search"})),
        language="en",
        book=LabelBook(),
        searcher=searcher,
        library=FakeLibrary(),
        filter=run or SearchFilter(),
        max_chars=1000,
    )
    await SearchKnowledge(READ).run({"query": "revenue", **arguments}, context)
    [filter] = searcher.filters
    return filter


async def test_search_tool_reads_period_and_symbols() -> None:
    narrowed = await asked({"period": "Q3 2024", "symbols": ["2.38 亿元", "13800138000"]})
    assert narrowed.period == "2024Q3"
    assert "[CNY_238000000]" in narrowed.symbols
    assert "13800138000" not in narrowed.model_dump_json()


async def test_search_tool_narrows_the_run_and_never_widens_it() -> None:
    run = SearchFilter(labels=frozenset({"hr"}), period="2024", document_ids=frozenset({"a", "b"}))
    narrowed = await asked({"period": "2024Q3", "document_ids": ["b", "c"]}, run)
    assert narrowed == run.model_copy(update={"period": "2024Q3", "document_ids": frozenset({"b"})})
    assert (await asked({"period": "2023Q3"}, run)).document_ids == frozenset()
    assert await asked({"document_ids": [], "period": "", "symbols": []}, run) == run


@pytest.mark.parametrize(("arguments", "field"), [({"period": "soon"}, "period"), ({"symbols": ["profit"]}, "symbols")])
async def test_search_tool_tells_the_model_which_argument_is_wrong(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(ToolArgumentsError, match=rf"^{field}: "):
        await asked(arguments)


def test_search_tool_takes_no_other_arguments() -> None:
    schema = SearchKnowledge(READ).spec.arguments
    assert schema["additionalProperties"] is False
    read = {"period", "symbols"}
    assert read <= set(schema["properties"])
    assert read.isdisjoint(SearchKnowledge().spec.arguments["properties"])


def test_options_of_the_command_line_are_the_fields_of_the_filter() -> None:
    body = filter_body(["hr"], ["d1"], "zh", "official", "2024-01-01", "Q3 2024", ["5.2%"])
    assert set(body) == set(SearchFilter.model_fields)
    assert SearchFilter.model_validate_json(SearchFilter.model_validate(body).model_dump_json())
    assert filter_body(None, None, None, None, None, None, []) == {}
