"""Which secrets a value is that somebody gives by itself: a number without its label, a name without its title.

For asking after a person's data, where values come in a list and not in a text.
"""

from __future__ import annotations

from retrieval.symbols.result import Secret
from retrieval.symbols.rules import TenantRules
from retrieval.symbols.tenant_language import TenantLanguage

_LABELS = (
    "电话：{}",
    "Tel: {}",
    "身份证号：{}",
    "SSN: {}",
    "护照号码：{}",
    "Passport No. {}",
    "港澳居民来往内地通行证：{}",
    "台湾居民来往大陆通行证：{}",
    "往来港澳通行证：{}",
    "卡号：{}",
    "IBAN: {}",
    "统一社会信用代码：{}",
    "车牌号：{}",
    "地址：{}",
    "Address: {}",
    "API key: {}",
    "密码：{}",
    "姓名：{}",
    "联系人：{}",
    "{}先生",
    "Name: {}",
    "Mr {}",
)
"""What may stand beside a value so that it is read as what it is. A label that does not fit gives nothing."""


def identify(given: str, rules: TenantRules, key: bytes) -> tuple[Secret, ...]:
    """Return every secret that a value may be, values that were erased included; none where no rule reads it.

    Args:
        given: a value in any writing, or a short text with several.
        rules: of the tenant.
        key: of the tenant's pseudonyms (`pseudonyms.tenant_key`).
    """
    value = " ".join(given.split())
    if not value:
        return ()
    # As if nothing had been erased: an erased value has a kind and a fingerprint all the same.
    language = TenantLanguage(rules.model_copy(update={"erased": frozenset[str](), "erased_texts": ()}), key)
    found = {secret.pseudonym: secret for secret in language.symbolise(value).secrets}
    for label in _LABELS:
        read = language.symbolise(label.format(value))
        # All of the value and nothing else: a label must not make a part of it a secret of its own.
        for secret in read.secrets:
            if read.text == label.format(secret.pseudonym):
                found.setdefault(secret.pseudonym, secret)
    return tuple(found.values())
