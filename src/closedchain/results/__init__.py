"""What a user gets: runs as datasets, their checks, and plots."""
