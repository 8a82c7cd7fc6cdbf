"""Pictures of pages, so that a reader sees where a citation stands."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from api.auth import Caller
from api.container import Wired
from api.vault_models import Reason

router = APIRouter(prefix="/v1/documents", tags=["documents"])


@router.get(
    "/{document_id}/pages/{page_number}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}, "description": "The page."}},
)
async def page(
    document_id: str,
    page_number: Annotated[int, Path(ge=1)],
    caller: Caller,
    wired: Wired,
    chunk: Annotated[str | None, Query(description="Marks the boxes of this chunk.")] = None,
    dpi: Annotated[int, Query(ge=36, le=300)] = 110,
    reveal: Annotated[
        Reason | None,
        Query(description="Why secrets are to be shown; needs the right `reveal`, and is logged."),
    ] = None,
) -> Response:
    """Show a page of a PDF or a picture as PNG. Secrets are blackened unless they are asked for with a reason."""
    png = await wired.page_images.png(caller, document_id, page_number, chunk_id=chunk, dpi=dpi, reveal_reason=reveal)
    # What one caller may see another may not, and a deleted document must not live on in caches.
    return Response(png, media_type="image/png", headers={"Cache-Control": "no-store"})
