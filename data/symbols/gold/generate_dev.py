# ruff: noqa: D103 -- the names of the pools say what they make
"""Write the development split: `python generate_dev.py > dev.jsonl`.

The sentences stand in `dev_zh.txt` and `dev_en.txt`; the pools here fill their slots. Always the same bytes.
"""

from __future__ import annotations

import base64
import random
import sys
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

from markup import (
    Rounds,
    credit_code,
    digits,
    dump,
    grouped,
    iban,
    id_card,
    luhn_digit,
    mark,
    plain_decimal,
    short_id,
    wide,
)

RNG = random.Random(20240815)
REGIONS = (
    "110105",
    "110108",
    "310104",
    "120101",
    "310115",
    "440305",
    "330106",
    "320102",
    "510107",
    "420106",
    "610113",
    "370203",
    "210202",
    "350203",
    "430104",
)
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def some(alphabet: str, count: int) -> str:
    return "".join(RNG.choice(alphabet) for _ in range(count))


# ---- secrets


def mobile(write: Callable[[str], str]) -> Callable[[], str]:
    def make() -> str:
        n = "1" + RNG.choice("356789") + digits(RNG, 9)
        if n[:2] == "16":
            n = "166" + n[3:]
        if n[:2] == "17":
            n = "177" + n[3:]
        if n[:2] == "19":
            n = "199" + n[3:]
        if n[:2] in ("14", "15") and n[2] == "4":
            n = n[:2] + "8" + n[3:]
        return mark("mobile", n, write(n))

    return make


MOBILES = [
    *[mobile(lambda n: n)] * 6,
    mobile(lambda n: f"{n[:3]} {n[3:7]} {n[7:]}"),
    mobile(lambda n: f"{n[:3]}-{n[3:7]}-{n[7:]}"),
    mobile(lambda n: f"{n[:3]}.{n[3:7]}.{n[7:]}"),
    mobile(lambda n: f"+86 {n[:3]} {n[3:7]} {n[7:]}"),
    mobile(lambda n: f"+86{n}"),
    mobile(lambda n: f"+86-{n}"),
    mobile(lambda n: f"0086{n}"),
    mobile(lambda n: f"0086 {n[:3]}-{n[3:7]}-{n[7:]}"),
    mobile(lambda n: f"(86){n}"),
    mobile(lambda n: f"({n[:3]}){n[3:]}"),
    mobile(lambda n: wide(n)),
    mobile(lambda n: f"{n[:7]}\n{n[7:]}"),
    mobile(lambda n: f"{n[:3]}-{n[3:7]}-\n{n[7:]}"),
    mobile(lambda n: " ".join(n)),
]


def phone(write: Callable[[str], str], country: str, body: Callable[[], str]) -> Callable[[], str]:
    def make() -> str:
        n = body()
        return mark("phone", f"+{country}{n}", write(n))

    return make


def bj() -> str:
    return "10" + RNG.choice("568") + digits(RNG, 7)


def sh() -> str:
    return "21" + RNG.choice("56") + digits(RNG, 7)


def sz() -> str:
    return "755" + RNG.choice("28") + digits(RNG, 7)


def hz() -> str:
    return "571" + RNG.choice("8") + digits(RNG, 7)


def hk() -> str:
    return RNG.choice(("23", "25", "28")) + digits(RNG, 6)


def uk() -> str:
    return "2079460" + digits(RNG, 3)


def us() -> str:
    return RNG.choice(("212", "415", "617", "312")) + "5550" + RNG.choice("1") + digits(RNG, 2)


def sg() -> str:
    return "6" + RNG.choice("235") + digits(RNG, 6)


