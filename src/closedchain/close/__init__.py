"""One file for each way of closing the loops."""
