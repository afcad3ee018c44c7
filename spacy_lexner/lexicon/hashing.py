"""The 64-bit hash by which models and Docs know a word."""

from hashlib import blake2b


def hash_word(word: str) -> int:
    """Hash a word: BLAKE2b of its UTF-8 bytes, cut to 64 bits, little-endian. The same on every machine.

    word (str): The word, normalised as the lexicon says (`Lexicon.normalization`).
    RETURNS (int): The hash, 0 <= hash < 2**64.
    """
    return int.from_bytes(blake2b(word.encode("utf8", "surrogatepass"), digest_size=8).digest(), "little")
