"""The options that narrow a search, the same for every command that has them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Labels = Annotated[list[str] | None, typer.Option("--label", help="Only documents with this label; repeatable.")]
Documents = Annotated[list[str] | None, typer.Option("--document", help="Only this document id; repeatable.")]
In = Annotated[str | None, typer.Option("--in", metavar="LANGUAGE", help="Only passages in zh, en or other.")]
Authority = Annotated[str | None, typer.Option(help="Only official, approved, draft or unknown documents.")]
AsOf = Annotated[str | None, typer.Option(metavar="DAY", help="Only what was in force that day (YYYY-MM-DD).")]
Period = Annotated[
    str | None, typer.Option(help="Only passages that state this period or one within it: 2024Q3, 2024年第三季度.")
]
Symbols = Annotated[
    list[str] | None,
    typer.Option("--symbol", help="Only passages with this value or token: '2.38 亿元', '[RISK_C1]'; repeatable."),
]


def filter_body(
    labels: list[str] | None,
    documents: list[str] | None,
    language: str | None,
    authority: str | None,
    as_of: str | None,
    period: str | None,
    symbols: list[str] | None,
) -> dict[str, Any]:
    """Return the filter as the HTTP door takes it; what was not given is left out."""
    given = {
        "labels": labels or None,
        "document_ids": documents or None,
        "language": language,
        "authority": authority,
        "as_of": as_of,
        "period": period,
        "symbols": symbols or None,
    }
    return {name: value for name, value in given.items() if value is not None}
