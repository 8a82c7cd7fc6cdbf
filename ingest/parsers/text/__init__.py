"""Plain text and what is written in it: encodings, Markdown, RST, Org, transcripts."""
