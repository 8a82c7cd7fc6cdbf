"""JSON, notebooks, XML, SQLite and databases."""
