"""What a report says, as text and as a page. Starts and measures nothing."""
