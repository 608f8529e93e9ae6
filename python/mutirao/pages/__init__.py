"""What draws for people: tables for the terminal, and HTML pages with their charts. Knows nothing of what it draws."""
