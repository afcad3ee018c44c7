"""`spacy lexner lattice`: draw texts with their candidate words and entities."""

from pathlib import Path
from typing import Annotated, List, Optional, Set

import typer
from spacy.language import Language
from wasabi import msg

from ...lexicon.lexicon import Lexicon
from ...pipeline.explain import explain, note_words
from ...pipeline.lexicon_pipe import find_lexicon, find_matchers
from ...visualize.picture import draw_lattice, save_pictures
from ...visualize.svg import STYLES, THEMES
from ..shared import TextFormatOption, check_spans_key, failing, load_pipeline, progress, read_texts

MAX_TITLE = 40


def lattice_cli(
    texts: Annotated[Optional[List[str]], typer.Argument(metavar="TEXT...", help="Texts")] = None,
    model: Annotated[
        Optional[str], typer.Option("--model", "-m", help="A pipeline, by folder or name", metavar="MODEL")
    ] = None,
    lexicon: Annotated[
        Optional[Path],
        typer.Option(
            "--lexicon", "-l", help="The folder of a lexicon, instead of the pipeline's own", metavar="LEXICON"
        ),
    ] = None,
    files: Annotated[
        Optional[List[Path]],
        typer.Option("--file", "-i", help="A file with more texts; repeatable", metavar="PATH"),
    ] = None,
    format: TextFormatOption = "auto",
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The .svg or .html file to write; several texts make numbered .svg files",
            metavar="PATH",
        ),
    ] = Path("lattice.html"),
    style: Annotated[str, typer.Option(help=f"Drawing of words: {' or '.join(STYLES)}", metavar="NAME")] = "bars",
    theme: Annotated[str, typer.Option(help=f"Colours: {', '.join(THEMES)}", metavar="NAME")] = "auto",
    width: Annotated[int, typer.Option(help="Maximal width in pixels; longer texts wrap")] = 960,
    spans_key: Annotated[
        Optional[str], typer.Option(help="Show these spans of the Docs instead of entities", metavar="KEY")
    ] = None,
    explained: Annotated[
        bool, typer.Option("--explain", help="Measure how scores change without each word; hover over it to see")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Show the file in the browser")] = False,
) -> None:
    """Draw texts: characters, lexicon words, and entities with label and score.

    Give a pipeline, a lexicon, or both. A pipeline without a lexicon shows its entities, a lexicon alone its words.

    \b
    Examples:
      python -m spacy lexner lattice 南京市长江大桥 --model training/model-best
      python -m spacy lexner lattice 南京市长江大桥 --lexicon lexicon --output lattice.svg --style arcs
      python -m spacy lexner lattice --model training/model-best --file sentences.txt --output sentences.html
      python -m spacy lexner lattice 南京市长江大桥 --model training/model-best --explain
    """
    with failing("Nothing was drawn"):
        if not texts and not files:
            raise ValueError("Give a text to draw, or a file of texts (--file).")
        if model is None and lexicon is None:
            raise ValueError("Give a pipeline (--model), a lexicon (--lexicon), or both.")
        nlp = prepare(model, lexicon)
        words = find_lexicon(nlp) if lexicon is None else Lexicon.open(lexicon)
        lines = [*(texts or []), *(read_texts(files, format) if files else [])]
        pictures = []
        keys: Set[str] = set()
        with note_words(nlp):
            for doc in progress(nlp.pipe(lines), total=len(lines)):
                if explained:
                    explain(nlp, doc)
                picture = draw_lattice(doc, words, spans_key=spans_key, style=style, theme=theme, width=width)  # type: ignore[arg-type]
                pictures.append(picture)
                keys.update(doc.spans)
        check_spans_key(spans_key, keys)
        written = save_pictures(pictures, output, title=lines[0][:MAX_TITLE])
    n_words = sum(len(picture.lattice.words) for picture in pictures)
    n_entities = sum(len(picture.lattice.tracks[0].marks) for picture in pictures)
    place = f"{written[0]} to {written[-1].name}" if len(written) > 1 else f"{output}"
    msg.good(f"{place}: {len(pictures)} texts, {n_words} candidate words, {n_entities} entities")
    if show:
        typer.launch(str(written[0]))


def prepare(model: Optional[str], lexicon: Optional[Path]) -> Language:
    """Load a pipeline (None: one that only splits Chinese into characters), and set its lexicon if one is given."""
    nlp = load_pipeline("blank:zh" if model is None else model)
    if lexicon is not None:
        for matcher in find_matchers(nlp).values():
            matcher.set_lexicon(Lexicon.open(lexicon))
    return nlp
