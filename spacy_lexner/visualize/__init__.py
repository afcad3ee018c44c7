"""Pictures of texts, with the lexicon words found in them and the entities that a model predicts."""

from .lattice import Lattice, Mark, Track, Word, read_lattice
from .picture import Picture, draw_lattice, make_page, save_pictures
from .svg import draw_svg

__all__ = [
    "Lattice",
    "Mark",
    "Picture",
    "Track",
    "Word",
    "draw_lattice",
    "draw_svg",
    "make_page",
    "read_lattice",
    "save_pictures",
]
