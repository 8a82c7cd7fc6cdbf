"""Sums and conversions of units in words: questions that a calculator answers. Pure and linear."""

from __future__ import annotations

import re

_EN_NUMBER = (
    r"(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million"
    r"|half|third|quarter|fifth)(?:[ -](?=[a-z]))?){1,6}"
)
_NUMBER = (
    rf"(?:[-+]?\d[\d,]*(?:\.\d+)?%?|{_EN_NUMBER}|"
    rf"[零一二两三四五六七八九十百千万亿]{{1,9}}(?:分之[一二三四五六七八九十百]+)?)"
)
_SIGN = (
    r"(?:[-+*/×÷^%x]|plus|minus|times|multiplied by|divided by|over|to the power of|percent of|of|"
    r"加上?|减去?|乘以?|除以|分之|开平方|的平方|的立方|的\s*\d+\s*次方|次方|的)"
)
_OPENING = (
    r"(?:(?:what(?:'?s| is)|how much is|calculate|compute|work out|solve|"
    r"请?(?:帮我)?(?:计算|算)(?:一下|一算)?|请问)[\s:：]*)?"
)
_CLOSING = r"(?:\s*(?:=|equals?|is|等于|是|得)?\s*(?:what|how much|多少|几分之几|几|的和|之和|呢)?\s*[?？。.]*)"
_SUM = re.compile(rf"{_OPENING}{_NUMBER}(?:\s*{_SIGN}\s*(?:{_NUMBER})?)+{_CLOSING}", re.IGNORECASE)
_OF = re.compile(
    rf"{_OPENING}(?:the )?(?:square root|cube root|average|mean|sum|product|difference|factorial) of "
    rf"{_NUMBER}(?:\s*(?:,|and|,\s*and)\s*{_NUMBER})*\s*[?.]*",
    re.IGNORECASE,
)
_SERIES = re.compile(
    r"[\d\s+\-*/×÷、,，.…()]+(?:这?[一二三四五六七八九十两几\d]*个?数)?的?(?:和|平均数|平均值|乘积|积|总和)(?:是多少|等于多少)?[?？]?"
)
_UNIT = (
    r"(?:kilomet(?:er|re)s?|met(?:er|re)s?|centimet(?:er|re)s?|km|cm|mm|miles?|feet|foot|ft|inch(?:es)?|yards?|kilograms?|kg|grams?|g|"
    r"pounds?|lbs?|ounces?|oz|lit(?:er|re)s?|gallons?|cups?|pints?|tablespoons?|teaspoons?|celsius|fahrenheit|kelvin|"
    r"seconds?|minutes?|hours?|days?|weeks?|months?|years?|a day|公里|千米|厘米|毫米|"
    r"英里|英尺|英寸|码|米|公斤|千克|毫克|克|磅|盎司|斤|两|吨|"
    r"毫升|升|加仑|摄氏度|华氏度|小时|分钟|秒钟?|天|周|星期|个?月|年|平方米|亩|公顷|光年)"
)
_CONVERSION = re.compile(
    rf"(?:(?:please )?convert )?{_NUMBER}\s*(?:degrees? )?{_UNIT}\s*"
    rf"(?:in|to|into|等于|是|有|合|换算成|为)\s*(?:多少|几)?\s*(?:degrees? )?{_UNIT}\s*[?？]*"
    rf"|how many {_UNIT} (?:are |is )?(?:there )?(?:are )?(?:in|to) (?:an?|one|{_NUMBER}) {_UNIT}\s*[?]*"
    rf"|{_NUMBER}\s*{_UNIT}\s*(?:等于|是|有|合)\s*(?:多少|几)\s*{_UNIT}\s*[?？]*",
    re.IGNORECASE,
)
_PROBLEM = re.compile(
    r"^(?:if )?(?:i have|there are|\w+ has|\w+ had|i bought)\b.{0,80}\d.{0,60}"
    r"\bhow (?:many|much)\b.{0,20}\b(?:left|altogether|in total|remain)\b"
    r"|\b\d+ ?(?:km|miles?) (?:an|per) hour\b.{0,40}\bhow (?:far|long)\b"
    r"|^小[明红华刚丽李王].{0,40}\d.{0,40}(?:几|多少)|鸡.{0,3}兔.{0,40}\d.{0,20}(?:几|多少)",
    re.IGNORECASE,
)
_LONGEST = 160


def is_sum(text: str) -> bool:
    """Tell whether a folded text (NFKC) asks for nothing but a calculation or a conversion of units."""
    text = text.strip()
    if len(text) > _LONGEST:
        return False
    return any(p.fullmatch(text) for p in (_SUM, _OF, _SERIES, _CONVERSION)) or _PROBLEM.search(text) is not None
