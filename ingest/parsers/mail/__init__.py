"""Messages: EML and Outlook."""
