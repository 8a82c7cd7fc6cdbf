"""Values: figures and time, in normal forms."""
