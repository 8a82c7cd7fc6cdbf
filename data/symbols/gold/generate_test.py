# ruff: noqa: D103 -- the names of the makers say what they make
"""Write the held-out split: `python generate_test.py > test.jsonl`.

Sentences come from `test_zh.txt` and `test_en.txt`, one a line, with directives in square brackets; slots are written
`{kind}`. Nothing here is taken from the development split but the markup and the check digits.
"""

from __future__ import annotations

import random
import string
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

from markup import Rounds, credit_code, dump, iban, id_card, luhn_digit, mark, plain_decimal, short_id, wide

DICE = random.Random("held out, spring")
PLACES = (
    "110101",
    "120101",
    "310101",
    "320106",
    "330102",
    "410102",
    "440106",
    "530102",
    "230102",
    "620102",
    "360102",
    "450102",
)


def shape(pattern: str, letters: str = "ABCDEFGHJKLMNPQRSTUVWXYZ") -> str:
    """`#` is any digit, `?` any letter of those given, `*` a letter or digit, all else itself."""
    pick = {"#": string.digits, "?": letters, "*": string.ascii_letters + string.digits}
    return "".join(DICE.choice(pick[c]) if c in pick else c for c in pattern)


def cut(text: str, sizes: str, gap: str) -> str:
    """Part a text into pieces of the sizes given."""
    out, at = [], 0
    for size in sizes:
        out.append(text[at : at + int(size)])
        at += int(size)
    return gap.join([*out, text[at:]] if at < len(text) else out)


def cell(how: Callable[[str], str]) -> Callable[[], str]:
    def make() -> str:
        n = shape(
            DICE.choice((
                "130",
                "132",
                "135",
                "137",
                "139",
                "150",
                "152",
                "157",
                "158",
                "176",
                "178",
                "181",
                "182",
                "186",
                "191",
            ))
            + "########"
        )
        return mark("mobile", n, how(n))

    return make


def line(country: str, pattern: str, how: str) -> Callable[[], str]:
    """A telephone: the pattern gives the national number, `how` takes its digits one by one for each `#`."""

    def make() -> str:
        n = shape(pattern)
        rest = iter(n)
        return mark("phone", f"+{country}{n}", "".join(next(rest) if c == "#" else c for c in how))

    return make


def citizen(how: Callable[[str], str], *, x: bool | None = None) -> Callable[[], str]:
    def make() -> str:
        n = id_card(DICE, PLACES, x=x)
        return mark("id_card", n, how(n))

    return make


def citizen_of_old() -> str:
    n = id_card(DICE, PLACES)
    while n[6] != "1":
        n = id_card(DICE, PLACES)
    return mark("id_card", n, short_id(n))


def paper(kind: str, pattern: str) -> Callable[[], str]:
    def make() -> str:
        n = shape(pattern)
        return mark(kind, n, n)

    return make


def plastic(pattern: str, sizes: str = "", gap: str = "") -> Callable[[], str]:
    def make() -> str:
        n = shape(pattern)
        n += luhn_digit(n)
        return mark("bank_card", n, cut(n, sizes, gap) if sizes else n)

    return make


