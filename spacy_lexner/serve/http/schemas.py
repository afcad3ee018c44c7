"""Schemas of request bodies, with working examples."""

from typing import Annotated, Any, Dict, List, Literal, Optional, Tuple, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from ..wanted import Wanted

MAX_ALTERNATIVES = 10
UNCERTAIN = (0.1, 0.9)  # the bounds for `true`
Offsets = Literal["characters", "utf16"]
# The kinds of values of which a member takes one of two. The kind of a value decides what it is checked as, so that a
# client reads no complaint about the other; problems leave the tags out of paths.
PLAIN, NESTED = "<plain>", "<nested>"


def check_unicode(text: str) -> str:
    """Raise ValueError for a lone surrogate, which JSON escapes can encode."""
    try:
        text.encode("utf8")
    except UnicodeEncodeError as error:
        raise ValueError(f"a lone surrogate at {error.start}, which is half a character") from None
    return text


def _kind(value: Any) -> str:
    return NESTED if isinstance(value, (dict, list, tuple, BaseModel)) else PLAIN


Text = Annotated[str, AfterValidator(check_unicode)]
Bounds = Annotated[
    Union[Annotated[bool, Tag(PLAIN)], Annotated[Tuple[float, float], Tag(NESTED)]], Discriminator(_kind)
]


class Body(BaseModel):
    """A JSON object without unknown members."""

    model_config = ConfigDict(extra="forbid")


def _examples(*examples: Dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": list(examples)})


class AnnotateBody(Body):
    """Texts, and what to return for each."""

    model_config = _examples(
        {"text": "南京市长江大桥"},
        {"texts": ["南京市长江大桥", "我在上海"], "words": True, "offsets": "utf16"},
        {"text": "南京市长江大桥", "alternatives": 3, "uncertain": [0.05, 0.95], "explain": "changes", "tokens": True},
    )

    text: Optional[Text] = Field(None, description="One text")
    texts: Optional[List[Text]] = Field(None, min_length=1, description="Several texts, instead of `text`")
    words: bool = Field(False, description="Also return the dictionary words in each text")
    alternatives: int = Field(
        0, ge=0, le=MAX_ALTERNATIVES, description="Also return this many of the most probable paths"
    )
    uncertain: Bounds = Field(
        False, description=f"Also return spans whose probability is between these two; true for {list(UNCERTAIN)}"
    )
    explain: Optional[Literal["attention", "changes"]] = Field(
        None,
        description="Also return the words that each entity rests on, with its attention to them and, for `changes`, "
        "the change of its score without each word, which takes one run of the model per word",
    )
    tokens: bool = Field(False, description="Also return the tokens, and those of each entity")
    offsets: Offsets = Field("characters", description="Unit of offsets: characters, or UTF-16 units as in browsers")

    @model_validator(mode="after")
    def _check(self) -> "AnnotateBody":
        if (self.text is None) == (self.texts is None):
            raise ValueError("give either text or texts")
        bounds = self.bounds
        if bounds is not None and not 0 < bounds[0] <= bounds[1] <= 1:
            raise ValueError("uncertain: expected two probabilities, the lower one above 0, such as [0.1, 0.9]")
        return self

    @property
    def all_texts(self) -> List[str]:
        """RETURNS (List[str]): The texts, or the single text as a list."""
        return [self.text or ""] if self.texts is None else self.texts

    @property
    def wanted(self) -> Wanted:
        """RETURNS (Wanted): What to return for each text."""
        utf16 = self.offsets == "utf16"
        return Wanted(self.words, self.alternatives, self.bounds, self.explain, self.tokens, utf16)

    @property
    def bounds(self) -> Optional[Tuple[float, float]]:
        """RETURNS (Optional[Tuple[float, float]]): The bounds of uncertain spans."""
        if isinstance(self.uncertain, bool):
            return UNCERTAIN if self.uncertain else None
        return self.uncertain


class LatticeBody(Body):
    """A text to draw."""

    model_config = _examples(
        {"text": "南京市长江大桥"}, {"text": "南京市长江大桥", "style": "arcs", "theme": "dark", "width": 640}
    )

    text: Text
    style: Literal["bars", "arcs"] = "bars"
    theme: Literal["auto", "light", "dark"] = "auto"
    width: int = Field(960, ge=200, le=4000, description="Maximum width in pixels; longer texts wrap")
    css: bool = Field(True, description="Include the style sheet; without it, link /lattice.css")
    explain: bool = Field(False, description="Draw words as strongly as the model attends to them")


class WordBody(Body):
    """A word and its fields. Fields that are left out stay as they are."""

    word: Text
    labels: Optional[List[Text]] = None
    weight: Optional[float] = None
    entity_id: Optional[Text] = None


Word = Annotated[Union[Annotated[Text, Tag(PLAIN)], Annotated[WordBody, Tag(NESTED)]], Discriminator(_kind)]


class WordsBody(Body):
    """Words to add or to change."""

    model_config = _examples({"words": ["紫峰大厦", {"word": "长江大桥", "labels": ["bridge"], "weight": 2.0}]})

    words: List[Word] = Field(min_length=1)


class RuleBody(Body):
    """A rule of a word."""

    word: Text
    mode: Literal["hint", "force", "forbid", "prefer"]
    label: Text = ""
    weight: float = 0.0


class RulesBody(Body):
    """Rules to add."""

    model_config = _examples({"rules": [{"word": "长江大桥", "mode": "forbid"}], "replace": True})

    rules: List[RuleBody] = Field(min_length=1)
    replace: bool = Field(False, description="Replace all rules of these words, instead of adding to them")


class RemovalBody(Body):
    """Words to remove, or words whose rules to remove."""

    model_config = _examples({"words": ["长江大桥"]})

    words: List[Text] = []


class PreviewBody(Body):
    """A change to try, and the texts to try it on."""

    model_config = _examples(
        {
            "texts": ["南京市长江大桥", "我在上海"],
            "add_rules": [{"word": "长江大桥", "mode": "forbid"}],
            "replace": True,
        }
    )

    texts: List[Text] = Field(min_length=1)
    add_words: List[Word] = []
    remove_words: List[Text] = []
    add_rules: List[RuleBody] = []
    remove_rules: List[Text] = []
    replace: bool = False
    offsets: Offsets = "characters"


class UndoBody(Body):
    """A change to undo."""

    model_config = _examples({}, {"change": 1})

    change: Optional[int] = Field(None, ge=1, description="Its number; by default the last change not yet undone")


class ReloadBody(Body):
    """Empty: the model is loaded from the same place as before."""

    model_config = _examples({})
