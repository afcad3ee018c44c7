"""`spacy lexner lexicon verify`: whether a lexicon is as it was saved, and holds together."""

from itertools import islice

from tqdm import tqdm
from wasabi import msg

from ...lexicon.audit import BATCH, audit
from ...lexicon.lexicon import Lexicon
from .folder import LexiconArgument

N_FAULTS = 20


def verify_cli(path: LexiconArgument) -> None:
    """Check a lexicon: the SHA-256 of its files, and that every word is found, with what was stored about it.

    \b
    Example:
      python -m spacy lexner lexicon verify lexicon
    """
    try:
        lexicon = Lexicon.open(path, verify=True)
        batches = tqdm(audit(lexicon), desc="words", unit_scale=BATCH, unit=" words", disable=None, leave=False)
        faults = list(islice((fault for batch in batches for fault in batch), N_FAULTS))
    except (ValueError, OSError) as error:
        msg.fail("The lexicon is damaged", str(error), exits=1)
    if faults:
        more = ["and perhaps more"] if len(faults) == N_FAULTS else []
        msg.fail(f"{path}: the lexicon contradicts itself", "\n".join(faults + more), exits=1)
    msg.good(f"{path}: {len(lexicon)} words, all as they were saved", f"Version {lexicon.version:016x}")
