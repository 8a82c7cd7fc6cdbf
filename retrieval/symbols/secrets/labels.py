"""What the surroundings of digits say: a label, a currency, a unit, a longer number they go on from."""

from __future__ import annotations

import re

from retrieval.symbols.fold import MASK
from retrieval.symbols.values.currencies import currency_before

_REACH = 48
_MAX_ROWS = 200
_LONGEST_ROW = 4_000
"""Characters; a longer line is no row of a table, and is not gone back through for each number in it."""

_LINK = (
    r"(?:号码|编号|号|(?i:\s?(?:no|number|num|nr|id|code)\b\.?))?\s?(?:\([^()0-9]{1,24}\)\s?)?"
    r"(?:\s?[为是]?\s?[:=#-]|\s?[为是]|(?i:\s(?:is|was|(?:me |us )?(?:at|on)|to|:))\b)?[\s#]?[\s\"'“‘(\[*_]?\+?\(?\Z"
)
_PHONE_WORDS = (
    r"手机|电话|联系方式|联系人?|致电|拨打|微信|热线|传真|座机|固话|总机|客服|咨询|来电|短信|小灵通|手提"
    r"|(?i:(?<![a-z])(?:tele?phone|telefax|tel|phone|mobile|mob|cell(?:\sphone)?|call(?:ing|ed)?|wechat|whatsapp|fax"
    r"|hotline|helpline|landline|dial(?:ling|ing)?|text|ring|rang|reach|contact|answering|desk|office|messages?)(?![a-z]))"
)
_PHONE = re.compile(rf"(?:{_PHONE_WORDS})[.机]?{_LINK}")
_PHONE_NEAR = re.compile(rf"(?:{_PHONE_WORDS})[^0-9。;!?\n|]{{0,20}}\Z")
_PHONE_STRICT = re.compile(
    r"(?:手机|电话|热线|传真|座机|固话|总机"
    r"|(?i:(?<![a-z])(?:tele?phone|telefax|tel|phone|mobile|cell|fax|hotline|helpline|landline)(?![a-z])))"
    rf"[.机]?{_LINK}"
)
_DIALLED = re.compile(
    r"(?:致电|拨打|来电|(?i:(?<![a-z])(?:call(?:ing|ed)?|dial(?:ling|ing)?|ring|rang|answering|messages?|desk|office)"
    rf"(?![a-z])))[.]?{_LINK}"
)
_PAYMENT_CARD = re.compile(
    r"(?:卡号|[银行储蓄信用借记]{2,3}卡|银联卡?"
    rf"|(?i:(?<![a-z])(?:card|cc|visa|mastercard|unionpay|amex|american express|maestro|jcb|pan)(?![a-z]))){_LINK}"
)
_CARD = re.compile(
    r"(?:卡号|[银行储蓄信用借记]{2,3}卡|银联卡?|账[号户]|帐[号户]"
    r"|(?i:(?<![a-z])(?:card|cc|account|acct|a/c|visa|mastercard|unionpay"
    rf"|amex|american express|maestro|jcb|pan)(?![a-z]))){_LINK}"
)
_IDENTITY = re.compile(
    r"(?:身份证件?|证件|公民身份|居民身份"
    rf"|(?i:(?<![a-z])(?:id|id card|identity(?: card)?|identification)(?![a-z]))){_LINK}"
)
_SOCIAL = re.compile(
    r"(?:社会(?:安全|保障)|社保|社安|(?i:(?<![a-z])(?:ssn|social security|soc\.? sec\.?)(?![a-z])))"
    r"[^0-9。;!?\n|]{0,20}\Z"
)
_ORDINARY = re.compile(
    r"(?:订单|单号|编号|流水|发票|合同|批号|货号|序列|条码|条形码|快递|运单|凭证|文号|物流"
    r"|批次|工单|票号|案号|版本|型号"
    r"|工号|学号|客户号|会员号|档案号|第"
    r"|总计|合计|共计|小计|营业额|[总金余]额|成交[额量]|[营税]收|收入|资产|负债|利润|成本|[销产]量|销售额|市值|规模|人口"
    r"|ISBN|ISSN"
    r"|(?i:(?<![a-z])(?:order|invoice|tracking|serial|sku|ref|reference|batch|isbn|issn|sn|s/n|document|contract|ticket"
    r"|ean|upc|gtin|barcode|imei|transaction|txn|waybill|shipment|parcel|case|version|build|po|purchase order|hash"
    r"|uuid|guid|timestamp|total|amount|balance|revenue|income|profit|assets|sales|volume|population|awb"
    rf"|part|model|item|product|article|doi)(?![a-z]))){_LINK}"
    # 〔2023〕: the number of a public document
    r"|[〔\[【](?:19|20)[0-9]{2}[〕\]】]\s?第?\Z"
)
_UNIT_AFTER = re.compile(
    r"[.][0-9]|,[0-9]{3}(?![0-9])|\s?(?:[元圆%股份吨台个]|[十百千]?[万亿]|(?:美|港|欧|日)元|人民币"
    r"|(?i:million|billion|thousand|yuan|rmb|cny|usd|dollars|units|shares|bytes|kb|mb)\b)"
)
_ORDINARY_HEADING = re.compile(
    r"金额|余额|收入|资产|负债|利润|成本|数量|订单|单号|编号|流水|发票|合同|条码|运单|时间戳"
    r"|(?i:amount|balance|revenue|income|asset|profit|cost|quantity|order|invoice|tracking|serial|sku|isbn|barcode"
    r"|timestamp|total|price|qty)"
)


