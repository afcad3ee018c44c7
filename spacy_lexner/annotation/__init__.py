"""Support for annotators: the choice of texts worth labelling next, drafts, and probable annotation errors."""
