"""F13 as a property: real sentences in the encodings that their languages are stored in, found from few characters.

Enough are 16 characters outside ASCII for Chinese, Japanese, Korean and Russian, 24 characters with at
least one accent for French and German, and 4 characters for anything in UTF-16 or UTF-32 with zero bytes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.detect import detect
from ingest.errors import NoTextError, UnsupportedDocumentError
from ingest.parsers.registry import parse
from ingest.parsers.text.decoding import decode
from ingest.settings import ParserSettings

SENTENCES = {
    "zh-hans": [
        "公司应当建立健全内部控制制度，防范和化解经营风险。",
        "投资者在申购前请仔细阅读招募说明书及基金合同。",
        "员工出差回来后五个工作日内须提交报销单据。",
        "会议由副总经理主持，各部门负责人参加了讨论。",
        "本季度客户投诉共计三十七件，较上季度减少八件。",
        "昨天下午北京下了一场大雪，孩子们在院子里堆雪人。",
        "请把这份合同交给法务部审核，然后再送总经理签字。",
        "清朝末年，许多留学生到日本学习法律和军事。",
    ],
    "zh-hant": [
        "公司應當建立健全內部控制制度，防範和化解經營風險。",
        "投資人於申購前請詳閱公開說明書及基金契約。",
        "員工出差回來後五個工作天內須提交報銷單據。",
        "會議由副總經理主持，各部門負責人參加了討論。",
        "昨天下午台北下了一場大雨，孩子們在屋簷下躲雨。",
        "請把這份合約交給法務部審閱，然後再送總經理簽字。",
        "香港特別行政區政府今日公布新一份財政預算案。",
    ],
    "ja": [
        "当社は内部統制の整備を進め、経営上のリスクを減らします。",
        "出張から戻った社員は五営業日以内に経費を精算してください。",
        "会議では各部門の責任者が今後の計画について話し合いました。",
        "昨日の午後、京都では大雪が降り、電車が止まりました。",
        "この契約書を法務部で確認してから部長に渡してください。",
        "インターネットで予約したお客様は窓口で番号をお伝えください。",
    ],
    "ko": [
        "회사는 내부 통제 제도를 마련하여 경영 위험을 줄여야 한다.",
        "출장에서 돌아온 직원은 닷새 안에 경비를 정산해 주십시오.",
        "회의에는 각 부서의 책임자가 참석하여 앞으로의 계획을 논의했다.",
        "어제 오후 서울에는 많은 눈이 내려 길이 막혔습니다.",
        "이 계약서를 법무팀에서 검토한 뒤에 부장님께 전달하세요.",
    ],
    "ru": [
        "Компания обязана создать систему внутреннего контроля и снижать риски.",
        "После командировки сотрудник сдаёт отчёт о расходах в течение пяти дней.",
        "На совещании руководители отделов обсудили планы на следующий квартал.",
        "Вчера в Москве шёл сильный снег, и движение поездов было остановлено.",
    ],
    "fr": [
        "La société doit mettre en place un contrôle interne et réduire ses risques.",
        "Après un déplacement, l'employé remet sa note de frais à la comptabilité.",
        "Hier après-midi, la neige a bloqué les trains près de Besançon et de Genève.",
        "Le conseil s'est réuni à l'hôtel ; où était le président ? Il n'a pas été prévenu.",
    ],
    "de": [
        "Die Gesellschaft muß für ein wirksames Kontrollsystem sorgen und Risiken begrenzen.",
        "Nach der Rückkehr reichen Beschäftigte ihre Belege innerhalb von fünf Tagen ein.",
        "Über die Änderungen der Geschäftsordnung wird später im größeren Kreis gesprochen.",
    ],
    "en": [
        "The company keeps a register of conflicts of interest and reviews it every year.",
        "Expenses are to be filed within five working days after the journey.",
    ],
}
CODECS = {
    "zh-hans": ["gbk", "gb18030", "utf-16-le", "utf-16-be", "utf-8"],
    "zh-hant": ["big5", "gb18030", "utf-16-le", "utf-16-be", "utf-8"],
    "ja": ["cp932", "shift_jis", "euc_jp", "iso2022_jp", "utf-16-le", "utf-16-be", "utf-8"],
    "ko": ["cp949", "euc_kr", "utf-16-le", "utf-16-be", "utf-8"],
    "ru": ["cp1251", "koi8-r", "utf-16-le", "utf-16-be", "utf-8"],
    "fr": ["cp1252", "utf-16-le", "utf-16-be", "utf-8"],
    "de": ["cp1252", "latin-1", "utf-16-le", "utf-16-be", "utf-8"],
    "en": ["ascii", "utf-16-le", "utf-16-be"],
}
ENOUGH_WIDE, ENOUGH_LATIN = 16, 24
PAIRS = [(language, codec) for language, codecs in CODECS.items() for codec in codecs]


@st.composite
def excerpts(draw: st.DrawFn, language: str) -> str:
    """Some sentences in any order, cut anywhere once they are enough."""
    text = "\n".join(draw(st.permutations(SENTENCES[language])))
    latin = language in ("fr", "de", "en")
    enough = ENOUGH_LATIN if latin else ENOUGH_WIDE
    counted = (at for at, character in enumerate(text) if latin or character > "\x7f")
    least = [at for at, _ in zip(counted, range(enough), strict=False)][-1] + 1
    if language in ("fr", "de"):
        least = max(least, next(at for at, character in enumerate(text) if character > "\x7f") + 1)
    return text[: draw(st.integers(least, len(text)))]


@pytest.mark.parametrize(("language", "codec"), PAIRS)
@settings(max_examples=8)
@given(choice=st.data())
def test_decode_gives_the_same_text_back(language: str, codec: str, choice: st.DataObject) -> None:
    text = choice.draw(excerpts(language))
    decoded = decode(text.encode(codec), "a.txt")
    assert decoded.text == text
    assert decoded.damaged == 0


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["This is a test.\n", "Oui.", "项目A", "Текст 1", "第 3 页"])
def test_decode_reads_short_wide_texts(text: str, codec: str) -> None:
    assert decode(text.encode(codec), "a.txt").text == text


@pytest.mark.parametrize("language", list(SENTENCES))
def test_decode_reads_utf_32(language: str) -> None:
    text = "\n".join(SENTENCES[language])
    assert {decode(text.encode(codec), "a").text for codec in ("utf-32", "utf-32-le", "utf-32-be")} == {text}


def test_decode_reads_four_byte_gb18030() -> None:
    text = "姓名用字：㐂、𠮷、䶮。王䶮同志住在北京市，𠮷田先生是日本人。"
    assert decode(text.encode("gb18030"), "a.txt").text == text


def test_decode_finds_an_encoding_that_begins_late() -> None:
    text = "id,name,value\n" * 30_000 + "1,公司应当建立健全内部控制制度,2\n"
    decoded = decode(text.encode("gbk"), "a.csv")
    assert (decoded.encoding, decoded.text) == ("gb18030", text)


@pytest.mark.parametrize(
    ("language", "codec"), [("zh-hans", "gbk"), ("zh-hant", "big5"), ("ja", "cp932"), ("ko", "cp949")]
)
def test_decode_bears_damage_in_a_few_places(language: str, codec: str) -> None:
    lines = SENTENCES[language] * 3
    raw = b"\n\xff\n".join(line.encode(codec) for line in lines)
    decoded = decode(raw, "a.txt")
    assert [line for line in decoded.text.split("\n") if line in lines] == lines
    assert decoded.damaged


def test_decode_counts_damage_in_utf8_and_keeps_the_rest() -> None:
    text = "\n".join(SENTENCES["zh-hans"])
    raw = text.encode().replace("。".encode(), b"\xe3\x80\n", 2)
    decoded = decode(raw, "a.txt")
    assert (decoded.encoding, decoded.damaged) == ("utf-8", 2)
    assert decoded.text.split("\n")[-1] == SENTENCES["zh-hans"][-1]


def test_decode_takes_one_accent_for_western_and_not_for_damage() -> None:
    assert decode("Un café, please.".encode("cp1252"), "a.txt").text == "Un café, please."


def test_decode_does_not_take_english_for_chinese() -> None:
    assert decode(b"Bush hid the facts", "a.txt").text == "Bush hid the facts"


@pytest.mark.parametrize("raw", [bytes(400), bytes(range(256)) * 20, b"\x00\x00\x00\x01" * 50, b"\x7fELF\x02\x01" * 30])
def test_decode_refuses_what_is_no_text(raw: bytes) -> None:
    with pytest.raises(UnsupportedDocumentError):
        decode(raw, "a.bin")


def test_text_of_white_space_alone_has_no_text(tmp_path: Path) -> None:
    path = tmp_path / "blank.txt"
    path.write_text("\n\n \t\u3000\n", encoding="utf-8")
    with pytest.raises(NoTextError):
        parse(path, detect(path, path.name), path.name, ParserSettings())


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("made/gbk.txt", "gb18030"),
        ("made/gb18030.csv", "gb18030"),
        ("made/meeting_gbk.srt", "gb18030"),
        ("made/utf16.md", "utf-16-le"),
        ("unstructured/fake-text-utf-16.txt", "utf-16-le"),
        ("unstructured/fake-text-utf-16-le.txt", "utf-16-le"),
        ("unstructured/stanley-cups-utf-16.csv", "utf-16-be"),
        ("unstructured/fake-html-cp1252.html", "cp1252"),
        ("markitdown/test_mskanji.csv", "cp932"),
    ],
)
def test_decode_reads_real_files(eval_data: Path, name: str, encoding: str) -> None:
    decoded = decode((eval_data / "files" / name).read_bytes(), name)
    assert (decoded.encoding, decoded.damaged) == (encoding, 0)
