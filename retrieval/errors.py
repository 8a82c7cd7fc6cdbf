"""Everything retrieval can raise.

RetrievalError
├── IndexMismatchError     the collection was written by another encoder (permanent)
├── CollectionMissingError the collection does not exist yet (permanent)
├── FolderLockedError      another process holds the embedded store's folder (permanent)
├── EncoderUnavailableError  the configured encoder or reranker cannot be loaded (permanent)
├── ForbiddenError         the principal does not hold the right (permanent)
├── EvaluationDataError    a folder holds no question set that can be read (permanent)
├── UnknownDecisionError   the decision log holds no such decision (permanent)
├── SymbolFileError        a domain file of the symbol language is malformed (permanent)
├── BadFilterError         what a search is to be narrowed by cannot be read (permanent)
├── UnscopedQueryError     the store was asked without a tenant: a fault of ours, never served (permanent)
├── StoreRefusedError      the vector store does not allow what was asked of it (permanent)
└── StoreUnavailableError  the vector store gave no answer (retry)
"""

from __future__ import annotations

from typing import ClassVar

_AWAY = "The vector store gave no answer. Try again shortly."
_UNFIT = "The vector store does not serve as it is set up. The operator finds the reason in the server's log."


class RetrievalError(Exception):
    """Root of retrieval's errors. The message says what failed, on what, and what to do."""

    code: ClassVar[str] = "retrieval_failed"
    retryable: ClassVar[bool] = False
    told: ClassVar[str | None] = None
    """What anybody is told where the message is the operator's alone, for it names hosts or folders; None: the
    message."""

    def plainly(self) -> str:
        """Return what may be told to anybody."""
        return self.told or str(self)


class IndexMismatchError(RetrievalError):
    """The collection records another encoder, revision or dimension than the one in use."""

    code = "index_mismatch"
    told = _UNFIT


class CollectionMissingError(RetrievalError):
    """The collection does not exist yet."""

    code = "collection_missing"
    told = _UNFIT


class FolderLockedError(RetrievalError):
    """Another process holds the folder of the embedded store."""

    code = "folder_locked"
    told = _UNFIT


class EncoderUnavailableError(RetrievalError):
    """The configured encoder or reranker cannot be loaded."""

    code = "encoder_unavailable"


class EvaluationDataError(RetrievalError):
    """A folder holds no question set that can be read."""

    code = "evaluation_data"


class UnknownDecisionError(RetrievalError):
    """The tenant's decision log holds no decision of this id."""

    code = "unknown_decision"


class SymbolFileError(RetrievalError):
    """A domain file of the symbol language is malformed."""

    code = "symbol_file"


class ForbiddenError(RetrievalError):
    """The principal does not hold the right that this needs."""

    code = "forbidden"


class BadFilterError(RetrievalError):
    """A field of a filter cannot be read; the message names it."""

    code = "bad_filter"


class UnscopedQueryError(RetrievalError):
    """A query reached a store without a tenant or without anybody who asks. It is a fault of ours."""

    code = "unscoped_query"


class StoreRefusedError(RetrievalError):
    """The vector store refuses: wrong key, a limit of its strict mode, a version that lacks something."""

    code = "store_refused"
    told = _UNFIT


class StoreUnavailableError(RetrievalError):
    """The vector store gave no answer in time."""

    code = "store_unavailable"
    retryable = True
    told = _AWAY
