"""Word and PowerPoint, current and legacy, with their drawings."""