PHONES_ZH = [
    phone(lambda n: f"0{n[:2]}-{n[2:]}", "86", bj),
    phone(lambda n: f"0{n[:2]}-{n[2:6]} {n[6:]}", "86", sh),
    phone(lambda n: f"0{n[:2]} {n[2:]}", "86", bj),
    phone(lambda n: f"(0{n[:3]}) {n[3:7]} {n[7:]}", "86", sz),
    phone(lambda n: f"（0{n[:3]}）{n[3:]}", "86", hz),
    phone(lambda n: f"0{n[:3]}-{n[3:]}", "86", sz),
    phone(lambda n: f"{n[:3]}-{n[3:6]}-{n[6:]}", "86", lambda: "400" + RNG.choice("68") + digits(RNG, 6)),
    phone(lambda n: n, "86", lambda: "4008" + digits(RNG, 6)),
    phone(lambda n: f"{n[:3]}-{n[3:6]}-{n[6:]}", "86", lambda: "8008" + digits(RNG, 6)),
    phone(lambda n: f"+86 {n[:2]} {n[2:6]} {n[6:]}", "86", bj),
    phone(lambda n: f"+86-{n[:2]}-{n[2:]}", "86", sh),
    phone(lambda n: f"+852 {n[:4]} {n[4:]}", "852", hk),
    phone(lambda n: wide(f"0{n[:2]}-{n[2:]}"), "86", sh),
]
PHONES_EN = [
    phone(lambda n: f"+44 20 {n[2:6]} {n[6:]}", "44", uk),
    phone(lambda n: f"+1 {n[:3]}-{n[3:6]}-{n[6:]}", "1", us),
    phone(lambda n: f"+1 ({n[:3]}) {n[3:6]}-{n[6:]}", "1", us),
    phone(lambda n: f"+1.{n[:3]}.{n[3:6]}.{n[6:]}", "1", us),
    phone(lambda n: f"+65 {n[:4]} {n[4:]}", "65", sg),
    phone(lambda n: f"+852-{n[:4]}-{n[4:]}", "852", hk),
    phone(lambda n: f"+86 {n[:2]} {n[2:6]} {n[6:]}", "86", bj),
    phone(lambda n: f"+49 30 {n[2:]}", "49", lambda: "30" + RNG.choice("2345") + digits(RNG, 6)),
    phone(lambda n: f"+61 2 {n[1:5]} {n[5:]}", "61", lambda: "29" + RNG.choice("23") + digits(RNG, 6)),
]


def identity(write: Callable[[str], str], *, x: bool | None = None) -> Callable[[], str]:
    def make() -> str:
        n = id_card(RNG, REGIONS, x=x)
        return mark("id_card", n, write(n))

    return make


def old_identity() -> str:
    n = id_card(RNG, REGIONS)
    while n[6:8] != "19":
        n = id_card(RNG, REGIONS)
    return mark("id_card", n, short_id(n))


IDS = [
    *[identity(lambda n: n)] * 4,
    identity(lambda n: n, x=True),
    identity(lambda n: n.lower(), x=True),
    identity(lambda n: f"{n[:6]} {n[6:14]} {n[14:]}"),
    identity(lambda n: f"{n[:6]}-{n[6:14]}-{n[14:]}"),
    identity(lambda n: f"{n[:10]}\n{n[10:]}"),
    identity(wide),
    old_identity,
]


def serial(kind: str, shape: str) -> Callable[[], str]:
    """A number from a shape: 9 is any digit, @ any letter, all else stands for itself."""

    def make() -> str:
        n = "".join(digits(RNG, 1) if c == "9" else RNG.choice(LETTERS) if c == "@" else c for c in shape)
        return mark(kind, n.upper(), n)

    return make


PASSPORTS = [
    serial("passport", s) for s in ("E99999999", "E99999999", "EB9999999", "EJ9999999", "G99999999", "PE9999999")
]
PASSPORTS_EN = [
    *PASSPORTS[1:4],
    *(serial("passport", s) for s in ("@@9999999", "@9999999", "599999999", "499999999", "e99999999")),
]
HOME_RETURN = [serial("travel_permit", s) for s in ("H99999999", "M99999999", "H9999999901", "h99999999")]
TAIWAN_PERMIT = [serial("travel_permit", s) for s in ("09999999", "19999999", "0999999901")]
HK_PERMIT = [serial("travel_permit", "C99999999")]


def social(write: str) -> Callable[[], str]:
    def make() -> str:
        a, b, c = (
            f"{RNG.choice([*range(1, 665), *range(667, 899)]):03d}",
            f"{RNG.randrange(1, 99):02d}",
            f"{RNG.randrange(1, 9999):04d}",
        )
        return mark("social_security", a + b + c, write.format(a, b, c))

    return make


