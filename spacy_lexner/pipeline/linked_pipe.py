"""The part of `lex_matcher` that links its lexicon to the models of other pipes, as spaCy links listeners."""

from typing import Any, Dict, List

from spacy.pipeline import Pipe
from thinc.api import Model

from ..candidates.lexicon_node import LexiconLink, RulesLink, trained_width
from ..lexicon.lexicon import Lexicon
from ..lexicon.rules import RuleReader
from ..lexicon.shared_matcher import SharedMatcher


class LinkedPipe(Pipe):
    """A pipe whose lexicon other pipes' models read: encoders its words, taggers its rules."""

    def __init__(self, name: str) -> None:
        """Create the pipe, linked to nothing."""
        self.name = name
        self.source = SharedMatcher()  # holds the lexicon for the models it is linked to
        self.listener_map: Dict[str, List[Model]] = {}  # the linked nodes, by component
        self._rules_unchecked = False

    @property
    def listeners(self) -> List[Model]:
        """The nodes to which the lexicon is linked."""
        return [node for nodes in self.listener_map.values() for node in nodes]

    @property
    def listening_components(self) -> List[str]:
        """Empty, whatever is linked. spaCy takes components named here to share this pipe's model as their encoder: it
        would copy that model for `replace_listeners`, and warn if only one of the two is frozen."""
        return []

    @property
    def rules_links(self) -> List[RulesLink]:
        """RETURNS (List[RulesLink]): The links of the components that follow the rules of this lexicon."""
        links = (node.attrs["link"] for node in self.listeners if self.is_read_by(node))
        return [link for link in links if isinstance(link, RulesLink)]

    @property
    def rule_readers(self) -> List[RuleReader]:
        """RETURNS (List[RuleReader]): For each component that follows rules, which rules apply to it."""
        return [link.reader for link in self.rules_links if link.reader is not None]

    def is_read_by(self, node: Model) -> bool:
        """Whether a registered node reads this lexicon, and not that of another pipe that was linked to it later."""
        return node.attrs["link"].source in (None, self.source)

    @property
    def superseded_by(self) -> str:
        """RETURNS (str): The names of the pipes whose lexicons the linked components read, if none reads this one, as
        when a later `lex_matcher` precedes them all; otherwise empty."""
        if any(map(self.is_read_by, self.listeners)):
            return ""
        owners = (node.attrs["link"].owner for node in self.listeners)
        return ", ".join(sorted({repr(owner.name) for owner in owners if owner is not None}))

    def add_listener(self, listener: Model, component_name: str) -> None:
        """Register a node of a component."""
        nodes = self.listener_map.setdefault(component_name, [])
        if listener not in nodes:
            nodes.append(listener)

    def remove_listener(self, listener: Model, component_name: str) -> bool:
        """RETURNS (bool): Whether the node was registered for the component; it is no longer."""
        nodes = self.listener_map.get(component_name, [])
        if listener not in nodes:
            return False
        nodes.remove(listener)
        if not nodes:
            del self.listener_map[component_name]
        return True

    def find_listeners(self, component: Any) -> None:
        """Link the lexicon to every node of a later component's model that reads candidate words or rules."""
        model = getattr(component, "model", None)
        for node in model.walk() if isinstance(model, Model) else []:
            link = node.attrs.get("link")
            if isinstance(link, LexiconLink):
                link.set(self.source, self, getattr(component, "vocab", None))
                self.add_listener(node, component.name)
                if isinstance(link, RulesLink) and link.reader is not None:  # the component may have been renamed
                    link.reader = link.reader._replace(name=component.name)
                self._rules_unchecked = True

    def check_width(self, lexicon: Lexicon) -> None:
        """Raise ValueError if the vectors of a lexicon with words differ in width from those that linked models were
        trained with."""
        for name, nodes in self.listener_map.items():
            for node in filter(self.is_read_by, nodes):
                width = trained_width(node)
                if len(lexicon) and width not in (None, lexicon.dim):
                    raise ValueError(
                        f"The new lexicon has vectors of {lexicon.dim} dimensions, but {name} was trained with {width} "
                        "(0 means no vectors). Build the lexicon with such vectors, add words without a vector, or "
                        "train the component again with the new lexicon."
                    )
