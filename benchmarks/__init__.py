"""Speed, size and accuracy, as figures of one run on the machine at hand."""
