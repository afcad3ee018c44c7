__title__ = "spacy-lexner"
__version__ = "0.1.0"
