"""The terms of a question that carry its matter: its terms without function words and question words."""

from __future__ import annotations

from retrieval.lexical import terms

_ENGLISH_WORDS = """
    a about after all also am an and any are as at be been before being between both but by can could did do does
    done for from get give had has have having he her here him his how i if in into is it its itself just kind know let
    like make many may me might more most much must my no not of off on one only or other our out over please s same
    she should show so some such t tell than thank thanks that the their them then there these they this those through
    to too under up us use very was we were what when where whether which while who whom whose why will with would you
    your yes find explain describe list name say says said need want does re ve ll d m"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_CHINESE = frozenset(
    "的了是吗呢吧啊呀么什多少如何怎哪几请问为在有和与及或可以能会要我你您他她它们这那个些把被让给对从到将就都也还又很更最"
    "谁样时候没不之其中于所则而且但因此若该各并另某每一是否"
)


def content_terms(text: str) -> list[str]:
    """Return the terms of `text` that are not function words, in order.

    A Chinese bigram is dropped when both of its characters are function characters.
    Text made of function words alone gives an empty list.
    """
    return [t for t in terms(text) if t not in _ENGLISH and not all(c in _CHINESE for c in t)]
