"""pandas and Hugging Face `datasets`: texts in, entities out; annotated tables to Docs and back."""
