from __future__ import annotations

import base64
import json
import random
from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.symbols.secrets.api_key import find_api_keys


def keys(text: str) -> list[str]:
    return [text[f.start : f.end] for f in find_api_keys(text)]


def drawn(length: int, alphabet: str = ascii_letters + digits, seed: int = 1) -> str:
    """Return an invented key body; it begins with a letter and a digit."""
    chance = random.Random(seed)
    return "q7" + "".join(chance.choice(alphabet) for _ in range(length - 2))


def _b64(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


JWT = f"{_b64({'alg': 'HS256', 'typ': 'JWT'})}.{_b64({'sub': '17', 'name': 'nobody'})}.{drawn(43)}"
BODY = "\n".join([drawn(64, seed=2), drawn(64, seed=3), drawn(20, seed=4)])
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "key",
    [
        f"sk-{drawn(48)}",
        f"sk-proj-{drawn(60)}",
        f"sk-ant-api03-{drawn(80)}",
        f"AKIA{drawn(16).upper()}",
        f"ASIA{drawn(16).upper()}",
        f"LTAI{drawn(20)}",
        f"ghp_{drawn(36)}",
        f"gho_{drawn(36)}",
        f"github_pat_{drawn(22)}_{drawn(59)}",
        f"glpat-{drawn(20)}",
        f"xoxb-123456789012-123456789012-{drawn(24)}",
        f"AIza{drawn(35)}",
        f"sk_live_{drawn(24)}",
        f"rk_test_{drawn(24)}",
        f"hf_{drawn(34)}",
        f"npm_{drawn(36)}",
        f"SG.{drawn(22)}.{drawn(43)}",
        JWT,
        PEM,
    ],
    ids=lambda key: key[:8],
)
@pytest.mark.parametrize("frame", ["{}", "密钥是{}。", "use ({}) now", "export KEY='{}'\n", "| key | {} |"])
def test_key_with_a_known_head_is_found_whole(key: str, frame: str) -> None:
    assert keys(frame.format(key)) == [key]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f"aws_secret_access_key = {drawn(40)}", drawn(40)),
        (f'"api_key": "{drawn(32)}"', drawn(32)),
        (f"API Key is {drawn(32)}", drawn(32)),
        (f"密钥：{drawn(24)}", drawn(24)),
        (f"令牌为{drawn(24)}，", drawn(24)),
        (f"口令 = {drawn(24)}", drawn(24)),
        (f"client_secret={drawn(30)}&x=1", drawn(30)),
        (f"| access token | {drawn(40)} |", drawn(40)),
        (f"secret: {drawn(40, '0123456789abcdef')}", drawn(40, "0123456789abcdef")),
        (f"Authorization: Bearer {drawn(30)}", drawn(30)),
        ("password: Xk9#mQ2!vLp4", "Xk9#mQ2!vLp4"),
        ("pwd: Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("password: Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("Authorization: Basic d2FuZzpwYXNzd29yZDEyMw==", "d2FuZzpwYXNzd29yZDEyMw=="),
        ('{"authorization": "Basic a2ltOnNlY3JldA=="}', "a2ltOnNlY3JldA=="),
        ("curl -u kim:Sup3rS3cret https://x.example.com", "Sup3rS3cret"),
        ("curl -sS --user 'kim:hunter' https://x.example.com", "hunter"),
        ("password=Ab12cd34&user=a", "Ab12cd34"),
        ("登录密码：Tr4y-Quilt!92", "Tr4y-Quilt!92"),
        ("postgres://app:s3cr3tPw@db.example.com:5432/x", "s3cr3tPw"),
        ("clone https://zhang:hunter22@git.example.com/a.git", "hunter22"),
        (f"-----BEGIN PRIVATE KEY-----\n{drawn(64)}", f"-----BEGIN PRIVATE KEY-----\n{drawn(64)}"),
    ],
)
def test_key_after_a_label_or_in_a_url_is_found_with_its_exact_span(text: str, key: str) -> None:
    assert keys(text.replace("：", ":")) == [key]


@pytest.mark.parametrize(
    "text",
    [
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "token: 550e8400-e29b-41d4-a716-446655440000",
        "primary key: 9f86d081884c7d659a2feaa0c55ad015",
        "public key = 9f86d081884c7d659a2feaa0c55ad015",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
        "key: annual_report_2024_final_v2.pdf",
        "key: annual_report_2024_final_v2",
        "the key: understanding-how-the-market-moves-today",
        "password: changeme",
        "basic education and basic infrastructure",
        "ps -u root: all, docker run -u 1000:1000 image",
        "密码：123456",
        "密码: 请联系管理员",
        "token_count: 128000000000000000000",
        "sk-learn and task-2024-quarterly-report-summary",
        "risk-2024-and-return-on-capital-employed",
        "https://example.com:8080/a@b",
        "the secret is in the preparation-of-the-materials",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "AKIA is the head of such a key",
        "key: https://example.com/A1b2C3d4E5f6G7h8I9j0",
    ],
)
def test_what_only_looks_like_a_key_is_none(text: str) -> None:
    assert keys(text.replace("：", ":")) == []


@given(st.integers(), st.integers(24, 64), st.sampled_from(["api_key=", "Token: ", '"secret": "', "密钥:", "令牌 = "]))
def test_any_drawn_key_after_a_label_is_found(seed: int, length: int, label: str) -> None:
    key = drawn(length, seed=seed)
    assert keys(f"{label}{key}\n") == [key]


@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN PRIVATE KEY-----",
        "key=",
        "key=aB1",
        "eyJa.",
        "sk-a-",
        "password=aB1!dEf7h",
        "Bearer aB1",
        "://a:b@",
        "AKIA",
        "-----BEGIN",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----\n",
        "basic ",
        "curl -u a:b",
        " -u ",
    ],
)
def test_long_repetitive_text_is_read_to_its_end(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    assert sum(map(len, keys(text))) <= len(text)
