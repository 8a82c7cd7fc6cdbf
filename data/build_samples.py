"""Builds the binary sample documents (two PDFs, one DOCX) from the texts below.

Run `python data/build_samples.py` after changing a text; equal texts give equal bytes.
The text samples in `data/samples` are written by hand. All names and numbers are invented.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import docx
import pymupdf

SAMPLES = Path(__file__).resolve().parent / "samples"
WIDTH, HEIGHT = pymupdf.paper_size("a4")
MARGIN = 64
PDF_DATE = "D:20241101090000+08'00'"

Table = list[list[str]]


class PdfWriter:
    """Writes headings, paragraphs and ruled tables down pages with a running header and a page number."""

    def __init__(self, font: str, header: str, footer: str, total: int) -> None:
        self.document = pymupdf.open()
        self._font = pymupdf.Font(font)
        self._header, self._footer, self._total = header, footer, total
        self.new_page()

    def new_page(self) -> None:
        self._page = self.document.new_page(width=WIDTH, height=HEIGHT)
        number = len(self.document)
        self._y = MARGIN + 24
        if number > 1:
            self._line(self._header, MARGIN, 40, 8.5, (0.4, 0.4, 0.4))
            self._page.draw_line((MARGIN, 46), (WIDTH - MARGIN, 46), color=(0.6, 0.6, 0.6), width=0.5)
        label = self._footer.format(page=number, total=self._total)
        self._line(label, (WIDTH - self._font.text_length(label, 8.5)) / 2, HEIGHT - 36, 8.5, (0.4, 0.4, 0.4))

    def heading(self, text: str, size: float) -> None:
        self._y += size * 0.8
        for line in self._wrap(text, size, WIDTH - 2 * MARGIN):
            self._line(line, MARGIN, self._y + size, size, (0.05, 0.15, 0.4))
            self._y += size * 1.35
        self._y += size * 0.25

    def paragraph(self, text: str, size: float = 11) -> None:
        for line in self._wrap(text, size, WIDTH - 2 * MARGIN):
            self._line(line, MARGIN, self._y + size, size, (0, 0, 0))
            self._y += size * 1.6
        self._y += size * 0.7

    def table(self, rows: Table, widths: Sequence[float], size: float = 10) -> None:
        scale = (WIDTH - 2 * MARGIN) / sum(widths)
        edges = [MARGIN + scale * sum(widths[:i]) for i in range(len(widths) + 1)]
        height = size * 2.1
        top = self._y
        for number, row in enumerate(rows):
            if number == 0:
                rect = pymupdf.Rect(edges[0], top, edges[-1], top + height)
                self._page.draw_rect(rect, color=None, fill=(0.9, 0.93, 0.97))
            for cell, left in zip(row, edges, strict=False):
                self._line(cell, left + 5, self._y + height * 0.68, size, (0, 0, 0))
            self._y += height
        for i in range(len(rows) + 1):
            y = top + i * height
            self._page.draw_line((edges[0], y), (edges[-1], y), width=0.7)
        for x in edges:
            self._page.draw_line((x, top), (x, self._y), width=0.7)
        self._y += size * 1.4

    def save(self, path: Path, title: str, author: str, outline: list[list[object]]) -> None:
        assert len(self.document) == self._total, f"{path.name}: {len(self.document)} pages, {self._total} announced"
        self.document.set_toc(outline)
        self.document.set_metadata(
            {"title": title, "author": author, "creationDate": PDF_DATE, "modDate": PDF_DATE, "producer": "", "creator": ""}
        )
        self.document.subset_fonts()
        self.document.save(path, garbage=4, deflate=True, deflate_fonts=True, no_new_id=True)

    def _line(self, text: str, x: float, y: float, size: float, color: tuple[float, float, float]) -> None:
        writer = pymupdf.TextWriter(self._page.rect, color=color)
        writer.append((x, y), text, font=self._font, fontsize=size)
        writer.write_text(self._page)

    def _wrap(self, text: str, size: float, width: float) -> list[str]:
        """Break after spaces and between Han characters; closing punctuation never opens a line."""
        units: list[str] = []
        for char in text:
            joins = units and (char in "，。；：、）》”％%" or (char.isascii() and units[-1][-1].isascii() and not units[-1].endswith(" ")))
            if joins:
                units[-1] += char
            else:
                units.append(char)
        lines = [""]
        for unit in units:
            if lines[-1] and self._font.text_length((lines[-1] + unit).rstrip(), size) > width:
                lines.append("")
            lines[-1] += unit
        return [line.strip() for line in lines if line.strip()]


def build_brief(path: Path) -> None:
    """Seven pages: the quarterly brief that compares Q3 2024 with Q3 2023."""
    title = "华澜资产管理 2024年第三季度财务简报"
    pdf = PdfWriter("cjk", title, "第 {page} 页 共 {total} 页", 7)
    pdf.heading(title, 24)
    pdf.paragraph("报告期：2024年7月1日至2024年9月30日", 12)
    pdf.paragraph("对比期：2023年第三季度（2023年7月1日至2023年9月30日）", 12)
    pdf.paragraph("编制单位：华澜资产管理股份有限公司财务部　发布日期：2024年10月25日")
    pdf.paragraph("本简报未经审计，金额单位除特别注明外均为人民币。")

    pdf.new_page()
    pdf.heading("一、业绩概要", 17)
    pdf.paragraph(
        "2024年第三季度，公司实现营业收入 2.38 亿元，上年同期（2023年第三季度）为 2.51 亿元，同比下滑 5.2%。"
        "收入下滑的主要原因是公募基金管理费率自 2024年7月起下调。"
    )
    pdf.paragraph("2024年第三季度归属于母公司股东的净利润为 0.61 亿元，2023年第三季度为 0.66 亿元，同比下降 7.6%。净利润率为 25.6%。")
    pdf.paragraph("截至 2024年9月30日，公司在职员工 612 人，比 2023年9月30日的 598 人增加 14 人。")

    pdf.new_page()
    pdf.heading("二、分业务收入", 17)
    pdf.paragraph("下表列示 2024年第三季度与 2023年第三季度各业务板块的收入，单位为亿元。")
    pdf.table(
        [
            ["业务板块", "2024年第三季度", "2023年第三季度", "同比"],
            ["公募基金管理费", "1.32", "1.45", "-9.0%"],
            ["专户与机构业务", "0.58", "0.52", "+11.5%"],
            ["财富代销", "0.31", "0.37", "-16.2%"],
            ["投资顾问及其他", "0.17", "0.17", "0.0%"],
            ["合计", "2.38", "2.51", "-5.2%"],
        ],
        [3, 2.4, 2.4, 1.5],
    )
    pdf.paragraph("专户与机构业务是唯一实现增长的板块，主要得益于 2024年8月新签的两家保险机构委托，合计委托规模 45 亿元。")
    pdf.paragraph("财富代销收入下降较多，原因是新发基金数量由 2023年第三季度的 9 只减少到 2024年第三季度的 5 只。")

    pdf.new_page()
    pdf.heading("三、成本与费用", 17)
    pdf.paragraph(
        "2024年第三季度期间费用合计 8,930 万元，其中销售费用 2,860 万元，同比下降 8.3%；管理费用 4,150 万元，同比增长 4.3%；"
        "研发费用 1,920 万元，同比增长 20.0%。"
    )
    pdf.table(
        [
            ["费用项目（万元）", "2024年第三季度", "2023年第三季度", "同比"],
            ["销售费用", "2,860", "3,120", "-8.3%"],
            ["管理费用", "4,150", "3,980", "+4.3%"],
            ["研发费用", "1,920", "1,600", "+20.0%"],
            ["合计", "8,930", "8,700", "+2.6%"],
        ],
        [3, 2.4, 2.4, 1.5],
    )
    pdf.paragraph("研发费用的增加来自智能投研平台二期建设，该项目预算为 3,600 万元，计划于 2025年6月上线。")

    pdf.new_page()
    pdf.heading("四、资产管理规模", 17)
    pdf.paragraph("截至 2024年9月30日，公司资产管理规模为 1,264 亿元，比 2023年9月30日的 1,198 亿元增长 5.5%。")
    pdf.table(
        [
            ["产品类别（亿元）", "2024年9月30日", "2023年9月30日", "增减"],
            ["固定收益", "706", "638", "+68"],
            ["权益", "412", "430", "-18"],
            ["混合", "98", "89", "+9"],
            ["货币", "48", "41", "+7"],
            ["合计", "1,264", "1,198", "+66"],
        ],
        [3, 2.4, 2.4, 1.5],
    )
    pdf.paragraph("固定收益产品是规模增长的主要来源，其中稳盈系列净申购 31 亿元。")

    pdf.new_page()
    pdf.heading("五、风险与流动性", 17)
    pdf.heading("（一）流动性", 13)
    pdf.paragraph("2024年9月30日流动性覆盖率为 148%，高于公司 120% 的内部下限；2023年9月30日为 155%。")
    pdf.heading("（二）集中度", 13)
    pdf.paragraph("前五大机构客户的委托规模占公司管理规模的 23.6%，低于 25% 的预警线。")
    pdf.heading("（三）风险准备金", 13)
    pdf.paragraph("风险准备金余额为 1.12 亿元，本季度计提 640 万元，未发生使用。")

    pdf.new_page()
    pdf.heading("六、展望与分红", 17)
    pdf.paragraph("公司预计 2024年第四季度营业收入在 2.40 亿元至 2.55 亿元之间。该预计以市场不发生重大变化为前提。")
    pdf.paragraph("董事会已审议通过 2024年中期分红方案：每 10 股派发现金红利 1.20 元（含税），股权登记日为 2024年11月15日。")
    pdf.paragraph("联系人：财务部 投资者关系组，电子邮箱 ir@hualan.example。")
    chapters = ["一、业绩概要", "二、分业务收入", "三、成本与费用", "四、资产管理规模", "五、风险与流动性", "六、展望与分红"]
    outline: list[list[object]] = [[1, chapter, page] for page, chapter in enumerate(chapters, start=2)]
    pdf.save(path, title, "华澜资产管理股份有限公司财务部", outline)


def build_compliance_report(path: Path) -> None:
    """Four pages in English; no outline, so that headings have to be found by their type."""
    title = "Hualan Asset Management Annual Compliance Report 2024"
    pdf = PdfWriter("helv", title, "Page {page} of {total}", 4)
    pdf.heading("Annual Compliance Report 2024", 24)
    pdf.paragraph("Hualan Asset Management Co., Ltd.", 13)
    pdf.paragraph("Presented to the Audit Committee on 17 January 2025 by the Chief Compliance Officer.", 12)
    pdf.heading("1 Summary", 16)
    pdf.paragraph(
        "In 2024 the Compliance Department closed 14 internal audits and followed up 52 findings. Three findings were rated high; "
        "all three were remedied before the year ended. The firm paid no regulatory fine in 2024; in 2023 it paid RMB 150,000."
    )
    pdf.paragraph("Customer complaints fell from 96 in 2023 to 81 in 2024, a decrease of 15.6%. The average time to close a complaint was 6.4 days.")

    pdf.new_page()
    pdf.heading("2 Training", 16)
    pdf.paragraph(
        "The department held 37 training sessions. The completion rate of mandatory training was 98.6%, against 95.1% in 2023. "
        "Employees who missed the deadline lost system access until they had passed the test; this happened to nine people."
    )
    pdf.heading("3 Suitability and sales practice", 16)
    pdf.paragraph(
        "The order system blocked 1,274 transactions because the risk level of the product exceeded that of the customer. "
        "A sample of 400 sales recordings was reviewed; eleven of them lacked the required risk disclosure, an error rate of 2.75%."
    )

    pdf.new_page()
    pdf.heading("4 Money laundering prevention", 16)
    pdf.paragraph(
        "The monitoring system raised 3,860 alerts, of which 212 were escalated and 19 led to a suspicious transaction report. "
        "The share of false alerts fell to 94.5% after new rules went live in June 2024."
    )
    pdf.table(
        [
            ["Measure", "2024", "2023", "Change"],
            ["Alerts raised", "3,860", "4,415", "-12.6%"],
            ["Cases escalated", "212", "188", "+12.8%"],
            ["Suspicious transaction reports", "19", "15", "+26.7%"],
            ["Customers re-identified", "8,240", "6,590", "+25.0%"],
        ],
        [3.4, 1.5, 1.5, 1.5],
    )
    pdf.heading("5 Whistleblowing", 16)
    pdf.paragraph("Five reports came in through the whistleblowing line. Two were substantiated and led to one dismissal and one written warning.")

    pdf.new_page()
    pdf.heading("6 Plan for 2025", 16)
    pdf.paragraph(
        "The department plans 16 internal audits in 2025. Priorities are the Singapore office, artificial intelligence in research, and the "
        "outsourcing of transfer agency services. The approved budget is RMB 9.4 million, up from RMB 8.7 million in 2024."
    )
    pdf.paragraph("Two additional compliance officers will be hired by June 2025, one of them in Singapore.")
    pdf.save(path, title, "Hualan Asset Management, Compliance Department", [])


def build_reimbursement_policy(path: Path) -> None:
    """A Word document with real heading styles, lists and a table."""
    document = docx.Document()
    stamp = datetime(2024, 3, 1, 9, 0, tzinfo=timezone.utc)
    core = document.core_properties
    core.title, core.author, core.created, core.modified = "华澜资产管理费用报销管理制度", "财务部", stamp, stamp
    core.last_modified_by, core.comments = "财务部", ""

    document.add_heading("华澜资产管理费用报销管理制度", 0)
    document.add_paragraph("文号：华澜财〔2024〕3 号。自 2024年3月1日起施行，原《费用报销暂行办法》同时废止。")
    document.add_heading("第一章 总则", 1)
    document.add_paragraph("为规范费用报销行为，控制成本，依据公司财务管理规定，制定本制度。本制度适用于公司全体员工及外聘顾问。")
    document.add_heading("第二章 报销时限与凭证", 1)
    document.add_paragraph("费用应当在发生之日起 30 日内提交报销申请，逾期提交的须由财务总监书面批准，超过 90 日的一律不予报销。")
    document.add_paragraph("报销凭证应当为合法有效的发票，发票抬头为“华澜资产管理股份有限公司”。电子发票须上传原始文件，不得使用截图。")
    document.add_heading("第三章 差旅费标准", 1)
    document.add_paragraph("国内住宿费按城市类别限额报销，超出部分由个人承担。标准如下：")
    rows = [
        ("城市类别", "住宿上限（元/晚）", "餐费补贴（元/天）"),
        ("一线城市（北京、上海、广州、深圳）", "650", "120"),
        ("省会及计划单列市", "480", "100"),
        ("其他城市", "350", "80"),
    ]
    table = document.add_table(rows=0, cols=3, style="Table Grid")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.add_paragraph("高铁限二等座，飞机限经济舱。单程飞行超过 6 小时的，经分管副总裁批准可以乘坐公务舱。")
    document.add_paragraph("国际差旅应当至少提前 10 个工作日提出申请，住宿标准为每晚 180 美元。")
    document.add_heading("第四章 业务招待费", 1)
    document.add_paragraph("业务招待费实行事前审批，人均不得超过 300 元，单次总额超过 3,000 元的须由分管副总裁批准。禁止报销烟酒礼品。")
    document.add_heading("第五章 审批权限", 1)
    for text in (
        "单笔金额不超过 5,000 元的，由部门负责人审批。",
        "单笔金额超过 5,000 元但不超过 50,000 元的，由部门负责人和财务总监共同审批。",
        "单笔金额超过 50,000 元的，由总裁审批。",
    ):
        document.add_paragraph(text, style="List Bullet")
    document.add_heading("第六章 付款", 1)
    document.add_paragraph("审批完成后 5 个工作日内，财务部将报销款支付至员工工资卡。借款应当在出差结束后 15 日内结清。")
    buffer = io.BytesIO()
    document.save(buffer)
    _write_dated_zip(buffer, path)


def _write_dated_zip(buffer: io.BytesIO, path: Path) -> None:
    """Copy a zip with one fixed date for all entries: the library stamps them with the clock."""
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            entry = zipfile.ZipInfo(name, date_time=(2024, 3, 1, 9, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, source.read(name))


if __name__ == "__main__":
    build_brief(SAMPLES / "q3-2024-brief.pdf")
    build_compliance_report(SAMPLES / "annual-compliance-report-2024.pdf")
    build_reimbursement_policy(SAMPLES / "reimbursement-policy.docx")
