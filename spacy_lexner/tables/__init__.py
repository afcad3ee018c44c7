"""Entities in pandas frames and Hugging Face `datasets`: annotation of their texts, and conversion to Docs and back."""