MAILS = [
    mark("email", "li.wei@huadong-capital.cn", "li.wei@huadong-capital.cn"),
    mark("email", "compliance@northgate.co.uk", "Compliance@Northgate.co.uk"),
    mark("email", "j.ferrero+kyc@example.com", "j.ferrero+kyc@example.com"),
    mark("email", "service@example.com.cn", "service＠example.com.cn"),
    mark("email", "ops.team@example.com", "ops.team [at] example.com"),
    mark("email", "audit@example.org", "audit(at)example.org"),
    mark("email", "zhou_min88@163.com", "zhou_min88@163.com"),
    mark("email", "1029384756@qq.com", "1029384756@qq.com"),
    mark("email", "first.last@sub.mail.example.net", "First.Last@Sub.Mail.example.net"),
    mark("email", "help-desk@fund.hk", "help-desk@fund.hk"),
    mark("email", "wang.fang@example.cn", "ｗａｎｇ．ｆａｎｇ＠ｅｘａｍｐｌｅ．ｃｎ"),
    mark("email", "billing@o-ring.io", "billing@o-ring.io"),
    mark("email", "dpo@example.eu", "DPO@EXAMPLE.EU"),
    mark("email", "x.tan@ledger.sg", "x.tan@ledger.sg"),
]

CARD_HEADS = (
    ("622202", 19),
    ("622848", 19),
    ("621700", 19),
    ("621226", 19),
    ("625912", 16),
    ("4", 16),
    ("4", 16),
    ("53", 16),
    ("37", 15),
)


def card(write: Callable[[str], str], heads: tuple[tuple[str, int], ...] = CARD_HEADS) -> Callable[[], str]:
    def make() -> str:
        head, length = RNG.choice(heads)
        n = head + digits(RNG, length - len(head) - 1)
        n += luhn_digit(n)
        return mark("bank_card", n, write(n))

    return make


SIXTEEN = (("4", 16), ("53", 16), ("625912", 16))
NINETEEN = (("622202", 19), ("622848", 19), ("621700", 19))
CARDS = [
    *[card(lambda n: n)] * 5,
    card(lambda n: grouped(n, 4, " "), SIXTEEN),
    card(lambda n: grouped(n, 4, " "), NINETEEN),
    card(lambda n: grouped(n, 4, "-"), SIXTEEN),
    card(lambda n: grouped(n, 4, "–"), SIXTEEN),
    card(lambda n: f"{n[:8]}\n{n[8:]}", SIXTEEN),
    card(lambda n: f"{n[:6]} {n[6:]}", NINETEEN),
    card(lambda n: f"{n[:4]} {n[4:10]} {n[10:]}", (("37", 15),)),
    card(wide, SIXTEEN),
]


def account(country: str, shape: str, write: Callable[[str], str]) -> Callable[[], str]:
    def make() -> str:
        n = iban(
            country, "".join(digits(RNG, 1) if c == "9" else RNG.choice(LETTERS) if c == "@" else c for c in shape)
        )
        return mark("iban", n, write(n))

    return make


IBANS = [
    account("DE", "370400449999999999", lambda n: grouped(n, 4, " ")),
    account("GB", "NWBK60161399999999", lambda n: n),
    account("NL", "ABNA0999999999", lambda n: grouped(n, 4, " ")),
    account("CH", "00762999999999999", lambda n: n),
    account("LU", "0019400644750000", lambda n: grouped(n, 4, " ")),
    account("AT", "1904399999999999", lambda n: n),
    account("IE", "AIBK93115299999999", lambda n: grouped(n, 4, " ")),
]

CODES = [lambda: mark("credit_code", c := credit_code(RNG, REGIONS), c)] * 4 + [
    lambda: mark("credit_code", c := credit_code(RNG, REGIONS, ("91", "92", "12", "52")), c),
    lambda: mark("credit_code", c := credit_code(RNG, REGIONS), wide(c)),
]


def plate(head: str, shape: str, gap: str = "", tail: str = "") -> Callable[[], str]:
    def make() -> str:
        n = "".join(digits(RNG, 1) if c == "9" else RNG.choice(LETTERS) if c == "@" else c for c in shape)
        return mark("plate", head + n + tail, head + gap + n + tail)

    return make


PLATES = [
    plate("京A", "99999", "·"),
    plate("沪C", "@9999"),
    plate("粤B", "D99999"),
    plate("苏E", "99999F"),
    plate("浙A", "9@999", " "),
    plate("川A", "99@99", "•"),
    plate("京A", "9999", "", "警"),
    plate("粤Z", "9999", "", "港"),
    plate("粤Z", "9999", "·", "澳"),
    plate("鲁B", "9999", "", "学"),
    plate("冀D", "9999", "", "挂"),
    plate("沪A", "9999", "", "领"),
    plate("陕A", "AD9999"),
]