def giro(country: str, pattern: str, gap: str) -> Callable[[], str]:
    def make() -> str:
        n = iban(country, shape(pattern))
        return mark("iban", n, cut(n, "4" * (len(n) // 4), gap))

    return make


def car(text: str, gap: str = "") -> Callable[[], str]:
    def make() -> str:
        n = shape(text)
        return mark("plate", n, n[:2] + gap + n[2:])

    return make


def ssn() -> str:
    n = (
        f"{DICE.choice([7, 78, 212, 305, 418, 533, 601, 689, 752])}".zfill(3)
        + f"{DICE.randrange(10, 99)}{DICE.randrange(1000, 9999)}"
    )
    return mark("social_security", n, f"{n[:3]}-{n[3:5]}-{n[5:]}")


def token(pattern: str) -> Callable[[], str]:
    def make() -> str:
        n = shape(pattern)
        return mark("api_key", n, n)

    return make


def pem(kind: str) -> Callable[[], str]:
    def make() -> str:
        n = "\n".join((
            f"-----BEGIN {kind}PRIVATE KEY-----",
            shape("*" * 64),
            shape("*" * 40) + "==",
            f"-----END {kind}PRIVATE KEY-----",
        ))
        return mark("api_key", n, n)

    return make


def said(kind: str, *pairs: str) -> list[str]:
    """Fixed writings, `normal=surface` or the surface alone where both are the same."""
    return [mark(kind, *(p.split("=", 1) if "=" in p else (p, p))) for p in pairs]


def money(code: str, scale: int, *forms: str, places: int = 0, below: int = 900) -> list[Callable[[], str]]:
    def one(form: str) -> Callable[[], str]:
        def make() -> str:
            n = Decimal(DICE.randrange(11, below * 10**places)) / 10**places
            return mark("amount", f"{code} {plain_decimal(n * scale)}", form.replace("#", f"{n:,.{places}f}"))

        return make

    return [one(form) for form in forms]


def share(*forms: str, places: int) -> list[Callable[[], str]]:
    def one(form: str) -> Callable[[], str]:
        def make() -> str:
            n = Decimal(DICE.randrange(1, 70 * 10**places)) / 10**places
            return mark("percent", f"{plain_decimal(n)}%", form.replace("#", f"{n:.{places}f}"))

        return make

    return [one(form) for form in forms]


def spelled_dates(*forms: str) -> list[Callable[[], str]]:
    names = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    full = (
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
    )

    def one(form: str) -> Callable[[], str]:
        def make() -> str:
            y, m, d = (
                DICE.randrange(2016, 2025),
                DICE.randrange(1, 13),
                DICE.choice((13, 14, 15, 16, 17, 18, 19, 20, 24, 25, 26, 27, 28)),
            )
            surface = form.format(y=y, m=m, d=d, n=names[m - 1], full=full[m - 1])
            return mark("date", f"{y}-{m:02d}-{d:02d}", wide(surface[1:]) if form[0] == "W" else surface)

        return make

    return [one(form) for form in forms]


MAKERS: dict[str, list[Callable[[], str] | str]] = {
    "cell": [
        *[cell(str)] * 4,
        cell(lambda n: cut(n, "38", " ")),
        cell(lambda n: cut(n, "38", "-")),
        cell(lambda n: cut(n, "344", "－")),
        cell(lambda n: wide(n)),
        cell(lambda n: wide(cut(n, "344", " "))),
        cell(lambda n: f"+86 {n}"),
        cell(lambda n: f"+86 {cut(n, '344', '-')}"),
        cell(lambda n: f"0086-{n}"),
        cell(lambda n: f"（86）{n}"),
        cell(lambda n: f"(86) {cut(n, '344', ' ')}"),
        cell(lambda n: cut(n, "38", "\n")),
        cell(lambda n: cut(n, "344", ".")),
        cell(lambda n: cut(n, "1" * 11, " ")),
        cell(lambda n: f"({n[:3]}) {n[3:]}"),
    ],
    "line_zh": [
        line("86", "208#######", "0##-########"),
        line("86", "2988######", "0## ########"),
        line("86", "51268######", "0###-#### ####"),
        line("86", "57187######", "（0###）########"),
        line("86", "2885######", "(0##)########"),
        line("86", "400820####", "### ### ####"),
        line("86", "400650####", "####-###-###"),
        line("86", "800830####", "###-###-####"),
        line("86", "2158######", "+86(##)########"),
        line("86", "75586######", "+86 ###-####-####"),
        line("852", "2868####", "+852-########"),
        line("886", "22345####", "+886 # #### ####"),
    ],
    "line_en": [
        line("33", "142685###", "+33 # ## ## ## ##"),
        line("81", "35234####", "+81 # #### ####"),
        line("44", "161496####", "+44 ### ### ####"),
        line("1", "617555013#", "+1 ### ### ####"),
        line("1", "3125550142", "+1-###-###-####"),
        line("49", "89321###", "+49 ## ######"),
        line("41", "442345###", "+41 ## ### ## ##"),
        line("65", "6225####", "+65########"),
        line("86", "2158######", "+86-##-########"),
        line("31", "20794####", "+31 ## ### ####"),
    ],
    "citizen": [
        *[citizen(str)] * 3,
        citizen(str, x=True),
        citizen(lambda n: n.replace("X", "x"), x=True),
        citizen(lambda n: cut(n, "644", " ")),
        citizen(lambda n: cut(n, "68", "-")),
        citizen(lambda n: cut(n, "6", "\n")),
        citizen(lambda n: wide(n)),
        citizen_of_old,
        citizen_of_old,
    ],
    "passport_zh": [
        paper("passport", p) for p in ("E########", "EC#######", "EG#######", "SE#######", "G########", "D########")
    ],
    "passport_en": [
        paper("passport", p) for p in ("?#######", "??######", "??#######", "31#######", "EF#######", "E########")
    ],
    "permit_home": [paper("travel_permit", p) for p in ("H########", "M########", "M##########")],
    "permit_tw": [paper("travel_permit", p) for p in ("0#######", "2#######", "03########")],
    "permit_out": [paper("travel_permit", "C########")],
    "ssn": [ssn],
    "mail": said(
        "email",
        "claims@songhe-ins.example.com",
        "hr.shared@example.net",
        "v.petrenko@example.org=V.Petrenko@example.org",
        "tender2024@example.cn=tender2024＠example.cn",
        "dock-4@port.example.com=dock-4 [at] port.example.com",
        "legal@example.co=legal(at)example.co",
        "88512307@qq.com",
        "m_lin@vip.126.com",
        "a.b-c_d+tag@mail.example.de",
        "office@example.fr=OFFICE@Example.FR",
        "nora@fjord.no",
        "payroll@example.com=ｐａｙｒｏｌｌ＠example.com",
    ),
    "plastic": [
        *[plastic("62170" + "#" * 13)] * 2,
        plastic("6214" + "#" * 11),
        plastic("4" + "#" * 14),
        plastic("51" + "#" * 13),
        plastic("621661" + "#" * 12, "4444", " "),
        plastic("4" + "#" * 14, "4444", "-"),
        plastic("55" + "#" * 13, "4444", " "),
        plastic("3530" + "#" * 11, "4444", " "),
        plastic("34" + "#" * 12, "465", "-"),
        plastic("6011" + "#" * 11, "4444", "–"),
        plastic("6217" + "#" * 14, "8", "\n"),
    ],
    "giro": [
        giro("SE", "500000000583########", ""),
        giro("DK", "0040044#######", " "),
        giro("FI", "1234560000####", ""),
        giro("SA", "80000000608010######", " "),
        giro("AE", "0331234567890######", ""),
        giro("DE", "50010517##########", " "),
        giro("GB", "BARC20############", " "),
    ],
    "licence": [
        *[lambda: mark("credit_code", c := credit_code(DICE, PLACES), c)] * 3,
        lambda: mark("credit_code", c := credit_code(DICE, PLACES, ("91", "93", "31", "53")), c),
        lambda: mark("credit_code", c := credit_code(DICE, PLACES), wide(c)),
    ],
    "car": [
        car("湘A#####", "·"),
        car("闽D?####"),
        car("云A#??##", " "),
        car("辽B####?", "·"),
        car("豫AF#####"),
        car("皖B#####D"),
        car("粤Z####港", "·"),
        car("津C####学"),
        car("吉A####警"),
        car("赣F####挂"),
        car("沪A####领"),
        car("渝D##?##"),
    ],
    "key": [
        token("sk-" + "*" * 44),
        token("sk-ant-" + "*" * 36),
        token("AKIA5????3?????7????"),
        token("ghp_" + "*" * 36),
        token("xoxb-###########-############-" + "*" * 24),
        token("AIza" + "*" * 35),
        token("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI" + "*" * 22 + "." + "*" * 48),
    ],
    "random": [token("*" * 22), token("*" * 40), token("###" + "*" * 30 + "7Kq"), token("****-******_**********Zx8")],
    "pem": [pem("RSA "), pem("EC "), pem("")],
    "site_zh": said(
        "address",
        "湖南省长沙市芙蓉区五一大道717号",
        "昆明市五华区青年路448号华尔贝大厦12层",
        "河南省郑州市金水区花园路39号院2号楼3单元501室",
        "哈尔滨市道里区中央大街69号",
        "宁波市鄞州区百丈东路1188号4幢1602室",
        "江西省南昌市东湖区八一大道357号财富广场B座2010室",
        "无锡市滨湖区太湖西大道2188号",
        "兰州市城关区东岗西路226号7楼",
        "贵州省贵阳市云岩区中华北路110号附3号",
        "珠海市香洲区情侣中路47号怡景湾大厦903室",
        "石家庄市长安区建设北大街5号",
        "广西壮族自治区南宁市青秀区民族大道131号航洋国际城2号楼1806室",
        "佛山市顺德区大良街道新城路12号",
    ),
    "site_en": said(
        "address",
        "118 Pilgrim Street, Newcastle upon Tyne NE1 6SQ",
        "4400 Sycamore Avenue, Madison, WI 53714",
        "55 Water Street, 9th Floor, New York, NY 10041",
        "7 Marine Parade, Singapore 449283",
        "3 Old Mill Lane, Galway",
        "901 Cherry Hill Road, Unit 5, Princeton, NJ 08540",
        "26 Des Voeux Road Central, Hong Kong",
        "1250 Industrial Drive, Suite 300, Tulsa, OK 74116",
        "88 Wood Street, London EC2V 7RS",
        "14A Elm Grove Court, Leeds LS6 2AB",
    ),
    "who_zh": said(
        "person",
        "方志远",
        "江海燕",
        "顾维民",
        "毛俊",
        "石磊",
        "崔英杰",
        "康乐",
        "史文彬",
        "汪泽洋",
        "熊婷",
        "秦少游",
        "孟凡",
        "龙飞",
        "白雪梅",
        "尹建华",
        "万晓红",
        "雷鸣",
        "段宇航",
        "汤小芬",
        "夏侯敦厚",
        "东方晴",
        "皇甫修文",
    ),
    "who_en": said(
        "person",
        "Oliver Pemberton",
        "Yuki Tanaka",
        "Rosa María Delgado",
        "Jonathan P. Whitlock",
        "Chiara Moretti",
        "Anneke van Dijk",
        "Kwame Mensah",
        "Siobhan O'Reilly",
        "Lars Bergström",
        "Nadia Haddad",
        "Patrick Duffy",
        "Wei Chen",
        "Ewa Kowalczyk",
        "Arjun Mehta",
    ),
    "known_zh": said(
        "person",
        "闻人望舒",
        "闻人望舒=聞人望舒",
        "岳小川",
        "邵云帆",
        "邵云帆=邵雲帆",
        "柳明月",
        "Adaeze Okonkwo=阿达泽·奥孔库沃",
        "Henrik Solberg-Dahl=亨里克·索尔贝格",
    ),
    "known_en": said(
        "person",
        "闻人望舒=Wenren Wangshu",
        "岳小川=Leo Yue",
        "邵云帆=Shao Yunfan",
        "柳明月=Luna Liu",
        "Adaeze Okonkwo",
        "Henrik Solberg-Dahl",
        "Henrik Solberg-Dahl=H. Solberg-Dahl",
    ),
    "corp_zh": said(
        "entity",
        "ENT-QIMING=岐鸣生物科技有限公司",
        "ENT-QIMING=岐鸣生物",
        "ENT-SONGTAO=松涛人寿保险股份有限公司",
        "ENT-SONGTAO=松濤人壽",
        "ENT-HENGDU=衡渡商业银行股份有限公司",
        "ENT-HENGDU=衡渡银行",
        "ENT-CALDERA=卡尔德拉能源公司",
        "ENT-MINGSHA=鸣沙新能源集团有限公司",
        "ENT-MINGSHA=鳴沙新能源",
    ),
    "corp_en": said(
        "entity",
        "ENT-QIMING=Qiming Lark Biotech Co., Ltd.",
        "ENT-QIMING=Lark Biotech",
        "ENT-SONGTAO=Songtao Life Insurance Co., Ltd.",
        "ENT-SONGTAO=Songtao Life",
        "ENT-HENGDU=Hengdu Bank",
        "ENT-CALDERA=Caldera Grid Energy GmbH",
        "ENT-CALDERA=Caldera Grid",
        "ENT-MINGSHA=Mingsha New Energy",
    ),
    "money_zh": [
        *money("CNY", 10**4, "#万元人民币", "#万元", "人民币 # 万元", places=2),
        *money("CNY", 10**8, "#亿元", "￥#亿", "RMB #亿元", places=2, below=80),
        *money("CNY", 1, "#元", "¥#", "￥ #", places=2, below=90000),
        *money("CNY", 1000, "#千元"),
        *money("HKD", 10**8, "#亿港币", places=1, below=40),
        *money("AUD", 10**4, "#万澳元"),
        *money("GBP", 10**4, "#万英镑"),
        *money("SGD", 10**4, "#万新加坡元"),
        *said(
            "amount",
            "CNY 5800=伍仟捌佰元整",
            "CNY 360000=三十六万元",
            "CNY 100000000=１亿元",
            "CNY 20500=人民币贰万零伍佰元整",
        ),
    ],
    "money_en": [
        *money("CNY", 10**6, "CNY #m", "# million yuan", "RMB# million", places=1),
        *money("USD", 10**9, "US$# billion", "USD # billion", places=2, below=60),
        *money("USD", 1, "US$ #", "# US dollars", below=90000),
        *money("EUR", 10**6, "€#m", "EUR # million", places=1),
        *money("GBP", 1, "£#", "# pounds sterling", below=90000),
        *money("CAD", 1, "C$#", below=90000),
        *money("JPY", 10**6, "# million yen"),
        *money("CHF", 1000, "CHF #k"),
        *money("HKD", 10**9, "HK$#bn", places=1, below=50),
    ],
    "rate_zh": [
        *share("#%", "#％", places=2),
        *share("#%", places=1),
        *said("percent", "30%=百分之三十", "70%=七成", "0.5%=5‰"),
    ],
    "rate_en": [*share("#%", places=2), *share("#%", "# percent", "# per cent", places=1)],
    "day_zh": spelled_dates(
        "{y}年{m}月{d}日",
        "{y}年{m:02d}月{d}日",
        "{y}-{m:02d}-{d}",
        "{y}/{m:02d}/{d}",
        "{y}.{m}.{d}",
        "W{y}年{m}月{d}日",
        "{y}年 {m}月 {d}日",
    ),
    "day_en": spelled_dates(
        "{full} {d}, {y}", "{d} {full} {y}", "{y}-{m:02d}-{d}", "{d} {n} {y}", "{d}th {full} {y}", "{full} {d}th, {y}"
    ),
    "term_zh": said(
        "duration",
        "P2Y=2年",
        "P4Y=四年",
        "P9M=9个月",
        "P20D=20天",
        "P60D=六十天",
        "P21D=三周",
        "PT72H=72小时",
        "PT45M=45分钟",
        "P1M=一个月",
    ),
    "term_en": said(
        "duration",
        "P2Y=two years",
        "P10Y=10 years",
        "P9M=nine months",
        "P60D=60 days",
        "P21D=three weeks",
        "PT12H=12 hours",
        "PT45M=45 minutes",
    ),
    "span_zh": said(
        "period",
        "2023Q4=2023年第四季度",
        "2022Q3=2022年三季度",
        "2021H1=2021年上半年",
        "2022H2=2022年下半年",
        "2020=2020年",
        "2023-06=2023年6月",
        "2023-10/2023-11=2023年10月至11月",
        "2022=2022财年",
        "2023Q2=2023Q2",
    ),
    "span_en": said(
        "period",
        "2023Q4=Q4 2023",
        "2022Q1=1Q22",
        "2021H2=H2 2021",
        "2023H1=1H23",
        "2021=FY2021",
        "2023-06=June 2023",
        "2022Q3=2022Q3",
    ),
    "link": [
        mark("url", u := "https://claims.example.org/form?id=77&lang=zh", u),
        *said(
            "url",
            "http://www.port.example.com/berth/4=http://WWW.Port.example.com/berth/4",
            "www.tender.example.cn",
            "https://hr.example.net/leave#rules",
            "https://grid.example.de/",
        ),
    ],
    "host": said(
        "ip_address",
        "10.77.3.250",
        "192.0.2.146",
        "172.31.9.8",
        "2001:db8:a::7=2001:DB8:A::7",
        "fd12:3456:789a:1::5",
        "198.18.0.33",
    ),
    "cust": said("customer_risk", "C1", "C2", "C3", "C4", "C5"),
    "fund": said("fund_risk", "R1", "R2", "R3", "R4", "R5"),
    "grade": said("credit_rating", "AAA", "AA+", "AA", "AA-", "A+", "BBB+", "BBB", "BB+", "BB-", "B+", "CC"),
    "save": said("deposit_line", "D1", "D2", "D3", "D4"),
}


def read(path: Path, rounds: Rounds) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Read one file; an order in square brackets (`[twice]`, `[base DATE]`, `[mixed]` …) holds for what follows."""
    lang = path.stem.removeprefix("test_")
    repeats, base, note = 1, None, None
    for text in path.read_text(encoding="utf-8").splitlines():
        if not text.strip() or text.startswith("//"):
            continue
        if text.startswith("[") and text.endswith("]"):
            order = text[1:-1]
            if order in ("once", "twice"):
                repeats = 1 if order == "once" else 2
            elif order == "no base":
                base = None
            elif order.startswith("base "):
                base = order.removeprefix("base ")
            elif order in ("hard negatives", "mixed"):
                note = "hard negative" if order == "hard negatives" else None
            else:
                raise ValueError(text)
            continue
        for _ in range(repeats):
            yield lang, rounds.fill(text.replace("\\n", "\n"), lang), base, note


def main() -> str:
    """The whole split."""
    here = Path(__file__).parent
    rounds = Rounds(MAKERS, DICE)
    return dump("test", [*read(here / "test_zh.txt", rounds), *read(here / "test_en.txt", rounds)])


if __name__ == "__main__":
    sys.stdout.buffer.write(main().encode("utf-8"))
