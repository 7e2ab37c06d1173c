"""The references in docs/, written from the code that they speak of: `python -m jobs.references`, or `make docs`."""
