"""Reading databases with SQL that a model wrote."""
