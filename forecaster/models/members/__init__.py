"""The members of the ensemble, one a file: what it is, where it comes from, what it costs and when it is worth switching on."""
