"""Errors of the doors, and the one table from error code to HTTP status and exit code.

ApiError
├── SettingsError        a setting is unknown or does not fit
│   └── KeyChangeRefusedError  the pseudonym key cannot be changed now
├── UnauthenticatedError no key, or one that is not known
├── BodyTooLargeError    the request is above the size limit
├── DatabaseUnavailableError  the database cannot be opened
└── ServerUnreachableError  the command line found no server where one should be
"""

from __future__ import annotations

from typing import ClassVar


class ApiError(Exception):
    """Root of the doors' errors."""

    code: ClassVar[str] = "request_failed"


class SettingsError(ApiError):
    """A setting is unknown or does not fit."""

    code = "settings"


class KeyChangeRefusedError(SettingsError):
    """The pseudonym key cannot be changed now: the last change is not over, or settings give the key."""

    code = "key_change_refused"


class UnauthenticatedError(ApiError):
    """No API key, or one that is not known."""

    code = "unauthenticated"


class BodyTooLargeError(ApiError):
    """The request is above the size limit."""

    code = "body_too_large"


class DatabaseUnavailableError(ApiError):
    """The database cannot be opened."""

    code = "database_unavailable"


class ServerUnreachableError(ApiError):
    """The command line found no server where one should be."""

    code = "server_unreachable"


STATUS: dict[str, int] = {
    "unauthenticated": 401,
    "forbidden": 403,
    "unknown_document": 404,
    "unknown_page": 404,
    "unknown_job": 404,
    "unknown_database": 404,
    "audit_calibration": 500,
    "audit_model": 500,
    "unknown_run": 404,
    "run_conflict": 409,
    "unknown_conversation": 404,
    "conversation_busy": 409,
    "unknown_decision": 404,
    "unknown_secret": 404,
    "unknown_correction": 404,
    "bad_correction": 422,
    "body_too_large": 413,
    "document_too_large": 413,
    "unsupported_document": 415,
    "corrupt_document": 422,
    "encrypted_document": 422,
    "no_text": 422,
    "admission_rejected": 422,
    "index_mismatch": 409,
    "folder_locked": 409,
    "key_changing": 409,
    "key_change_refused": 409,
    "bad_filter": 422,
    "store_refused": 502,
    "store_unavailable": 503,
    "model_unavailable": 503,
    "source_unavailable": 503,
    "malformed_model_output": 502,
    "retrieval_timeout": 504,
    "run_timeout": 504,
    "tool_timeout": 504,
    "tool_unavailable": 503,
    "tool_failed": 502,
    "unknown_tool": 404,
    "interrupted": 503,
    "not_permitted": 403,
    "budget_exceeded": 429,
}
"""HTTP status by error code; any other code is 500."""

EXIT_OK = 0
EXIT_FAILED = 1
"""The command ran and its outcome is negative: a document failed, a metric is below its minimum."""
EXIT_USAGE = 2
"""The command could not run as it was called: wrong option, setting, missing file."""


def status_of(code: str) -> int:
    """Return the HTTP status of an error code."""
    return STATUS.get(code, 500)
