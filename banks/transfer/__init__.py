"""Taking a bank's documents and facts out as a file, and bringing documents of such a file into a bank."""
