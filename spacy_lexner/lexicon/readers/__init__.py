"""Readers that stream entries from files, tries, vocabularies and knowledge bases."""

from ..word_vectors import read_word_vectors
from .char_trie import read_char_trie
from .entity_vectors import read_entity_vectors
from .jieba_dictionary import read_jieba_dictionary
from .spacy_objects import read_knowledge_base, read_vocab_vectors
from .word_list import read_word_list
from .word_table import read_word_table

__all__ = [
    "read_char_trie",
    "read_entity_vectors",
    "read_jieba_dictionary",
    "read_knowledge_base",
    "read_vocab_vectors",
    "read_word_list",
    "read_word_table",
    "read_word_vectors",
]
