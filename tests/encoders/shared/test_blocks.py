import inspect
from dataclasses import dataclass
from typing import ClassVar, Literal, Optional, Tuple

import pytest
from thinc.api import ConfigValidationError

from spacy_lexner.encoders.shared.blocks import Block, BuilderWithBlocks


@dataclass(frozen=True)
class Walls(Block):
    block = "walls"
    least: ClassVar = {"doors": 0, "windows": 1}
    shares: ClassVar = ("glass",)
    colour: Literal["red", "blue"] = "red"
    height: float = 2.5
    doors: int = 1
    insulated: bool = False
    builder: Optional[str] = None
    windows: Optional[int] = None
    glass: float = 0.5
    floors: Tuple[int, ...] = (1,)


@pytest.mark.parametrize(
    "given", [{}, {"colour": "blue", "height": 3, "builder": "x"}, {"builder": None, "doors": 0}, {"glass": 1}]
)
def test_options(given):
    assert vars(Walls.read(given)) == {**vars(Walls()), **given}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"color": "red"}, r"walls -> color\s+unknown option. The block has colour, height, doors, insulated, "),
        ({"colour": "pink"}, r"walls -> colour\s+got 'pink', expected one of 'red', 'blue'"),
        ({"height": "tall"}, r"walls -> height\s+got 'tall', expected float"),
        ({"height": True}, r"walls -> height\s+got True, expected float"),
        ({"doors": 1.5}, r"walls -> doors\s+got 1.5, expected int"),
        ({"doors": None}, r"walls -> doors\s+got None, expected int"),
        ({"doors": -1}, r"walls -> doors\s+got -1, expected int of at least 0"),
        ({"insulated": 1}, r"walls -> insulated\s+got 1, expected bool"),
        ({"builder": 7}, r"walls -> builder\s+got 7, expected str or null"),
        ({"windows": 0}, r"walls -> windows\s+got 0, expected int or null of at least 1"),
        ({"glass": 1.5}, r"walls -> glass\s+got 1.5, expected float from 0 to 1"),
        ({"glass": -0.1}, r"walls -> glass\s+got -0.1, expected float from 0 to 1"),
        ({"floors": ("top",)}, r"walls -> floors\s+got \('top',\), expected a list of int"),
    ],
)
def test_errors_name_the_block_the_option_and_what_was_expected(given, message):
    with pytest.raises(ConfigValidationError, match=message):
        Walls.read(given)


def house(rooms: int = 1, walls: Optional[dict] = None) -> int:
    """Build a house."""
    return rooms


BUILD = BuilderWithBlocks(house, "House.v1", [Walls], {"paint": "walls.colour", "walls": "walls.builder"})


def test_a_builder_looks_like_the_function():
    assert BUILD(rooms=3) == 3
    assert inspect.signature(BUILD) == inspect.signature(house)
    assert (BUILD.__doc__, BUILD.__name__, BUILD.__module__) == (house.__doc__, house.__name__, __name__)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"doors": 2}, r"doors\s+belongs in a block of this section: \[...walls\] doors"),
        ({"paint": "red"}, r"paint\s+belongs in a block of this section: \[...walls\] colour"),
        ({"walls": "brick"}, r"walls\s+belongs in a block of this section: \[...walls\] builder"),
    ],
)
def test_an_option_outside_of_its_block(section, message):
    config = {"@architectures": "House.v1", "rooms": 2, **section}
    with pytest.raises(ConfigValidationError, match=message):
        inspect.signature(BUILD)
    assert config.pop("rooms") == 2


@pytest.mark.parametrize("section", [{}, {"walls": {"doors": 2}}, {"roof": "flat"}])
def test_other_sections_are_left_to_the_caller(section):
    config = {"@architectures": "House.v1", **section}
    assert inspect.signature(BUILD) == inspect.signature(house)
    assert config
