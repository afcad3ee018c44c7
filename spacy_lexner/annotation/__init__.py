"""Which texts are worth labelling next."""
