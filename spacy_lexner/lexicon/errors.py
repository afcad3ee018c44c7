"""The error and the warning of lexicons."""


class LexiconError(ValueError):
    """A lexicon, or a file it is made from, is invalid. The message names the file, line or word, what was expected,
    and the remedy."""


class LexiconWarning(UserWarning):
    """A lexicon differs from the one a model was trained with, in a way that makes the model worse."""
