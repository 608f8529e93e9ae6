"""What draws for people: HTML pages and their pictures. Knows nothing of what it draws."""
