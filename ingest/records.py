"""The parts that keep what is known of documents and their jobs: rows in SQL, originals on disk."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine

from ingest.jobs import Jobs
from ingest.leases import Leases
from ingest.lifecycle import Lifecycle
from ingest.originals import Originals


@dataclass(frozen=True, slots=True)
class Records:
    """What every stage of a document's way reads and writes, over one database and one folder."""

    engine: Engine
    lifecycle: Lifecycle
    leases: Leases
    jobs: Jobs
    originals: Originals
