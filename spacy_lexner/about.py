__title__ = "spacy-lexner"
__version__ = "0.1.0"
__uri__ = "https://example.org/spacy-lexner"  # a placeholder until there is a public repository, see CONTRIBUTING.md
