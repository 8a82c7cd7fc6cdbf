"""A question finds its document across languages and writings: Chinese and English, 简 and 繁, full and half width."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from api.app import create_app
from api.inprocess import InProcessTransport
from api.settings import SymbolSettings, load_settings
from retrieval.settings import EncoderSettings

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOCUMENTS = {
    "travel.md": "# Travel policy\n\nHotel rooms are reimbursed up to 120 dollars a night. Book trains before flights.",
    "leave.md": "# Leave\n\nStaff have twenty days of annual leave. Unused leave expires in March of the next year.",
    "backup.md": "# Backups\n\nDatabases are copied every night to a second site and kept for thirty days.",
    "briefing.md": "# 华泽精密仪器股份有限公司季报\n\n2024年第三季度营业收入为2.38亿元，增长12%，净利润率有所回落。",
    "suitability.md": "# 投资者适当性\n\n保守型客户不得购买高风险产品，销售人员应当核对风险测评结果。",
    "meals.md": "# 加班餐费\n\n晚上八点以后加班的员工，每人每餐补贴35元，凭发票报销。",
    "visitors.md": "# 訪客登記\n\n訪客須於前臺出示證件並領取臨時門卡，離開時歸還。",
}
GLOSSARY = """
[[entity]]
id = "HUAZE"
names = ["华泽精密仪器股份有限公司", "Huaze Precision Instruments Co., Ltd.", "Huaze Precision"]
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """One attest for all questions, with the encoder that serves by default."""
    folder: Path = tmp_path_factory.mktemp("attest")
    (folder / "rules").mkdir()
    (folder / "rules" / "glossary.toml").write_text(GLOSSARY, encoding="utf-8")
    settings = load_settings(
        home=folder / "home",
        models=EncoderSettings(encoder="embedded"),
        symbols=SymbolSettings(folder=folder / "rules"),
    )
    app = create_app(settings, local_owner=True)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=InProcessTransport(app), base_url="http://localhost", timeout=120) as client,
    ):
        for name, text in DOCUMENTS.items():
            answer = await client.post("/v1/documents", files={"file": (name, text.encode())})
            assert answer.status_code == 202, answer.text
            while (job := (await client.get(f"/v1/jobs/{answer.json()['job_id']}")).json())["state"] != "succeeded":
                assert job["state"] in {"queued", "running"}, job
        yield client


async def found(client: httpx.AsyncClient, question: str) -> list[dict[str, Any]]:
    answer = await client.post("/v1/search", json={"query": question})
    assert answer.status_code == 200, answer.text
    return answer.json()["passages"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("出差住酒店每晚最多报销多少钱？", "120 dollars a night"),
        ("出差住酒店每晚最多報銷多少錢？", "120 dollars a night"),
        ("年假没用完什么时候作废？", "expires in March"),
        ("数据库多久备份一次？", "copied every night"),
        ("How much is paid for meals when working overtime in the evening?", "每餐补贴35元"),
        ("May conservative investors buy high-risk products?", "保守型客户不得购买"),
        ("What was Huaze Precision's revenue in Q3 2024?", "营业收入为2.38亿元"),
        ("保守型客戶可以購買高風險產品嗎？", "保守型客户不得购买"),
        ("２０２４年第三季度營業收入是多少？", "营业收入为2.38亿元"),
        ("華澤精密儀器股份有限公司的淨利潤率", "净利润率有所回落"),
        ("加班餐費補貼多少？", "每餐补贴35元"),
        ("访客在前台要出示什么证件？", "訪客須於前臺出示證件"),
        ("每餐补贴３５元要发票吗", "每餐补贴35元"),
    ],
)
async def test_a_question_finds_its_document(client: httpx.AsyncClient, question: str, said: str) -> None:
    passages = await found(client, question)
    assert passages
    assert said in passages[0]["chunk"]["text"]


async def test_a_traditional_question_scores_as_its_simplified_form(client: httpx.AsyncClient) -> None:
    async def scores(question: str) -> list[dict[str, float]]:
        answer = await client.post("/v1/search", json={"query": question})
        return [candidate["scores"] for candidate in answer.json()["candidates"]]

    assert await scores("加班餐費補貼多少？") == await scores("加班餐费补贴多少？")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("保守型客戶可以購買高風險產品嗎？", "保守型客户不得购买高风险产品"),
        ("访客在前台要出示什么证件？", "訪客須於前臺出示證件"),
        ("數據庫多久備份一次？", "Databases are copied every night"),
        ("What was Huaze Precision's revenue in Q3 2024?", "营业收入为2.38亿元"),
    ],
)
async def test_a_question_is_answered_from_its_document(client: httpx.AsyncClient, question: str, said: str) -> None:
    answer = await client.post("/v1/chat", json={"question": question, "stream": False})
    assert said in answer.json()["answer"]
