"""The service behind `spacy lexner serve`: a pipeline and its dictionary over HTTP."""