def text_before(text: str, start: int) -> str:
    """Return what stands right before a position in its cell, not beyond a mask, whose length means nothing."""
    before = text[max(0, start - _REACH) : start]
    return before[max(before.rfind(MASK), before.rfind("|")) + 1 :]


def is_phone_labelled(before: str) -> bool:
    """Tell whether a word right before says that a phone number follows."""
    return _PHONE.search(before) is not None


def is_strictly_phone_labelled(before: str) -> bool:
    """Tell whether a word that means nothing but a phone stands right before."""
    return _PHONE_STRICT.search(before) is not None


def is_dialled(before: str) -> bool:
    """Tell whether a word for calling somebody stands right before."""
    return _DIALLED.search(before) is not None


def is_near_phone_word(before: str) -> bool:
    """Tell whether a word of phones stands before in the same clause."""
    return _PHONE_NEAR.search(before) is not None


def is_card_labelled(before: str) -> bool:
    """Tell whether a word right before says that a card number follows."""
    return _CARD.search(before) is not None


def is_payment_card_labelled(before: str) -> bool:
    """Tell whether a word right before says that the number of a payment card follows, not of any account."""
    return _PAYMENT_CARD.search(before) is not None


def is_identity_labelled(before: str) -> bool:
    """Tell whether a word right before says that an identity number follows."""
    return _IDENTITY.search(before) is not None


def is_social_labelled(before: str) -> bool:
    """Tell whether a word right before says that a social security number follows."""
    return _SOCIAL.search(before) is not None


def cell_before(text: str, start: int) -> str:
    """Return the table cell before the one that a position begins, as in `| 手机 | 138 1234 5678 |`; else nothing."""
    line = _row_begin(text, start)
    end = -1 if line is None else text.rfind("|", line, start)
    if line is None or end < 0 or text[end + 1 : start].strip(" +("):
        return ""
    return text[max(line, text.rfind("|", line, end) + 1) : end].strip()


def column_heading(text: str, start: int) -> str:
    """Return the heading of the table column (`|` between cells) in which a position lies; empty if there is none."""
    line = _row_begin(text, start)
    if line is None:
        return ""
    column = text.count("|", line, start)
    if not column and "|" not in text[start : start + _REACH].partition("\n")[0]:
        return ""
    heading = ""
    for _ in range(_MAX_ROWS):
        end = line - 1
        above = _row_begin(text, end) if end > 0 else None
        if above is None or "|" not in text[above:end]:
            break
        line, heading = above, text[above:end]
    cells = heading.split("|")
    return cells[column].strip() if column < len(cells) else ""


def _row_begin(text: str, position: int) -> int | None:
    """Return where the line begins in which a position lies; None where no row of a table is so long."""
    reach = max(0, position - _LONGEST_ROW)
    begin = text.rfind("\n", reach, position) + 1
    return None if begin == 0 and reach else begin


# A small letter ends glued text (zhang13812345678, x13812345678); capitals before digits make a serial number.
_BEFORE_LABEL = re.compile(
    r"(?<![A-Za-z])(?i:tel|fax|phone|mobile|mob|cell|wx|vx|wechat|whatsapp|qq|id|card)\Z|(?<![0-9A-Za-z_-])(?!v\Z)[A-Za-z]{0,20}[a-z]\Z"
)
_LINK_BEFORE = re.compile(r"(?:://|www\.|(?i:doi)[:\s])[^\s，。]*\Z")


def in_number(before: str) -> bool:
    """Tell whether digits that follow `before` continue a number or an identifier."""
    if not before:
        return False
    last = before[-1]
    if last in "0123456789" or (last == "." and before[-2:-1].isdecimal()):
        return True
    if _LINK_BEFORE.search(before) and not _PHONE.search(before):
        return True
    return last.isascii() and last.isalpha() and _BEFORE_LABEL.search(before) is None


def is_ordinary(text: str, start: int, end: int) -> bool:
    """Tell whether a label, a currency or a unit says that the digits are no secret."""
    return (
        is_ordinary_labelled(text_before(text, start))
        or _UNIT_AFTER.match(text, end) is not None
        or currency_before(text, start) is not None
    )


def is_ordinary_labelled(before: str) -> bool:
    """Tell whether a word right before says that an order, an invoice, a version or the like follows."""
    return _ORDINARY.search(before) is not None


def is_ordinary_heading(heading: str) -> bool:
    """Tell whether the heading of a column is that of figures or of ordinary numbers."""
    return _ORDINARY_HEADING.search(heading) is not None
