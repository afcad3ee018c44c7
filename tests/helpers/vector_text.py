"""Small files of vectors, as word2vec writes them."""

import gzip


def write_vectors(path, rows, header=True):
    """Write a file; one whose name ends in .gz is compressed. RETURNS (str): Its path."""
    lines = [f"{len(rows)} {len(next(iter(rows.values())))}"] if header else []
    lines += [f"{key} {' '.join(map(str, row))}" for key, row in rows.items()]
    text = ("\n".join(lines) + "\n").encode("utf8")
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)
