"""Import and export of published checkpoints."""
