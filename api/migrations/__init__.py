"""Database migrations over the tables of all rooms."""
