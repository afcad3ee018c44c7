"""`spacy-lexner.chain_callbacks.v1`: several callbacks where the config has room for one."""

from typing import Any, Callable, Dict

from spacy.language import Language

CallbackT = Callable[[Language], Language]


def create_callback_chain(callbacks: Dict[str, Any]) -> "CallbackChain":
    """Create a callback that runs others, one after the other.

    callbacks (Dict[str, Callable[[Language], Language]]): The callbacks, as blocks of the config with names of their
        own; they run in the order in which they stand there.
    RETURNS (CallbackChain): The callback.
    """
    return CallbackChain(callbacks)


class CallbackChain:
    """Runs callbacks one after the other. See `create_callback_chain`."""

    def __init__(self, callbacks: Dict[str, CallbackT]) -> None:
        self.callbacks = dict(callbacks)

    def __call__(self, nlp: Language) -> Language:
        """Run the callbacks.

        nlp (Language): The pipeline.
        RETURNS (Language): The pipeline that the last one gives.
        """
        for callback in self.callbacks.values():
            nlp = callback(nlp)
        return nlp
