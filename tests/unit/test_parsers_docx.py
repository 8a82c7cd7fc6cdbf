"""DOCX: styles, computed numbers, merged cells, text boxes, notes; bombs refused."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from ingest.errors import CorruptDocumentError, DocumentTooLargeError, NoTextError
from ingest.parsers.office.docx import parse_docx
from ingest.parsers.office.docx_numbering import Numbering, chinese_numeral
from ingest.settings import ParserSettings
from ingest.types import ParsedDocument

LIMITS = ParserSettings()


def parsed(folder: Path, document) -> ParsedDocument:
    path = folder / "file"
    document.save(str(path))
    return parse_docx(path, "a.docx", LIMITS)


def outline(document: ParsedDocument) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, block.text) for block in document.blocks]


def test_docx_reads_headings_by_style_and_has_no_pages(tmp_path: Path) -> None:
    source = docx.Document()
    source.add_heading("Policy", 0)
    source.add_heading("Scope", 1)
    source.add_paragraph("All employees.")
    source.add_heading("Terms", 2)
    source.add_paragraph("Figure 1", style="Caption")
    document = parsed(tmp_path, source)
    assert outline(document) == [
        ("heading", 1, "Policy"),
        ("heading", 1, "Scope"),
        ("paragraph", 0, "All employees."),
        ("heading", 2, "Terms"),
        ("caption", 0, "Figure 1"),
    ]
    assert document.title == "Policy"
    assert document.page_count is None
    assert all(block.page_number is None for block in document.blocks)


def test_docx_reads_chinese_style_names_and_outline_levels(tmp_path: Path) -> None:
    source = docx.Document()
    source.styles.add_style("标题 2", WD_STYLE_TYPE.PARAGRAPH)
    source.add_paragraph("适用范围", style="标题 2")
    direct = source.add_paragraph("附则")
    direct._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="2"/>'))
    source.add_paragraph("正文。")
    assert outline(parsed(tmp_path, source)) == [
        ("heading", 2, "适用范围"),
        ("heading", 3, "附则"),
        ("paragraph", 0, "正文。"),
    ]


def test_docx_without_heading_styles_reads_numbers_and_bold_lines(tmp_path: Path) -> None:
    source = docx.Document()
    source.add_paragraph().add_run("报销制度").bold = True
    source.add_paragraph("第一章 总则")
    source.add_paragraph("为规范管理，制定本制度。")
    source.add_paragraph("一、适用范围")
    assert outline(parsed(tmp_path, source)) == [
        ("heading", 1, "报销制度"),
        ("heading", 2, "第一章 总则"),
        ("paragraph", 0, "为规范管理，制定本制度。"),
        ("heading", 3, "一、适用范围"),
    ]


def test_docx_lists_are_one_block_with_markers(tmp_path: Path) -> None:
    source = docx.Document()
    for text in ("one", "two"):
        source.add_paragraph(text, style="List Bullet")
    source.add_paragraph("between")
    for text in ("first", "second"):
        source.add_paragraph(text, style="List Number")
    assert outline(parsed(tmp_path, source)) == [
        ("list", 0, "- one\n- two"),
        ("paragraph", 0, "between"),
        ("list", 0, "1. first\n2. second"),
    ]


def numbering(*levels: tuple[str, str]) -> Numbering:
    body = "".join(
        f'<w:lvl w:ilvl="{index}"><w:start w:val="1"/><w:numFmt w:val="{format}"/>'
        f'<w:lvlText w:val="{pattern}"/></w:lvl>'
        for index, (format, pattern) in enumerate(levels)
    )
    return Numbering.of(
        parse_xml(
            f'<w:numbering {nsdecls("w")}><w:abstractNum w:abstractNumId="7">{body}</w:abstractNum>'
            '<w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num></w:numbering>'
        )
    )


def test_docx_numbers_are_computed_as_word_shows_them() -> None:
    count = numbering(("chineseCountingThousand", "第%1条"), ("decimal", "%1.%2"), ("lowerRoman", "(%3)"))
    said = [count.next("3", level) for level in (0, 1, 1, 2, 0, 1)]
    assert said == ["第一条", "一.1", "一.2", "(i)", "第二条", "二.1"]


@pytest.mark.parametrize(
    ("number", "text"), [(1, "一"), (10, "十"), (12, "十二"), (20, "二十"), (105, "一百零五"), (110, "一百一十")]
)
def test_docx_chinese_numerals(number: int, text: str) -> None:
    assert chinese_numeral(number) == text


def test_docx_merged_cells_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    source = docx.Document()
    table = source.add_table(4, 3)
    for row_index, row in enumerate([
        ["Region", "2024", ""],
        ["Asia", "Q3", "1"],
        ["", "Q4", "2"],
        ["a note over all", "", ""],
    ]):
        for column, text in enumerate(row):
            table.cell(row_index, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(3, 0).merge(table.cell(3, 2))
    (block,) = parsed(tmp_path, source).blocks
    assert block.rows == (
        ("Region", "2024", "2024"),
        ("Asia", "Q3", "1"),
        ("Asia", "Q4", "2"),
        ("a note over all", "", ""),
    )
    assert block.header_rows == 1


def test_docx_nested_table_and_content_control_are_read_once(tmp_path: Path) -> None:
    source = docx.Document()
    table = source.add_table(1, 2)
    table.cell(0, 0).text = "left"
    inner = table.cell(0, 1).add_table(1, 1)
    inner.cell(0, 0).text = "inner"
    control = parse_xml(
        f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:r><w:t>controlled</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    source.element.body.insert(0, control)
    text = "\n".join(block.text for block in parsed(tmp_path, source).blocks)
    assert [text.count(word) for word in ("left", "inner", "controlled")] == [1, 1, 1]


TEXT_BOX = (
    '<w:r xmlns:w="{w}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
    '<mc:AlternateContent><mc:Choice Requires="wps">'
    "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></mc:Choice>"
    "<mc:Fallback><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></mc:Fallback>"
    "</mc:AlternateContent></w:r>"
)


def test_docx_text_box_is_read_once_after_its_paragraph(tmp_path: Path) -> None:
    source = docx.Document()
    source.add_paragraph("anchor")._p.append(parse_xml(TEXT_BOX.format(w=docx.oxml.ns.nsmap["w"])))
    assert [block.text for block in parsed(tmp_path, source).blocks] == ["anchor", "boxed"]


def test_docx_shows_the_text_with_changes_accepted(tmp_path: Path) -> None:
    source = docx.Document()
    paragraph = source.add_paragraph("kept ")
    for change, text in (("ins", "<w:t>added</w:t>"), ("del", "<w:delText>removed</w:delText>")):
        paragraph._p.append(
            parse_xml(f'<w:{change} {nsdecls("w")} w:id="1" w:author="x"><w:r>{text}</w:r></w:{change}>')
        )
    assert [block.text for block in parsed(tmp_path, source).blocks] == ["kept added"]


def test_docx_page_headers_stand_once_and_page_numbers_not_at_all(tmp_path: Path) -> None:
    source = docx.Document()
    source.sections[0].header.paragraphs[0].text = "Confidential"
    source.sections[0].first_page_header.paragraphs[0].text = "not shown: the section has no first page"
    footer = source.sections[0].footer.paragraphs[0]
    footer.add_run("Page ")
    footer._p.append(parse_xml(f'<w:fldSimple {nsdecls("w")} w:instr=" PAGE "><w:r><w:t>7</w:t></w:r></w:fldSimple>'))
    source.add_paragraph("body")
    again = source.add_section()
    again.header.is_linked_to_previous = False
    again.header.paragraphs[0].text = "Confidential "
    document = parsed(tmp_path, source)
    assert [block.text for block in document.blocks] == ["Page header: Confidential", "body"]
    assert document.title == ""
    assert any("page numbers alone were left out" in note for note in document.notes)


def test_docx_of_letterhead_alone_has_no_text(tmp_path: Path) -> None:
    source = docx.Document()
    source.sections[0].header.paragraphs[0].text = "Acme Ltd"
    with pytest.raises(NoTextError):
        parsed(tmp_path, source)


def add_part(source, name: str, relation: str, xml: str) -> str:
    uri = docx.opc.packuri.PackURI(name)
    part = docx.opc.part.Part(uri, "application/xml", xml.encode(), source.part.package)
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    return source.part.relate_to(part, f"{kind}/{relation}")


def test_docx_comments_follow_what_they_refer_to(tmp_path: Path) -> None:
    source = docx.Document()
    first = source.add_paragraph("The fee is 5 %.")
    source.add_paragraph("It is due in May.")
    source.add_comment(first.runs, text="Was 4 % before.", author="Li Wei")
    orphan = source.add_comment(first.runs, text="I agree.", author="Zhou")
    for mark in list(first._p.iter(docx.oxml.ns.qn("w:commentReference"))):
        if mark.get(docx.oxml.ns.qn("w:id")) == str(orphan.comment_id):
            mark.getparent().remove(mark)
    texts = [block.text for block in parsed(tmp_path, source).blocks]
    assert [text.partition(" (")[0] for text in texts] == [
        "The fee is 5 %.",
        "Comment by Li Wei",
        "It is due in May.",
        "Comment by Zhou",
    ]
    assert texts[1].endswith(": Was 4 % before.")


def test_docx_footnotes_of_table_cells_follow_the_table(tmp_path: Path) -> None:
    source = docx.Document()
    table = source.add_table(2, 2)
    for index, text in enumerate(("Item", "Value", "Rent", "12")):
        table.cell(index // 2, index % 2).text = text
    table.cell(1, 1).paragraphs[0].runs[0]._r.append(parse_xml(f'<w:footnoteReference {nsdecls("w")} w:id="1"/>'))
    note = '<w:footnote w:id="1"><w:p><w:r><w:t>unaudited</w:t></w:r></w:p></w:footnote>'
    add_part(source, "/word/footnotes.xml", "footnotes", f"<w:footnotes {nsdecls('w')}>{note}</w:footnotes>")
    assert [block.text for block in parsed(tmp_path, source).blocks] == [
        "Item | Value\nRent | 12",
        "Footnote 1: unaudited",
    ]


def test_docx_charts_and_picture_descriptions_are_read(tmp_path: Path) -> None:
    source = docx.Document()
    c = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    points = "<c:pt idx='0'><c:v>{}</c:v></c:pt>".format
    series = (
        f"<c:ser><c:tx><c:strRef><c:strCache>{points('2024')}</c:strCache></c:strRef></c:tx>"
        f"<c:cat><c:strRef><c:strCache>{points('Q1')}</c:strCache></c:strRef></c:cat>"
        f"<c:val><c:numRef><c:numCache>{points('4.5')}</c:numCache></c:numRef></c:val></c:ser>"
    )
    plot = f"<c:plotArea><c:lineChart>{series}</c:lineChart></c:plotArea>"
    xml = f"<c:chartSpace xmlns:c='{c}'><c:chart>{plot}</c:chart></c:chartSpace>"
    relation = add_part(source, "/word/charts/chart1.xml", "chart", xml)
    drawing = (
        f'<w:drawing {nsdecls("w", "wp", "a", "r")}><wp:inline><wp:docPr id="1" descr="Sales by quarter"/>'
        f'<a:graphic><a:graphicData uri="{c}"><c:chart xmlns:c="{c}" r:id="{relation}"/></a:graphicData></a:graphic>'
        "</wp:inline></w:drawing>"
    )
    source.add_paragraph("See below.").add_run()._r.append(parse_xml(drawing))
    document = parsed(tmp_path, source)
    assert [block.text for block in document.blocks] == [
        "See below.",
        "Sales by quarter",
        "Line chart",
        " | 2024\nQ1 | 4.5",
    ]
    assert document.blocks[-1].rows == (("", "2024"), ("Q1", "4.5"))


def test_docx_checkboxes_and_formulas_are_text(tmp_path: Path) -> None:
    source = docx.Document()
    w14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
    for checked, glyph in (("1", "☒"), ("0", "☐")):
        paragraph = source.add_paragraph()
        state = f'<w14:checkbox><w14:checked w14:val="{checked}"/></w14:checkbox>'
        box = (
            f"<w:sdt {nsdecls('w')} {w14}><w:sdtPr>{state}</w:sdtPr>"
            f"<w:sdtContent><w:r><w:t>{glyph}</w:t></w:r></w:sdtContent></w:sdt>"
        )
        paragraph._p.append(parse_xml(box))
        paragraph.add_run(" Design")
    m = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    run = "<m:r><m:t>{}</m:t></m:r>".format
    formula = f"<m:oMath {m}>{run('E=m')}<m:sSup><m:e>{run('c')}</m:e><m:sup>{run('2')}</m:sup></m:sSup></m:oMath>"
    source.add_paragraph("Energy: ")._p.append(parse_xml(formula))
    texts = [block.text for block in parsed(tmp_path, source).blocks]
    assert texts == ["[x] Design", "[ ] Design", "Energy: E=mc^2"]


def test_docx_numbering_restarts_once_and_writes_legal_levels_in_arabic() -> None:
    levels = (
        '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1章"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:isLgl/><w:lvlText w:val="%1.%2"/></w:lvl>'
    )
    override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    root = parse_xml(
        f'<w:numbering {nsdecls("w")}><w:abstractNum w:abstractNumId="5">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num>'
        f'<w:num w:numId="2"><w:abstractNumId w:val="5"/>{override}</w:num></w:numbering>'
    )
    numbering = Numbering.of(root)
    told = [("1", 0), ("1", 0), ("1", 1), ("2", 0), ("2", 0), ("1", 0)]
    assert [numbering.next(*one) for one in told] == ["第一章", "第二章", "2.1", "第一章", "第二章", "第三章"]


def test_docx_takes_no_title_that_the_program_wrote(tmp_path: Path) -> None:
    source = docx.Document()
    source.core_properties.title = "Word Document"
    source.add_heading("Scope", 1)
    assert parsed(tmp_path, source).title == "Scope"


def test_docx_tables_of_reports_come_back_cell_by_cell(tmp_path: Path, eval_data: Path) -> None:
    with (eval_data / "tatqa" / "dev_contexts.jsonl").open(encoding="utf-8") as file:
        tables = [json.loads(line)["table"] for _, line in zip(range(12), file, strict=False)]
    source = docx.Document()
    for rows in tables:
        table = source.add_table(len(rows), len(rows[0]))
        for row, line in zip(table.rows, rows, strict=True):
            for cell, text in zip(row.cells, line, strict=True):
                cell.text = text
        source.add_paragraph("")
    read = [block.rows for block in parsed(tmp_path, source).blocks]
    assert [_without_empty(table) for table in read] == [_without_empty(table) for table in tables]


def _without_empty(table) -> list[list[str]]:
    rows = [[" ".join(cell.split()) for cell in row] for row in table if any(cell.strip() for cell in row)]
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows)]
    return [[row[column] for column in kept] for row in rows]


def test_docx_without_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoTextError, match=r"a\.docx"):
        parsed(tmp_path, docx.Document())


def rewritten(folder: Path, part: str, content: bytes, compression: int = zipfile.ZIP_DEFLATED) -> Path:
    buffer = io.BytesIO()
    source = docx.Document()
    source.add_paragraph("text")
    source.save(buffer)
    path = folder / "file"
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(path, "w", compression) as new:
        for member in old.infolist():
            if member.filename != part:
                new.writestr(member.filename, old.read(member))
        new.writestr(part, content)
    return path


def test_docx_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = rewritten(tmp_path, "word/media/bomb.bin", b"\0" * (40 * 1024 * 1024))
    with pytest.raises(DocumentTooLargeError, match="to 41 MB, the limit is 400 times its size"):
        parse_docx(path, "a.docx", LIMITS)


def test_docx_with_too_much_xml_for_the_memory_limit_is_refused(tmp_path: Path) -> None:
    path = rewritten(
        tmp_path, "word/document.xml", b"<x>" + bytes(range(97, 122)) * 700_000 + b"</x>", zipfile.ZIP_STORED
    )
    with pytest.raises(DocumentTooLargeError, match="18 MB of XML, the limit is 16 MB"):
        parse_docx(path, "a.docx", LIMITS.model_copy(update={"memory_mb": 256}))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_docx_with_entities_is_refused(tmp_path: Path, encoding: str) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'.encode(encoding)
    with pytest.raises(CorruptDocumentError, match="entities"):
        parse_docx(rewritten(tmp_path, "word/document.xml", bomb), "a.docx", LIMITS)


def test_docx_with_a_lying_size_is_corrupt(tmp_path: Path) -> None:
    path = rewritten(tmp_path, "word/document.xml", b"<x>" + b"a" * 5000 + b"</x>")
    content = bytearray(path.read_bytes())
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = (10).to_bytes(4, "little")
    path.write_bytes(bytes(content))
    with pytest.raises(CorruptDocumentError):
        parse_docx(path, "a.docx", LIMITS)


@pytest.mark.parametrize("content", [b"<broken", b"", b"<w:document/>", b'<?xml version="1.0"?><other/>'])
def test_docx_with_broken_xml_is_corrupt(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(CorruptDocumentError):
        parse_docx(rewritten(tmp_path, "word/document.xml", content), "a.docx", LIMITS)


def test_docx_in_the_strict_form_is_read(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    source = docx.Document()
    source.add_paragraph("strict text")
    source.save(buffer)
    path = tmp_path / "file"
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.infolist():
            content = old.read(member).replace(
                b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
                b"http://purl.oclc.org/ooxml/wordprocessingml/main",
            )
            relation = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
            new.writestr(
                member.filename, content.replace(relation, b"http://purl.oclc.org/ooxml/officeDocument/relationships")
            )
    assert parse_docx(path, "a.docx", LIMITS).blocks[0].text == "strict text"


def test_docx_footnote_follows_its_paragraph(tmp_path: Path) -> None:
    source = docx.Document()
    paragraph = source.add_paragraph("claim")
    paragraph._p.append(parse_xml(f'<w:r {nsdecls("w")}><w:footnoteReference w:id="2"/></w:r>'))
    source.add_paragraph("after")
    notes = (
        f'<w:footnotes {nsdecls("w")}><w:footnote w:id="0" w:type="separator"><w:p/></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>the source</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    part = docx.opc.part.Part(
        docx.opc.packuri.PackURI("/word/footnotes.xml"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
        notes.encode(),
        source.part.package,
    )
    source.part.relate_to(part, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes")
    assert [block.text for block in parsed(tmp_path, source).blocks] == ["claim", "Footnote 1: the source", "after"]
