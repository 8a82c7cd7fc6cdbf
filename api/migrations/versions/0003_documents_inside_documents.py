"""Documents found inside documents, and the warnings of the admission policy."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema forward."""
    with op.batch_alter_table("documents", schema=None) as batch_op:
        batch_op.add_column(sa.Column("parent_id", sa.String(length=32), nullable=True))
        batch_op.add_column(sa.Column("warnings", sa.JSON(none_as_null=True), nullable=True))
        batch_op.create_index("ix_documents_parent", ["parent_id"], unique=False)


def downgrade() -> None:
    """Take the schema back."""
    with op.batch_alter_table("documents", schema=None) as batch_op:
        batch_op.drop_index("ix_documents_parent")
        batch_op.drop_column("warnings")
        batch_op.drop_column("parent_id")
