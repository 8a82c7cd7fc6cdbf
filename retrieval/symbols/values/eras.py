"""Names of eras, after which a number of years is a year's name and no duration (贞观三年, 昭和10年)."""

from __future__ import annotations

# Two characters each.
_NAMES = (
    "建安黄初太康永嘉太元元嘉永明天监太和开皇大业武德贞观永徽显庆龙朔麟德乾封总章咸亨上元仪凤"
    "调露永隆垂拱天授长安神龙景龙先天开元天宝至德乾元宝应广德永泰大历建中兴元贞元永贞元和长庆"
    "宝历大和开成会昌大中咸通乾符广明中和光启景福乾宁天复建隆乾德开宝雍熙端拱淳化至道咸平景德"
    "天禧乾兴天圣明道景祐宝元康定庆历皇祐至和嘉祐治平熙宁元丰元祐绍圣元符崇宁大观政和重和宣和"
    "靖康建炎绍兴隆兴乾道淳熙绍熙庆元嘉泰开禧嘉定宝庆绍定端平嘉熙淳祐宝祐开庆景定咸淳德祐中统"
    "至元元贞大德至大皇庆延祐至治泰定致和天历至顺至正洪武建文永乐洪熙宣德正统景泰天顺成化弘治"
    "正德嘉靖隆庆万历泰昌天启崇祯弘光隆武永历天命天聪崇德顺治康熙雍正乾隆嘉庆道光咸丰同治光绪"
    "宣统洪宪民国昭和大正明治平成令和庆应公元西元元前"
    "Tell whether text "
    "before a numr of years ends wiame n a.建元元光元朔"
    "元狩元鼎元封太初天汉征和始元元凤本始地节元康神爵五凤甘露黄龙初元永光建昭竟宁建始河平阳朔"
    "鸿嘉永始元延绥和建武永平建初永元元兴延平永初元初建光延光永建阳嘉永和汉安建康本初建和永兴"
    "永寿延熹永康建宁熹平光和中平初平兴平章武建兴延熙景耀黄武嘉禾赤乌太始咸宁太熙太宁咸和咸康"
    "升平隆和宁康隆安义熙孝建大明泰始泰豫升明普通大通太清承圣太建祯明登国天兴神瑞泰常始光神麚"
    "太延和平延兴承明景明正始延昌熙平神龟正光孝昌永安普泰天平兴和武定天保皇建河清天统武平武成"
    "保定天和建德天正永禄文禄庆长宽永元禄享保宽政文化文政嘉永安政万延文久元治应仁大化白雉朱鸟"
    "延历弘仁承和延喜承久建久文永弘安应永永享享禄天文元龟正保庆安万治宽文延宝贞享元文宽保延享"
    "宽延明和安永天明"
)
_ERAS = frozenset(_NAMES[at : at + 2] for at in range(0, len(_NAMES), 2)) | {"太平兴国", "大中祥符"}

_MONARCHS = frozenset("宗祖帝皇王")  # 仁祖二十年, 天皇四年


def after_an_era(before: str) -> bool:
    """Tell whether the text before a number of years ends with the name of an era."""
    before = before.rstrip(" ")
    return before[-2:] in _ERAS or before[-4:] in _ERAS or before[-1:] in _MONARCHS
