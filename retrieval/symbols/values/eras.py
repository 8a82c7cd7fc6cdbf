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
)
_ERAS = frozenset(_NAMES[at : at + 2] for at in range(0, len(_NAMES), 2)) | {"太平兴国", "大中祥符"}


def after_an_era(before: str) -> bool:
    """Tell whether the text before a number of years ends with the name of an era."""
    before = before.rstrip(" ")
    return before[-2:] in _ERAS or before[-4:] in _ERAS
