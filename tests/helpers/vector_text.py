"""Small vector files in word2vec's text format."""

import gzip


def write_vectors(path, rows, header=True):
    """Write a file, compressed if its name ends in .gz. RETURNS (str): Its path."""
    lines = [f"{len(rows)} {len(next(iter(rows.values())))}"] if header else []
    lines += [f"{key} {' '.join(map(str, row))}" for key, row in rows.items()]
    text = ("\n".join(lines) + "\n").encode("utf8")
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)
