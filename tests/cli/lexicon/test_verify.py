from spacy_lexner.lexicon import audit


def test_sound(run, folder):
    code, output = run("verify", folder)
    assert code == 0 and "3 words, all as they were saved" in output


def test_damaged(run, folder):
    [part] = folder.glob("vectors-*")
    data = bytearray(part.read_bytes())
    data[-1] ^= 1
    part.write_bytes(data)
    code, output = run("verify", folder)
    assert code == 1 and part.name in output and "SHA-256" in output


def test_a_lexicon_that_contradicts_itself(run, folder, monkeypatch):
    monkeypatch.setattr(audit, "hash_word", lambda word: 1)
    code, output = run("verify", folder)
    assert code == 1 and "contradicts itself" in output and "the hash is not that of the word" in output
