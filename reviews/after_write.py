"""What happens to review entries after writes of their documents."""
