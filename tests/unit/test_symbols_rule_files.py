"""Rule files: what they may hold, what is refused and how, and how an edit is taken up."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import pytest

from retrieval.errors import SymbolFileError
from retrieval.symbols.language import SymbolLanguage, builtin_dir
from retrieval.symbols.rule_files import merge, read_rule_file
from retrieval.symbols.rule_source import RuleFiles

REPOSITORY = Path(__file__).resolve().parents[2]
BEGIN = 1_800_000_000.0
FORMS = """
[[vocabulary]]
namespace = "form"
token_prefix = "FORM"
[vocabulary.context]
near = ["表单", "form"]
[[vocabulary.code]]
code = "W8"
rank = 1
"""
SECRET_NAME = "欧阳未央"


class Folder:
    """A folder of rule files, and the time by its clock."""

    def __init__(self, path: Path) -> None:
        self.path, self.now = path, BEGIN
        path.mkdir(exist_ok=True)

    def write(self, name: str, text: str) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        os.utime(file, (self.now, self.now))
        return file

    def remove(self, name: str) -> None:
        (self.path / name).unlink()
        os.utime((self.path / name).parent, (self.now, self.now))

    def source(self) -> RuleFiles:
        return RuleFiles(builtin_dir(), self.path, now=lambda: self.now)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "rules")


def namespaces(source: RuleFiles, tenant: str = "t") -> set[str]:
    return {v.namespace for v in source.rules(tenant).vocabularies} - {"customer_risk", "fund_risk", "credit_rating"}


def test_a_file_may_hold_everything_at_once(folder: Folder) -> None:
    text = f"""
        [fiscal_year]
        start = 4
        named_by = "end"
        [[entity]]
        id = "ACME"
        names = ["顶点股份有限公司", "Acme plc"]
        not_in = ["Acme plc Arena"]
        [[person]]
        names = ["张伟", "Zhang Wei"]
        {FORMS}"""
    rules = merge([read_rule_file(folder.write("all.toml", text))])
    assert (rules.fiscal_year_start, rules.fiscal_year_named_by) == (4, "end")
    assert rules.glossary[0].names == ("顶点股份有限公司", "Acme plc")
    assert rules.persons[0].names == ("张伟", "Zhang Wei")
    assert rules.vocabularies[0].namespace == "form"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[entity]]\nid = 'acme'\nnames = ['x']", "entity 1, id: String should match"),
        ("[[entity]]\nid = 'A'\nnames = []", "entity 1, names: "),
        ("[[entity]]\nid = 'A'\nname = 'x'\nnames = ['x']", "there are id, names, not_in"),
        ("[[entitty]]\nid = 'A'", "entitty: there is no such field; there are vocabulary, entity, person, fiscal_year"),
        ("[fiscal_year]\nstart = 13", "fiscal_year, start: "),
        ("[fiscal_year]\nstart = 4\nnamed_by = 'middle'", "'start' or 'end'"),
        ("[[person]]\nnames = [1]", "person 1, names 1: "),
        (FORMS.replace('"form"\ntoken', '"amount"\ntoken'), "is a kind of the language itself"),
        (FORMS.replace('"FORM"', '"ENTITY"'), "is taken by the language itself"),
        (FORMS + "rnak = 2", "there are code, rank, aliases, names, strict"),
        ("a = ", "is no TOML"),
    ],
)
def test_a_malformed_file_is_named_with_its_field_and_what_to_do(folder: Folder, text: str, said: str) -> None:
    file = folder.write("broken.toml", text)
    with pytest.raises(SymbolFileError) as caught:
        read_rule_file(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert said in str(caught.value)


def test_bytes_that_are_no_text_are_named(folder: Folder) -> None:
    file = folder.write("gbk.toml", "")
    file.write_bytes("# 规则".encode("gbk"))
    with pytest.raises(SymbolFileError, match="it is no UTF-8"):
        read_rule_file(file)


@pytest.mark.parametrize(
    "text",
    [
        f"[[person]]\nnames = ['{SECRET_NAME}', '{SECRET_NAME * 20}']",
        f"[[person]]\nnames = ['{SECRET_NAME}']\n[[person]]\nnames = ['{SECRET_NAME}']",
        f"[[person]]\nnames = ['{SECRET_NAME}'",
        f"[[person]]\nnames = [' {SECRET_NAME}']",
        f"[[person]]\nnmes = ['{SECRET_NAME}']",
    ],
)
def test_no_message_tells_a_persons_name(folder: Folder, text: str) -> None:
    file = folder.write("people.toml", text)
    with pytest.raises(SymbolFileError) as caught:
        merge([read_rule_file(file)])
    chain: BaseException | None = caught.value
    while chain is not None:
        assert SECRET_NAME not in str(chain)
        chain = None if chain.__suppress_context__ else chain.__cause__ or chain.__context__


def test_one_name_may_not_mean_two_entities(folder: Folder) -> None:
    one = read_rule_file(folder.write("a.toml", "[[entity]]\nid = 'A'\nnames = ['Acme  Bank', '國泰']"))
    two = read_rule_file(folder.write("b.toml", "[[entity]]\nid = 'B'\nnames = ['ACME bank']"))
    with pytest.raises(SymbolFileError, match=r"b\.toml: entity: name 'ACME bank' of entry 1 .*a\.toml; drop one"):
        merge([one], [two])


def test_the_fiscal_year_of_a_tenant_goes_before_that_of_all(folder: Folder) -> None:
    folder.write("year.toml", "[fiscal_year]\nstart = 4")
    folder.write("tenants/t/year.toml", "[fiscal_year]\nstart = 7")
    source = folder.source()
    assert (source.rules("t").fiscal_year_start, source.rules("u").fiscal_year_start) == (7, 4)


def test_two_fiscal_years_of_one_tenant_are_refused(folder: Folder) -> None:
    folder.write("a.toml", "[fiscal_year]\nstart = 4")
    folder.write("b.toml", "[fiscal_year]\nstart = 7")
    with pytest.raises(SymbolFileError, match=r"b\.toml: fiscal_year: .*a\.toml"):
        folder.source()


def test_a_tenants_files_hold_for_that_tenant_alone(folder: Folder) -> None:
    folder.write("tenants/t/forms.toml", FORMS)
    language = SymbolLanguage(folder.source(), bytes(16))
    assert [s.kind for s in language.read("请填写W8表单", tenant="t")] == ["form"]
    assert language.read("请填写W8表单", tenant="u") == ()


@pytest.mark.parametrize("tenant", ["..", ".", "...", "../tenants/t", "t\\..\\t"])
def test_no_tenants_name_leads_out_of_its_folder(folder: Folder, tenant: str) -> None:
    folder.write("tenants/t/forms.toml", FORMS)
    folder.write("tenants/year.toml", "[fiscal_year]\nstart = 7")
    rules = folder.source().rules(tenant)
    assert (rules.fiscal_year_start, len(rules.vocabularies)) == (1, 3)


def test_an_edit_is_taken_up(folder: Folder) -> None:
    source = folder.source()
    assert namespaces(source) == set()
    folder.now += 10
    folder.write("forms.toml", FORMS)
    folder.now += 1
    assert namespaces(source) == {"form"}
    folder.now += 10
    folder.write("forms.toml", FORMS.replace('"form"\ntoken', '"sheet"\ntoken'))
    folder.now += 1
    assert namespaces(source) == {"sheet"}
    folder.now += 10
    folder.remove("forms.toml")
    folder.now += 1
    assert namespaces(source) == set()


def test_files_are_looked_at_no_more_than_once_a_second(folder: Folder) -> None:
    source = folder.source()
    source.rules("t")
    folder.write("forms.toml", FORMS)
    os.utime(folder.path / "forms.toml", (BEGIN - 100, BEGIN - 100))
    folder.now += 0.9
    assert namespaces(source) == set()
    folder.now += 0.2
    assert namespaces(source) == {"form"}


def test_a_file_that_is_being_written_waits(folder: Folder) -> None:
    folder.write("forms.toml", FORMS)
    source = folder.source()
    source.rules("t")
    folder.now += 10
    folder.write("forms.toml", "")
    folder.now += 0.5
    assert namespaces(source) == {"form"}
    folder.write("forms.toml", FORMS.replace('"form"\ntoken', '"sheet"\ntoken'))
    folder.now += 2
    assert namespaces(source) == {"sheet"}


def test_a_file_between_two_names_stays(folder: Folder) -> None:
    folder.write("forms.toml", FORMS)
    source = folder.source()
    source.rules("t")
    folder.now += 10
    folder.remove("forms.toml")
    folder.now += 0.1
    assert namespaces(source) == {"form"}


def test_a_broken_edit_keeps_the_last_good_rules_and_says_so_once(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    people = f"[[person]]\nnames = ['{SECRET_NAME}']\n"
    folder.write("people.toml", people)
    source = folder.source()
    before = source.rules("t")
    folder.now += 10
    file = folder.write("people.toml", people + "[[person]]\nnames = 7\n")
    folder.now += 2
    with caplog.at_level(logging.INFO):
        for tenant in ("t", "t", "late"):
            assert source.rules(tenant).persons == before.persons
            folder.now += 2
    assert source.rules("t") is before
    assert [str(file) in record.getMessage() for record in caplog.records] == [True]
    assert SECRET_NAME not in caplog.text
    assert "person 2, names" in source.problems("t")[0]
    folder.write("people.toml", people)
    folder.now += 2
    assert source.problems("t") == ()


PEOPLE = f'[[person]]\nnames = ["{SECRET_NAME}"]\n'


def test_a_file_that_was_cut_to_nothing_keeps_its_last_good_rules(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write("people.toml", PEOPLE)
    folder.write("new.toml", "")
    source = folder.source()
    assert (len(source.rules("t").persons), source.problems("t")) == (1, ())
    folder.now += 10
    folder.write("people.toml", "")
    folder.now += 10
    assert len(source.rules("t").persons) == 1
    (problem,) = source.problems("t")
    assert "people.toml" in problem
    assert "empty" in problem
    folder.now += 10
    folder.remove("people.toml")
    folder.now += 10
    assert (len(source.rules("t").persons), source.problems("t")) == (0, ())
    assert "1 persons" in caplog.text
    assert SECRET_NAME not in caplog.text


def test_an_edit_that_takes_out_all_of_a_section_holds_and_is_told(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write("all.toml", FORMS + PEOPLE)
    source = folder.source()
    source.rules("t")
    folder.now += 10
    folder.write("all.toml", FORMS + "# nobody\n")
    folder.now += 10
    assert (len(source.rules("t").persons), namespaces(source)) == (0, {"form"})
    (problem,) = source.problems("t")
    assert problem.endswith("all.toml: an edit took out all of a section: persons 1 → 0")
    assert caplog.text.count("persons 1 → 0") == 1
    assert SECRET_NAME not in problem + caplog.text
    folder.now += 10
    folder.write("all.toml", FORMS + PEOPLE)
    folder.now += 10
    assert (len(source.rules("t").persons), source.problems("t")) == (1, ())


def test_files_that_contradict_each_other_keep_the_last_good_rules(folder: Folder) -> None:
    folder.write("forms.toml", FORMS)
    source = folder.source()
    before = source.rules("t")
    folder.now += 10
    folder.write("more.toml", FORMS)
    folder.now += 2
    assert source.rules("t") is before
    assert "already declared" in source.problems("t")[0]
    assert namespaces(source, "late") == {"form"}


@pytest.mark.parametrize("name", ["forms.toml", "tenants/t/forms.toml"])
def test_a_broken_file_at_the_start_is_an_error(folder: Folder, name: str) -> None:
    folder.write(name, "[[vocabulary]]")
    with pytest.raises(SymbolFileError, match=r"forms\.toml"):
        folder.source()


def test_a_missing_folder_at_the_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SymbolFileError, match="no such folder"):
        RuleFiles(builtin_dir(), tmp_path / "absent")


@pytest.mark.parametrize("page", ["docs/symbols-rules.md", "data/symbols/README.md"])
def test_examples_of_the_documentation_are_rule_files(folder: Folder, page: str) -> None:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    file = folder.write("example.toml", "\n".join(re.findall(r"```toml\n(.*?)```", text, re.DOTALL)))
    rules = merge([read_rule_file(file)])
    assert rules.vocabularies
    assert rules.glossary
    assert rules.fiscal_year_start != 1
