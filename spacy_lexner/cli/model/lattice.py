"""`spacy lexner lattice`: pictures of texts with their candidate words and entities."""

from pathlib import Path
from typing import Annotated, List, Optional

import typer
from spacy.language import Language
from tqdm import tqdm
from wasabi import msg

from ...lexicon.lexicon import Lexicon
from ...pipeline.explain import explain, note_words
from ...pipeline.lexicon_provider import find_lexicon, find_matchers
from ...visualize.picture import draw_lattice, save_pictures
from ...visualize.svg import STYLES, THEMES
from ..pipelines import load_pipeline
from ..texts import TextFormatOption, read_texts

MAX_TITLE = 40

TextsArgument = Annotated[Optional[List[str]], typer.Argument(metavar="TEXT...", help="Texts")]
ModelOption = Annotated[
    Optional[str], typer.Option("--model", "-m", help="A pipeline, by folder or name", metavar="MODEL")
]
LexiconOption = Annotated[
    Optional[Path],
    typer.Option("--lexicon", "-l", help="The folder of a lexicon, in place of the pipeline's own", metavar="LEXICON"),
]
FileOption = Annotated[
    Optional[List[Path]], typer.Option("--file", "-i", help="A file of more texts; may be given again", metavar="PATH")
]
OutOption = Annotated[Path, typer.Option("--output", "-o", help="The .svg or .html file to write", metavar="PATH")]
StyleOption = Annotated[str, typer.Option(help=f"How words are drawn: {' or '.join(STYLES)}", metavar="NAME")]
ThemeOption = Annotated[str, typer.Option(help=f"Colours: {', '.join(THEMES)}", metavar="NAME")]
WidthOption = Annotated[int, typer.Option(help="Greatest width in pixels; longer texts have several rows")]
SpansOption = Annotated[
    Optional[str], typer.Option(help="Show these spans of the Docs, not their entities", metavar="KEY")
]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Measure what becomes of scores without each word; rest the pointer on it")
]
OpenOption = Annotated[bool, typer.Option("--open", help="Show the file in the browser")]


def lattice_cli(
    texts: TextsArgument = None,
    model: ModelOption = None,
    lexicon: LexiconOption = None,
    files: FileOption = None,
    format: TextFormatOption = "auto",
    output: OutOption = Path("lattice.html"),
    style: StyleOption = "bars",
    theme: ThemeOption = "auto",
    width: WidthOption = 960,
    spans_key: SpansOption = None,
    explained: ExplainOption = False,
    show: OpenOption = False,
) -> None:
    """Draw texts: their characters, the words that the lexicon finds in them, the entities with label and score.

    Give a pipeline, a lexicon, or both. A pipeline without a lexicon shows its entities, a lexicon alone its words.

    \b
    Examples:
      python -m spacy lexner lattice 南京市长江大桥 --model training/model-best
      python -m spacy lexner lattice 南京市长江大桥 --lexicon lexicon --output lattice.svg --style arcs
      python -m spacy lexner lattice --model training/model-best --file sentences.txt --output sentences.html
      python -m spacy lexner lattice 南京市长江大桥 --model training/model-best --explain
    """
    try:
        if not texts and not files:
            raise ValueError("Give a text to draw, or a file of texts (--file).")
        if model is None and lexicon is None:
            raise ValueError("Give a pipeline (--model), a lexicon (--lexicon), or both.")
        nlp = prepare(model, lexicon)
        words = find_lexicon(nlp) if lexicon is None else Lexicon.open(lexicon)
        lines = [*(texts or []), *(read_texts(files, format) if files else [])]
        pictures = []
        with note_words(nlp):
            for doc in tqdm(nlp.pipe(lines), total=len(lines), unit=" texts", disable=None, leave=False):
                if explained:
                    explain(nlp, doc)
                picture = draw_lattice(doc, words, spans_key=spans_key, style=style, theme=theme, width=width)  # type: ignore[arg-type]
                pictures.append(picture)
        save_pictures(pictures, output, title=lines[0][:MAX_TITLE])
    except (ValueError, OSError, ImportError) as error:
        msg.fail("Nothing was drawn", str(error), exits=1)
    n_words = sum(len(picture.lattice.words) for picture in pictures)
    n_entities = sum(len(picture.lattice.tracks[0].marks) for picture in pictures)
    msg.good(f"{output}: {len(pictures)} texts, {n_words} candidate words, {n_entities} entities")
    if show:
        typer.launch(str(output))


def prepare(model: Optional[str], lexicon: Optional[Path]) -> Language:
    """Load a pipeline, with another lexicon if there is one.

    model (Optional[str]): The folder or name of a pipeline; None for one that only cuts Chinese into characters.
    lexicon (Optional[Path]): The folder of the lexicon that its matchers get.
    RETURNS (Language): The pipeline.
    """
    nlp = load_pipeline("blank:zh" if model is None else model)
    if lexicon is not None:
        for matcher in find_matchers(nlp).values():
            matcher.set_lexicon(Lexicon.open(lexicon))
    return nlp
