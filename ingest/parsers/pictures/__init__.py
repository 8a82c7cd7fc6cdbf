"""Pictures: their text by OCR."""
