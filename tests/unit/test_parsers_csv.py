from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detect import detect
from ingest.errors import DocumentTooLargeError, NoTextError
from ingest.parsers.sheets.csv_dialect import Records, choose_delimiter
from ingest.parsers.sheets.delimited import parse_csv
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

CHINESE = "编号,问题,答案\n1,我们的报销政策是什么,出差的人要在一个月内提交发票\n2,年度报告在哪里,在公司的内部网站上\n"
JAPANESE = "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n髙橋淳,35,名古屋\n"


def parse(tmp_path: Path, content: bytes | str, name: str = "table.csv") -> ParsedDocument:
    path = tmp_path / "upload"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return parse_csv(path, name, ParserSettings())


def rows(parsed: ParsedDocument) -> tuple[tuple[str, ...], ...]:
    (block,) = parsed.blocks
    return block.rows


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        (CHINESE, "gbk", "gb18030"),
        (CHINESE, "gb18030", "gb18030"),
        (CHINESE, "utf-16-le", "utf-16-le"),
        (CHINESE, "utf-16", "utf-16-le"),
        (CHINESE, "utf-8-sig", "utf-8"),
        (JAPANESE, "cp932", "cp932"),
    ],
)
def test_csv_is_read_in_its_encoding(tmp_path: Path, text: str, encoding: str, expected: str) -> None:
    parsed = parse(tmp_path, text.encode(encoding))
    assert parsed.encoding == expected
    assert rows(parsed) == tuple(tuple(line.split(",")) for line in text.splitlines())
    assert parsed.blocks[0].header_rows == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    lines = [["Name", "City", "Born"], ["Ada, Countess", "London", "1815"], ["Alan; Sir", "London", "1912"]]
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter).writerows(lines)
    assert rows(parse(tmp_path, buffer.getvalue())) == tuple(map(tuple, lines))


def test_csv_decimal_commas_are_no_delimiters(tmp_path: Path) -> None:
    parsed = parse(tmp_path, "Year;Month;Revenue\n2022;1;123,5\n2023;2;143,1\n2024;3;-814,38\n")
    assert rows(parsed)[1] == ("2022", "1", "123,5")


def test_csv_line_that_names_the_delimiter_is_obeyed(tmp_path: Path) -> None:
    assert rows(parse(tmp_path, "sep=;\na;b,c\n1;2,5\n")) == (("a", "b,c"), ("1", "2,5"))


def test_csv_ragged_rows_lose_nothing(tmp_path: Path) -> None:
    parsed = parse(tmp_path, "a,b,c\n1,2\n1,2,3,4\n5,6,7\n")
    assert rows(parsed) == (("a", "b", "c", ""), ("1", "2", "", ""), ("1", "2", "3", "4"), ("5", "6", "7", ""))
    assert any("2 rows" in note for note in parsed.notes)


def test_csv_of_one_column_is_a_table(tmp_path: Path) -> None:
    parsed = parse(tmp_path, "Industry\nAccounting/Finance\nHospitality/Travel\n")
    assert rows(parsed) == (("Industry",), ("Accounting/Finance",), ("Hospitality/Travel",))
    assert parsed.blocks[0].header_rows == 1


def test_csv_cells_may_have_several_lines(tmp_path: Path) -> None:
    assert rows(parse(tmp_path, 'a,b\n1,"two\nlines, one cell"\n3,4\n'))[1] == ("1", "two lines, one cell")


def test_csv_quote_that_never_closes_swallows_nothing(tmp_path: Path) -> None:
    lines = [f"{number},ok,{number * 2}" for number in range(3000)]
    lines[5] = '5,"open,10'
    parsed = parse(tmp_path, "\n".join(["id,state,value", *lines]))
    assert len(rows(parsed)) == 3001
    assert rows(parsed)[6] == ("5", '"open', "10")
    assert rows(parsed)[7] == ("6", "ok", "12")
    assert any("never close" in note for note in parsed.notes)


def test_csv_inch_marks_stay_in_their_rows(tmp_path: Path) -> None:
    parsed = parse(tmp_path, 'size,price\n27" screen,100\n"32"" screen",200\n"24" wide,150\n')
    assert len(rows(parsed)) == 4
    assert rows(parsed)[1] == ('27" screen', "100")
    assert rows(parsed)[2] == ('32" screen', "200")


def test_csv_tables_after_a_blank_line_with_a_header_are_tables_of_their_own(tmp_path: Path) -> None:
    parsed = parse(tmp_path, "Sales 2024\n\nregion,sum\nnorth,5\n\nsouth,6\n\nitem,price\npen,2\n")
    assert [block.kind for block in parsed.blocks] == ["paragraph", "table", "table"]
    assert parsed.blocks[1].rows == (("region", "sum"), ("north", "5"), ("south", "6"))


def test_csv_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoTextError):
        parse(tmp_path, ",,\n,,\n")


def test_csv_above_the_cell_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("1,2,3,4\n" * 70_000)
    with pytest.raises(DocumentTooLargeError, match="256,000"):
        parse_csv(path, "large.csv", ParserSettings(memory_mb=256))


PROSE = (
    "Dear colleagues, as of Monday, the office is open again.\nPlease, if you can, come by bicycle, or walk there.\n"
)


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        ("id,name,sum\n1,Ada,5\n2,Alan,6\n3,Grace,7\n", "export.txt", "csv"),
        ("id\tname\n1\tAda\n2\tAlan\n3\tGrace\n", "export", "csv"),
        (PROSE, "letter.csv", "text"),
        (PROSE, "letter.txt", "text"),
        ("Industry\nSales\nOther\n", "list.csv", "csv"),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n", "notes.md", "markdown"),
        ("First, we met, and talked.\nThen, we left, all of us.\nLater, it rained, a lot.\n", "story.txt", "text"),
    ],
)
def test_delimited_text_is_told_from_prose_by_content(tmp_path: Path, content: str, name: str, expected: str) -> None:
    path = tmp_path / "upload"
    path.write_text(content)
    assert detect(path, name) == expected


cells = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\x00\r", exclude_categories=["Cs"]), max_size=12
)
grids = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8)
)


@given(grids, st.sampled_from(",;\t|"))
def test_records_read_back_what_a_csv_writer_wrote(grid: list[list[str]], delimiter: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(grid)
    assert list(Records(buffer.getvalue().rstrip("\n").split("\n"), delimiter)) == grid


@given(st.text(alphabet='ab",;\t| \n', max_size=200))
def test_records_lose_no_letter(text: str) -> None:
    lines = text.split("\n")
    delimiter = choose_delimiter(lines)[0] or "\x00"
    read = "".join(cell for record in Records(lines, delimiter) for cell in record)
    assert sum(map(read.count, "ab")) == sum(map(text.count, "ab"))
