"""Conversion between arrays and tensors."""