ADDRESSES_ZH = [
    "上海市浦东新区世纪大道1288号12楼1203室",
    "北京市朝阳区建国路93号院6号楼1501室",
    "深圳市福田区深南大道4009号投资大厦17层",
    "浙江省杭州市西湖区文三路478号华星时代广场A座806室",
    "广州市天河区珠江新城华夏路30号",
    "四川省成都市武侯区天府大道中段666号",
    "江苏省南京市鼓楼区中山北路105号3幢502室",
    "武汉市洪山区珞喻路1037号",
    "陕西省西安市雁塔区高新路25号瑞欣大厦1002室",
    "青岛市市南区香港中路61号乙",
    "天津市和平区南京路189号津汇广场2座1808室",
    "重庆市渝中区民族路188号环球金融中心42楼",
    "厦门市思明区湖滨南路57号",
    "福建省福州市台江区江滨西大道100号融侨中心15层",
    "苏州市工业园区星湖街328号创意产业园5栋301室",
    "长沙市岳麓区枫林三路1099号",
    "大连市中山区人民路23号虹源大厦905室",
    "广东省东莞市南城街道鸿福路92号",
    "沈阳市和平区太原南街18号甲1单元702室",
]
ADDRESSES_EN = [
    "221B Baker Street, London NW1 6XE",
    "1600 Amphitheatre Parkway, Mountain View, CA 94043",
    "350 Fifth Avenue, Suite 4100, New York, NY 10118",
    "42 Harbour Road, Wan Chai, Hong Kong",
    "10 Downing Street, London SW1A 2AA",
    "77 Massachusetts Avenue, Cambridge, MA 02139",
    "500 Howard Street, 6th Floor, San Francisco, CA 94105",
    "18 Robinson Road, Singapore 048547",
    "9 Lime Street, London EC3M 7AA",
    "2101 West Camden Lane, Austin, TX 78704",
    "64 Kestrel Drive, Apt 12B, Denver, CO 80202",
    "1 Finsbury Square",
    "815 Oak Boulevard, Portland, OR 97205",
    "27 St. Giles Court, Oxford OX1 3LB",
]


def spread(address: str) -> Callable[[], str]:
    return lambda: mark("address", address, address)


def b64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def jwt() -> str:
    head = b64('{"alg":"HS256","typ":"JWT"}')
    body = b64(f'{{"sub":"{digits(RNG, 8)}","iat":17{digits(RNG, 8)}}}')
    return f"{head}.{body}.{some(ALNUM + '-_', 42)}M"


def key(make: Callable[[], str]) -> Callable[[], str]:
    def write() -> str:
        k = make()
        return mark("api_key", k, k)

    return write


def pem() -> str:
    lines = "\n".join(some(ALNUM + "+/", 48) for _ in range(3))
    return f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----"


