"""The error that lexicons raise."""


class LexiconError(ValueError):
    """A lexicon, or a file it is made from, is invalid. The message names the file, line or word, what was expected,
    and the remedy."""
