"""One parser per format: a path in, blocks out."""
