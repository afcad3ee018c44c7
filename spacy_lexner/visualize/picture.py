"""Pictures of Docs: in a notebook, as SVG, as a page."""

from pathlib import Path
from typing import Iterable, List, NamedTuple, Optional, Union

from spacy.tokens import Doc

from ..lexicon.lexicon import Lexicon
from ..templates import render
from .graphemes import clean
from .lattice import Lattice, read_lattice
from .svg import StyleT, ThemeT, draw_svg

LEGEND = (
    "Above the characters: entities with label and confidence. Below: the words of the lexicon in the text, drawn the "
    "stronger the more attention the model pays to them, or else the higher their weight. A frame marks a word that is "
    "an entity, a stripe the label of a word in the lexicon."
)


class Picture(NamedTuple):
    """A picture of a text, which displays itself in a notebook. For `style`, `theme` and `width` see `draw_lattice`."""

    lattice: Lattice
    style: StyleT = "bars"
    theme: ThemeT = "auto"
    width: int = 960
    caption: str = ""  # shown below it on a page

    def to_svg(self, *, with_css: bool = True) -> str:
        """RETURNS (str): The picture as an `svg` element. `with_css` adds its style sheet, for pages without it."""
        return draw_svg(self.lattice, style=self.style, theme=self.theme, width=self.width, with_css=with_css)

    def save(self, path: Union[str, Path]) -> None:
        """Write the picture to a self-contained `.svg` or `.html` file."""
        save_pictures([self], path)

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.to_svg()}</div>'


def draw_lattice(
    doc: Doc,
    lexicon: Optional[Lexicon] = None,
    *,
    spans_key: Optional[str] = None,
    style: StyleT = "bars",
    theme: ThemeT = "auto",
    width: int = 960,
) -> Picture:
    """Draw the lattice of a Doc: its characters, the candidate words, and the entities with label and score.

    doc (Doc): The Doc.
    lexicon (Optional[Lexicon]): Source of the words' weights and labels, such as `nlp.get_pipe("lex_matcher").lexicon`.
        Without it, words are drawn alike unless the model reports how much attention it pays to them.
    spans_key (Optional[str]): Show these spans instead of `doc.ents`.
    style (str): "bars" draws each word as a bar with its text; "arcs" as an arc, deeper for longer words.
    theme (str): "light", "dark", or "auto" for the reader's preference.
    width (int): The maximum width in pixels; longer texts are broken into rows.
    RETURNS (Picture): The picture.
    """
    return Picture(read_lattice(doc, lexicon, spans_key=spans_key), style, theme, width)


def save_pictures(pictures: Iterable[Picture], path: Union[str, Path], *, title: str = "Lattices") -> List[Path]:
    """Write pictures to one `.html` file with a title, or each to an `.svg` file, numbered (such as name-01.svg) if
    there are several. RETURNS (List[Path]): The files. Raises ValueError for any other suffix, or without pictures."""
    path, pictures = Path(path), list(pictures)
    if path.suffix not in (".svg", ".html", ".htm"):
        raise ValueError(f"{path}: the suffix is {path.suffix!r}; expected .svg or .html.")
    if not pictures:
        raise ValueError(f"{path}: there are no pictures to write.")
    files = {path: ""}
    if path.suffix != ".svg":
        files[path] = make_page(pictures, title=title)
    elif len(pictures) == 1:
        files[path] = pictures[0].to_svg()
    else:
        digits = len(str(len(pictures)))
        files = {path.with_stem(f"{path.stem}-{i:0{digits}}"): own.to_svg() for i, own in enumerate(pictures, 1)}
    path.parent.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        file.write_text(text, "utf8")
    return list(files)


def make_page(pictures: Iterable[Picture], *, title: str = "Lattices") -> str:
    """RETURNS (str): A self-contained HTML page of pictures, all in the theme of the first."""
    pictures = list(pictures)
    return render(
        "page.html.jinja",
        title=clean(title),
        theme=pictures[0].theme if pictures else "auto",
        width=max((picture.width for picture in pictures), default=960),
        pictures=[{"svg": p.to_svg(with_css=False), "caption": clean(p.caption)} for p in pictures],
        legend=LEGEND,
    )
