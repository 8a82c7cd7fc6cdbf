"""Everything ingestion can raise.

IngestError
├── UnsupportedDocumentError  no parser for this content (permanent)
├── CorruptDocumentError      the parser cannot read it (permanent)
├── EncryptedDocumentError    a password is needed or wrong (permanent)
├── NoTextError               nothing readable came out (permanent)
├── DocumentTooLargeError     above the size or page limit (permanent)
├── AdmissionRejectedError    the text is too thin or too garbled for the admission policy (permanent)
├── ParserLimitError          the parser ran out of time or memory, or died (permanent)
├── UnknownDocumentError      no such document for this principal (permanent)
├── UnknownPageError         the document has no such page (or chunk) to show (permanent)
├── UnknownJobError           no such job for this principal (permanent)
├── UnknownDatabaseError      no database of this name is configured (permanent)
├── UnknownCorrectionError    no such correction of this tenant (permanent)
├── BadCorrectionError        a correction that cannot be applied (permanent)
├── UnknownSecretError        no such pseudonym for this principal (permanent)
├── NotPermittedError         the principal lacks the right (permanent)
├── KeyChangingError         names of values are being made under a new pseudonym key (try again)
├── VaultKeyError             the vault's key is missing or does not fit (permanent)
├── DamagedOriginalError      the stored original fails its integrity check (permanent)
├── JobCancelledError         signal inside the worker: the job was cancelled or its document deleted
├── JobLostError              signal inside the worker: another owner took the job over
└── SourceUnavailableError    the source could not be read just now (retry)
"""

from __future__ import annotations

from typing import ClassVar


class IngestError(Exception):
    """Root of ingestion's errors. The message says what failed, on what, and what to do."""

    code: ClassVar[str] = "ingest_failed"
    retryable: ClassVar[bool] = False


class UnsupportedDocumentError(IngestError):
    """No parser reads this content."""

    code = "unsupported_document"


class CorruptDocumentError(IngestError):
    """The content is damaged or is not what it claims to be."""

    code = "corrupt_document"


class EncryptedDocumentError(IngestError):
    """The document needs a password, or the one given is wrong."""

    code = "encrypted_document"


class NoTextError(IngestError):
    """The document yields no text; it is never made ready empty."""

    code = "no_text"


class DocumentTooLargeError(IngestError):
    """The document is above the size or page limit."""

    code = "document_too_large"


class AdmissionRejectedError(IngestError):
    """What could be read is below what the admission policy asks for."""

    code = "admission_rejected"


class ParserLimitError(IngestError):
    """The parser ran out of time or memory, or its process died."""

    code = "parser_limit"


class UnknownDocumentError(IngestError):
    """No such document for this principal; the same answer for another tenant's."""

    code = "unknown_document"


class UnknownPageError(IngestError):
    """The document has no such page to show, or no such chunk to mark."""

    code = "unknown_page"


class UnknownJobError(IngestError):
    """No such job for this principal; the same answer for another tenant's."""

    code = "unknown_job"


class UnknownDatabaseError(IngestError):
    """The operator configured no database of this name."""

    code = "unknown_database"


class UnknownSecretError(IngestError):
    """No such pseudonym for this principal; the same answer for another tenant's."""

    code = "unknown_secret"


class UnknownCorrectionError(IngestError):
    """No such correction of this tenant."""

    code = "unknown_correction"


class BadCorrectionError(IngestError):
    """A correction that cannot be applied; the message never quotes it."""

    code = "bad_correction"


class NotPermittedError(IngestError):
    """The principal lacks the right that the call needs."""

    code = "not_permitted"


class KeyChangingError(IngestError):
    """The pseudonym key changes just now, and not every value has its present name yet; try again."""

    code = "key_changing"


class VaultKeyError(IngestError):
    """The vault's key is missing or is not the one that wrote it."""

    code = "vault_key"


class DamagedOriginalError(IngestError):
    """The stored original fails its integrity check, or was written under another key."""

    code = "damaged_original"


class JobCancelledError(IngestError):
    """The job was cancelled, or its document deleted, while it ran."""

    code = "cancelled"


class JobLostError(IngestError):
    """The job's lease ran out and another owner took it over; this one must stop writing."""

    code = "job_lost"


class SourceUnavailableError(IngestError):
    """The source could not be read just now."""

    code = "source_unavailable"
    retryable = True
