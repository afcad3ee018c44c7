from pathlib import Path

import spacy_lexner


def test_every_folder_with_code_is_a_package():
    # setup.py installs packages only: without its __init__.py a folder works in a checkout and is missing elsewhere.
    folders = {file.parent for file in Path(spacy_lexner.__file__).parent.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
