"""HTML, feeds and EPUB."""