KEYS = [
    key(lambda: "sk-" + some(ALNUM, 48)),
    key(lambda: "sk-proj-" + some(ALNUM, 40)),
    key(lambda: "AKIA" + some("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
    key(lambda: "ghp_" + some(ALNUM, 36)),
    key(lambda: f"xoxb-{digits(RNG, 12)}-{digits(RNG, 12)}-{some(ALNUM, 24)}"),
    key(lambda: "AIza" + some(ALNUM, 35)),
    key(jwt),
]
ENTROPY = [
    key(lambda: some(ALNUM, 32)),
    key(lambda: some("0123456789abcdef", 40)),
    key(lambda: some(ALNUM, 24)),
    key(lambda: some(ALNUM + "_-", 27) + "k9Q"),
]

NAMES_ZH = [
    "张伟",
    "王芳",
    "李娜",
    "刘洋",
    "陈静",
    "杨帆",
    "赵敏",
    "黄磊",
    "周杰",
    "吴倩",
    "徐丽华",
    "孙志强",
    "马晓东",
    "朱雅琴",
    "胡建国",
    "郭子豪",
    "何思远",
    "高美玲",
    "林国栋",
    "罗佳怡",
    "郑海涛",
    "梁永红",
    "谢文博",
    "宋雨桐",
    "唐振宇",
    "许嘉敏",
    "韩雪",
    "冯立新",
    "曹志远",
    "彭丽娟",
    "曾庆华",
    "萧逸",
    "田甜",
    "董俊杰",
    "袁梦",
    "潘玉莲",
    "于洪波",
    "蒋欣怡",
    "蔡明辉",
    "余晓琳",
    "杜鹏程",
    "叶青",
    "程海燕",
    "苏婉清",
    "魏国强",
    "吕思思",
    "丁一鸣",
    "任宏伟",
    "沈佩文",
    "欧阳文静",
    "司马长风",
    "诸葛明亮",
    "上官婉秋",
]
NAMES_EN = [
    "Daniel Whitmore",
    "Sarah Lindqvist",
    "Michael O'Connor",
    "Priya Raghavan",
    "Hannah Becker",
    "Tomás Herrera",
    "Emily Zhang",
    "Robert J. Castellano",
    "Fatima Al-Sayed",
    "Grace Oyelaran",
    "Ingrid Thorsen",
    "David Kim",
    "Laura Bianchi",
    "Samuel Adeyemi",
    "Charlotte Dubois",
    "Marcus Vandermeer",
    "Mei-Ling Chow",
    "Peter Novak",
    "Aisha Rahman",
    "George Papadakis",
]


def named(name: str) -> str:
    return mark("person", name, name)


def listed(first: str, *others: str) -> list[str]:
    return [mark("person", first, n) for n in (first, *others)]


# ---- values


def num(lo: int, hi: int, places: int) -> Decimal:
    return Decimal(RNG.randrange(lo * 10**places, hi * 10**places)) / 10**places


def commas(value: Decimal, places: int) -> str:
    return f"{value:,.{places}f}"


def amount(
    currency: str, scale: int, write: str, lo: int, hi: int, places: int, *, group: bool = False, full: bool = False
) -> Callable[[], str]:
    def make() -> str:
        n = num(lo, hi, places)
        figure = commas(n, places) if group else f"{n:.{places}f}"
        surface = write.format(figure)
        return mark("amount", f"{currency} {plain_decimal(n * scale)}", wide(surface) if full else surface)

    return make


AMOUNTS_ZH = [
    amount("CNY", 10**8, "{}亿元", 1, 90, 2),
    amount("CNY", 10**8, "{} 亿元", 1, 90, 1),
    amount("CNY", 10**8, "人民币{}亿元", 1, 90, 2),
    amount("CNY", 10**4, "{}万元", 10, 900, 1),
    amount("CNY", 10**4, "{}万元", 1000, 9000, 0, group=True),
    amount("CNY", 1, "{}元", 1000, 90000, 2, group=True),
    amount("CNY", 1, "{}元", 100, 900, 0),
    amount("CNY", 1, "￥{}", 1000, 90000, 2, group=True),
    amount("CNY", 1, "¥{}", 100, 9000, 2),
    amount("CNY", 10**6, "{}百万元", 2, 90, 1),
    amount("CNY", 10**4, "RMB {}万元", 10, 900, 0),
    amount("USD", 10**4, "{}万美元", 10, 900, 0),
    amount("USD", 10**8, "{}亿美元", 1, 30, 1),
    amount("HKD", 10**4, "{}万港元", 10, 900, 0),
    amount("EUR", 10**4, "{}万欧元", 10, 900, 0),
    amount("JPY", 10**8, "{}亿日元", 2, 90, 0),
    amount("CNY", 1, "{}元", 1000, 90000, 0, full=True),
    amount("CNY", 10**8, "{}亿元", 1, 90, 2, full=True),
    mark("amount", "CNY 123", "壹佰贰拾叁元整"),
    mark("amount", "CNY 50000", "伍万元整"),
    mark("amount", "CNY 1200000", "人民币壹佰贰拾万元整"),
    mark("amount", "CNY 30000000", "三千万元"),
    mark("amount", "CNY 250000000", "两亿五千万元"),
]
AMOUNTS_EN = [
    amount("CNY", 10**6, "RMB {} million", 2, 900, 0),
    amount("CNY", 10**9, "RMB {} billion", 2, 90, 1),
    amount("CNY", 1, "RMB {}", 1000, 900000, 0, group=True),
    amount("USD", 1000, "US${}k", 2, 900, 0),
    amount("USD", 10**6, "${} million", 2, 900, 1),
    amount("USD", 10**9, "${}bn", 1, 60, 1),
    amount("USD", 1, "${}", 1000, 900000, 2, group=True),
    amount("USD", 10**6, "USD {}m", 2, 90, 0),
    amount("EUR", 1, "€{}", 1000, 900000, 0, group=True),
    amount("EUR", 10**6, "{} million euros", 2, 90, 0),
    amount("GBP", 10**6, "£{}m", 2, 90, 1),
    amount("HKD", 10**6, "HK${} million", 2, 90, 0),
    amount("JPY", 10**9, "JPY {} billion", 2, 90, 0),
    amount("CHF", 1, "CHF {}", 1000, 90000, 2, group=True),
    amount("SGD", 1, "S${}", 1000, 90000, 0, group=True),
    amount("INR", 10**7, "{} crore rupees", 2, 90, 0),
    amount("USD", 10**6, "{} million US dollars", 2, 90, 1),
    amount("USD", 1, "{} dollars", 1000, 9000, 0, group=True),
    amount("GBP", 1, "GBP {}", 1000, 90000, 0, group=True),
]


def percent(write: str, lo: int, hi: int, places: int, *, full: bool = False) -> Callable[[], str]:
    def make() -> str:
        n = num(lo, hi, places)
        surface = write.format(f"{n:.{places}f}")
        return mark("percent", f"{plain_decimal(n)}%", wide(surface) if full else surface)

    return make


PERCENTS_ZH = [
    *[percent("{}%", 1, 90, 2)] * 3,
    percent("{}%", 1, 90, 1),
    percent("{}%", 1, 90, 0),
    percent("{} %", 1, 90, 1),
    percent("{}%", 1, 90, 1, full=True),
    mark("percent", "5.2%", "百分之五点二"),
    mark("percent", "12%", "百分之十二"),
    mark("percent", "30%", "三成"),
    mark("percent", "0.3%", "3‰"),
]
PERCENTS_EN = [
    *[percent("{}%", 1, 90, 2)] * 3,
    percent("{}%", 1, 90, 0),
    percent("{} %", 1, 90, 1),
    percent("{} per cent", 1, 90, 1),
    percent("{} percent", 1, 90, 0),
]


def rel_day(write: Callable[[date], str]) -> Callable[[], str]:
    def make() -> str:
        d = date(2019, 1, 1) + timedelta(days=RNG.randrange(2100))
        return mark("date", d.isoformat(), write(d))

    return make


MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
HAN = dict(zip("0123456789", "〇一二三四五六七八九", strict=True))


def han_small(n: int) -> str:
    tens, ones = divmod(n, 10)
    one = "" if ones == 0 else HAN[str(ones)]
    return one if tens == 0 else ("十" if tens == 1 else HAN[str(tens)] + "十") + one


DATES_ZH = [
    *[rel_day(lambda d: f"{d.year}年{d.month}月{d.day}日")] * 3,
    rel_day(lambda d: f"{d.year} 年 {d.month} 月 {d.day} 日"),
    rel_day(lambda d: f"{d.year}年{d.month:02d}月{d.day:02d}日"),
    rel_day(lambda d: d.isoformat()),
    rel_day(lambda d: f"{d.year}/{d.month}/{d.day}"),
    rel_day(lambda d: f"{d.year}.{d.month:02d}.{d.day:02d}"),
    rel_day(lambda d: "".join(HAN[c] for c in str(d.year)) + f"年{han_small(d.month)}月{han_small(d.day)}日"),
    rel_day(lambda d: wide(f"{d.year}年{d.month}月{d.day}日")),
]
DATES_EN = [
    rel_day(lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}"),
    rel_day(lambda d: f"{d.day} {MONTHS[d.month - 1]} {d.year}"),
    rel_day(lambda d: d.isoformat()),
    rel_day(lambda d: f"{d.year}/{d.month:02d}/{d.day:02d}"),
    rel_day(lambda d: f"{d.day} {MONTHS[d.month - 1][:3]} {d.year}"),
    rel_day(lambda d: f"{MONTHS[d.month - 1][:3]} {d.day}, {d.year}"),
]

PERIODS_ZH = [
    mark("period", "2024Q3", "2024年第三季度"),
    mark("period", "2023Q1", "2023年一季度"),
    mark("period", "2022Q4", "2022年第4季度"),
    mark("period", "2024H1", "2024年上半年"),
    mark("period", "2023H2", "2023年下半年"),
    mark("period", "2023", "2023年度"),
    mark("period", "2022", "2022年"),
    mark("period", "2024-05", "2024年5月"),
    mark("period", "2023-11", "2023年11月"),
    mark("period", "2021", "2021财年"),
    mark("period", "2024Q2", "2024Q2"),
    mark("period", "2024-07/2024-08", "2024年7月至8月"),
    mark("period", "2024Q3", "2024年7月至9月"),
    mark("period", "2024H1", "2024年1-6月"),
    mark("period", "2024", "二〇二四年"),
]
PERIODS_EN = [
    mark("period", "2024Q3", "Q3 2024"),
    mark("period", "2024Q3", "3Q24"),
    "the " + mark("period", "2024Q1", "first quarter of 2024"),
    mark("period", "2023H1", "H1 2023"),
    mark("period", "2024H1", "1H24"),
    "the " + mark("period", "2023H2", "second half of 2023"),
    mark("period", "2024", "FY2024"),
    mark("period", "2022", "fiscal year 2022"),
    mark("period", "2023-10", "October 2023"),
    mark("period", "2024-02", "February 2024"),
    mark("period", "2022Q2", "2022Q2"),
    "the " + mark("period", "2024Q2", "second quarter of 2024"),
]

DURATIONS_ZH = [
    mark("duration", "P3Y", "3年"),
    mark("duration", "P5Y", "五年"),
    mark("duration", "P6M", "6个月"),
    mark("duration", "P18M", "18个月"),
    mark("duration", "P30D", "30天"),
    mark("duration", "P15D", "15天"),
    mark("duration", "P14D", "两周"),
    mark("duration", "PT48H", "48小时"),
    mark("duration", "PT90M", "90分钟"),
    mark("duration", "P3M", "三个月"),
    mark("duration", "P90D", "九十天"),
]
DURATIONS_EN = [
    mark("duration", "P3Y", "three years"),
    mark("duration", "P5Y", "5 years"),
    mark("duration", "P6M", "six months"),
    mark("duration", "P18M", "18 months"),
    mark("duration", "P30D", "30 days"),
    mark("duration", "P30D", "thirty days"),
    mark("duration", "P14D", "two weeks"),
    mark("duration", "PT48H", "48 hours"),
    mark("duration", "PT90M", "90 minutes"),
    mark("duration", "P45D", "45 days"),
]

URLS = [
    mark("url", "https://www.example.com/a?b=1", "https://www.Example.com/a?b=1"),
    mark("url", "www.example.com", "www.example.com"),
    mark("url", "https://portal.example.cn/kyc/upload", "https://portal.example.cn/kyc/upload"),
    mark(
        "url",
        "http://intranet.example.org:8080/wiki/Risk_Policy#s2",
        "http://intranet.example.org:8080/wiki/Risk_Policy#s2",
    ),
    mark(
        "url",
        "https://api.example.io/v2/accounts?limit=50&page=3",
        "https://api.example.io/v2/accounts?limit=50&page=3",
    ),
    mark("url", "www.huadong-capital.cn/notice/2024", "www.Huadong-Capital.cn/notice/2024"),
    mark("url", "https://status.example.net", "https://status.example.net"),
]
IPS = [
    mark("ip_address", "192.168.0.1", "192.168.0.1"),
    mark("ip_address", "10.24.8.113", "10.24.8.113"),
    mark("ip_address", "203.0.113.57", "203.0.113.57"),
    mark("ip_address", "172.16.254.3", "172.16.254.3"),
    mark("ip_address", "2001:db8::1", "2001:db8::1"),
    mark("ip_address", "2001:db8::ff00:42:8329", "2001:0db8:0000:0000:0000:ff00:0042:8329"),
    mark("ip_address", "fe80::1ff:fe23:4567:890a", "FE80::1FF:FE23:4567:890A"),
    mark("ip_address", "198.51.100.24", "198.51.100.24"),
]

POOLS: dict[str, list[Callable[[], str] | str]] = {
    "mobile": [*MOBILES],
    "phone_zh": [*PHONES_ZH],
    "phone_en": [*PHONES_EN],
    "id_card": [*IDS],
    "passport_zh": [*PASSPORTS],
    "passport_en": [*PASSPORTS_EN],
    "home_return": [*HOME_RETURN],
    "tw_permit": [*TAIWAN_PERMIT],
    "hk_permit": [*HK_PERMIT],
    "ssn": [social("{0}-{1}-{2}")],
    "email": [*MAILS],
    "bank_card": [*CARDS],
    "card": [card(lambda n: n)],
    "iban": [*IBANS],
    "credit_code": [*CODES],
    "plate": [*PLATES],
    "address_zh": [*(spread(a) for a in ADDRESSES_ZH)],
    "address_en": [*(spread(a) for a in ADDRESSES_EN)],
    "api_key": [*KEYS],
    "entropy": [*ENTROPY],
    "pem": [key(pem)],
    "name_zh": [*(named(n) for n in NAMES_ZH)],
    "name_en": [*(named(n) for n in NAMES_EN)],
    "listed_zh": [
        *listed("慕容雪晴"),
        *listed("钱有余", "錢有餘"),
        *listed("温若兰", "溫若蘭"),
        *listed("贺铁山", "賀鐵山"),
        *listed("Tobias Brandl", "托比亚斯·布兰德尔")[1:],
    ],
    "listed_en": [
        *listed("慕容雪晴", "Shirley Murong", "Murong Xueqing")[1:],
        *listed("钱有余", "Qian Youyu")[1:],
        *listed("温若兰", "Wen Ruolan", "Rowan Wen")[1:],
        *listed("贺铁山", "He Tieshan")[1:],
        *listed("Katarzyna Wiśniewska", "Kasia Wiśniewska"),
        *listed("Tobias Brandl", "T. Brandl"),
    ],
    "firm_zh": [
        *(mark("entity", "ENT-HUAZE", n) for n in ("华泽精密制造股份有限公司", "華澤精密製造股份有限公司", "华泽精密")),
        *(mark("entity", "ENT-YUNLAN", n) for n in ("云岚基金管理有限公司", "雲嵐基金管理有限公司", "云岚基金")),
        *(mark("entity", "ENT-BEICHEN", n) for n in ("北宸证券股份有限公司", "北宸證券", "北宸证券")),
        *(mark("entity", "ENT-LINHAI", n) for n in ("临海远航物流有限公司", "远航物流")),
        *(mark("entity", "ENT-OSTREX", n) for n in ("奥斯特雷克斯控股", "Ostrex")),
    ],
    "firm_en": [
        *(mark("entity", "ENT-HUAZE", n) for n in ("Huaze Precision Manufacturing Co., Ltd.", "Huaze Precision")),
        *(mark("entity", "ENT-YUNLAN", n) for n in ("Yunlan Fund Management Co., Ltd.", "Yunlan Funds")),
        *(mark("entity", "ENT-BEICHEN", n) for n in ("Beichen Securities Co., Ltd.", "Beichen Securities")),
        *(mark("entity", "ENT-LINHAI", n) for n in ("Linhai Voyager Logistics Ltd.", "Voyager Logistics")),
        *(mark("entity", "ENT-OSTREX", n) for n in ("Ostrex Holdings plc", "Ostrex Holdings", "Ostrex")),
    ],
    "amount_zh": [*AMOUNTS_ZH],
    "amount_en": [*AMOUNTS_EN],
    "percent_zh": [*PERCENTS_ZH],
    "percent_en": [*PERCENTS_EN],
    "date_zh": [*DATES_ZH],
    "date_en": [*DATES_EN],
    "period_zh": [*PERIODS_ZH],
    "period_en": [*PERIODS_EN],
    "duration_zh": [*DURATIONS_ZH],
    "duration_en": [*DURATIONS_EN],
    "url": [*URLS],
    "ip": [*IPS],
    "c": [mark("customer_risk", f"C{i}", s) for i in range(1, 6) for s in (f"C{i}", f"C{i}")],
    "r": [mark("fund_risk", f"R{i}", s) for i in range(1, 6) for s in (f"R{i}", f"R{i}")],
    "rating": [
        mark("credit_rating", r, r)
        for r in ("AAA", "AA+", "AA", "AA-", "A+", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "B+", "CCC")
    ],
    "d": [mark("deposit_line", f"D{i}", f"D{i}") for i in range(1, 5)],
}
POOLS["c_zh"] = [*POOLS["c"], *(mark("customer_risk", f"C{i}", f"C{i}级") for i in range(1, 6))]
POOLS["r0"] = POOLS["r"]
POOLS["r_zh"] = [
    *POOLS["r"],
    *(mark("fund_risk", f"R{i}", f"R{i}级") for i in range(1, 6)),
    mark("fund_risk", "R2", "PR2"),
]


def sentences(path: Path, lang: str, rounds: Rounds) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Read a sentence file: `@times n`, `@base date|-` and `@note text|-` hold until they are set again."""
    times, base, note = 1, None, None
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("@"):
            word, _, value = line[1:].partition(" ")
            if word == "times":
                times = int(value)
            elif word == "base":
                base = None if value == "-" else value
            elif word == "note":
                note = None if value == "-" else value
            else:
                raise ValueError(line)
            continue
        for _ in range(times if "{" in line else 1):
            yield lang, rounds.fill(line.replace("\\n", "\n"), lang), base, note


def main() -> str:
    """The whole split, the two languages taking turns in blocks as they stand in the files."""
    here = Path(__file__).parent
    rounds = Rounds(POOLS, RNG)
    rows = [*sentences(here / "dev_zh.txt", "zh", rounds), *sentences(here / "dev_en.txt", "en", rounds)]
    return dump("dev", rows)


if __name__ == "__main__":
    sys.stdout.buffer.write(main().encode("utf-8"))
