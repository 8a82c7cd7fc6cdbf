"""PDF: structure, tables, scanned pages, drawing of pages."""
