"""The error of this package's lexicon."""


class LexiconError(ValueError):
    """A lexicon, or a file that one is made of, is not what it should be. The message names the file, the line or the
    word, what was expected, and the remedy."""
