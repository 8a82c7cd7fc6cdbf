"""What SQL of a model may be: one SELECT over known tables, with known functions.

The statement is parsed, looked at node by node and written anew from its tree, so that what runs is
what was looked at. That is the first of three walls: the connection is read-only, and its time and
rows are limited (`agent.tools.sql.reading`).
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from agent.errors import ToolArgumentsError

MAX_SQL_CHARS = 4000

# It writes statements that it cannot parse into the log, and they may hold what a question says.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

_FUNCTIONS = frozenset({
    *("AND", "OR", "XOR", "CASE", "IF", "CAST", "TRY_CAST", "COALESCE", "NULLIF", "EXISTS", "ARRAY_ANY"),
    *("COUNT", "COUNT_IF", "SUM", "AVG", "MIN", "MAX", "TOTAL", "GROUP_CONCAT", "STDDEV", "STDDEV_POP", "STDDEV_SAMP"),
    *("VARIANCE", "VARIANCE_POP", "MEDIAN", "PERCENTILE_CONT", "PERCENTILE_DISC", "QUANTILE"),
    *("ROUND", "ABS", "SIGN", "CEIL", "FLOOR", "SQRT", "POWER", "LN", "EXP", "MOD", "LEAST", "GREATEST"),
    *("UPPER", "LOWER", "TRIM", "LENGTH"),
    *("DATE", "TIME", "DATETIME", "TIMESTAMP", "JULIANDAY", "TIME_TO_STR", "TS_OR_DS_TO_TIMESTAMP", "TS_OR_DS_TO_DATE"),
    *("EXTRACT", "YEAR", "MONTH", "DAY", "QUARTER", "WEEK", "HOUR", "MINUTE", "DATE_TRUNC", "TIMESTAMP_TRUNC"),
    *("DATE_ADD", "DATE_SUB", "DATE_DIFF", "TIMESTAMP_DIFF", "STR_TO_DATE", "STR_TO_TIME", "CAST_TO_STR_TYPE"),
    *("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "TS_OR_DS_ADD", "TS_OR_DS_DIFF", "UNIX_TO_TIME"),
    *("ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "PERCENT_RANK"),
})
"""Nothing that acts, reads files, waits, or takes a text apart: pieces of a secret are no secret to the rules."""
_REFUSED: tuple[type[object], ...] = (
    *(
        exp.Insert,
        exp.Update,
        exp.Delete,
        exp.Merge,
        exp.Create,
        exp.Command,
        exp.Pragma,
        exp.Attach,
        exp.Detach,
        exp.Set,
        exp.Use,
        exp.Into,
        exp.Lock,
    ),
    *(exp.Drop, exp.Alter, exp.Transaction, exp.Commit, exp.Rollback, exp.Copy, exp.Lateral, exp.Parameter),
    *(exp.DPipe, exp.Concat, exp.Placeholder),
)
_MAIN = frozenset({"", "main", "public"})


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A statement that may run."""

    sql: str
    tables: tuple[str, ...]
    """Tables it reads, as the schema writes them, in the order of their first mention."""


def check_query(sql: str, *, dialect: str, tables: Collection[str], max_rows: int) -> CheckedQuery:
    """Check one statement and write it anew, with a limit of one row more than `max_rows`.

    Raises:
        ToolArgumentsError: it is more than a SELECT over these tables; the message is for the model.
    """
    root = _parsed(sql, dialect)
    found: dict[str, None] = {}
    named = {table.casefold(): table for table in tables}
    own = {cte.alias_or_name.casefold() for cte in root.find_all(exp.CTE)}
    for node in root.walk():
        if isinstance(node, _REFUSED):
            raise ToolArgumentsError(f"Not run: only reading is possible, and {_name(node)} is not allowed.")
        if isinstance(node, exp.Func) and _name(node) not in _FUNCTIONS:
            raise ToolArgumentsError(f"Not run: the function {_name(node)} is not allowed.")
        if isinstance(node, exp.Table):
            table = _table(node, named, own)
            if table is not None:
                found[table] = None
    if not found:
        raise ToolArgumentsError(f"Not run: it reads no table. The tables are: {', '.join(sorted(tables)[:50])}.")
    return CheckedQuery(_limited(root, max_rows + 1).sql(dialect=dialect, comments=False), tuple(found))


def _parsed(sql: str, dialect: str) -> exp.Select | exp.SetOperation:
    if len(sql) > MAX_SQL_CHARS:
        raise ToolArgumentsError(f"Not run: the statement is longer than {MAX_SQL_CHARS} characters.")
    try:
        statements = [each for each in sqlglot.parse(sql, read=dialect) if each is not None]
    except (SqlglotError, RecursionError) as exc:
        raise ToolArgumentsError("Not run: that is no SQL that could be read; write one plain SELECT.") from exc
    if len(statements) != 1:
        raise ToolArgumentsError("Not run: write exactly one statement.")
    (root,) = statements
    if not isinstance(root, exp.Select | exp.SetOperation):
        raise ToolArgumentsError("Not run: only SELECT is possible.")
    return root


def _table(node: exp.Table, named: dict[str, str], own: set[str]) -> str | None:
    if not isinstance(node.this, exp.Identifier):
        raise ToolArgumentsError("Not run: functions cannot stand in place of a table.")
    name = node.name.casefold()
    if node.catalog or node.db.casefold() not in _MAIN:
        raise ToolArgumentsError("Not run: name tables without a schema before them.")
    if name in own and not node.db:
        return None
    if name not in named:
        shown = ", ".join(sorted(named.values())[:50])
        raise ToolArgumentsError(f"Not run: there is no such table here. The tables are: {shown}.")
    return named[name]


def _limited(root: exp.Select | exp.SetOperation, most: int) -> exp.Select | exp.SetOperation:
    limit = root.args.get("limit")
    given = limit.expression if isinstance(limit, exp.Limit) else None
    if isinstance(given, exp.Literal) and given.is_int and int(given.this) <= most:
        return root
    return root.limit(most)


def _name(node: object) -> str:
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return node.name.upper()[:60]
    return node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()
