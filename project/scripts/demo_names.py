"""The names of the demo corpus: composed from parts, then divided into those seen in training and the rest."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Sequence, Set

TRAIN, DEV, TEST = "train", "dev", "test"
SHARES = {TRAIN: 0.6, DEV: 0.15, TEST: 0.25}
COUNTS = {
    "full": 300, "foreign": 40, "nick": 45,
    "city": 90, "county": 90,
    "mountain": 45, "river": 45, "lake": 35, "bridge": 40, "road": 60, "scenic": 60,
    "company": 120, "bank": 30, "univ": 45, "school": 35, "hospital": 35,
    "gov": 40, "media": 28, "team": 25, "inst": 22,
}  # fmt: skip
DECOYS = 700


class Name(NamedTuple):
    """One name: its text, its label, its kind (which templates ask for) and the base that decides its pool: 南京 and
    南京市 share a base, so that neither gives the other away."""

    text: str
    label: str
    kind: str
    base: str


def compose_names(parts: Dict[str, Any], rng: Random) -> List[Name]:
    """Compose the names of all four types.

    parts (Dict[str, Any]): Contents of `demo/names.json`.
    rng (Random): Source of randomness; the same state gives the same names.
    RETURNS (List[Name]): The names, without duplicates within a kind.
    """
    return [*_persons(parts["person"], rng), *_places(parts["place"], rng), *_organisations(parts, rng)]


def assign_pools(names: Sequence[Name], reserved: Dict[str, Sequence[str]], rng: Random) -> Dict[str, str]:
    """Assign each base to a pool, stratified by kind. A name of several types (黄山) has one pool.

    names (Sequence[Name]): All names.
    reserved (Dict[str, Sequence[str]]): For each pool, the bases that must be in it.
    rng (Random): Source of randomness.
    RETURNS (Dict[str, str]): The pool of each base.
    """
    pools = {base: pool for pool, bases in reserved.items() for base in bases}
    by_kind: Dict[str, List[str]] = defaultdict(list)
    for name in names:
        if name.base not in by_kind[name.kind]:
            by_kind[name.kind].append(name.base)
    for bases in by_kind.values():
        rng.shuffle(bases)
        for i, base in enumerate(bases):
            share = (i + 0.5) / len(bases)
            pool = TRAIN if share < SHARES[TRAIN] else DEV if share < SHARES[TRAIN] + SHARES[DEV] else TEST
            pools.setdefault(base, pool)
    return pools


def compose_decoys(parts: Dict[str, Any], taken: Iterable[str], rng: Random) -> List[str]:
    """Compose words that look like names but are not: truncated names, stems, combinations that no text uses.

    parts (Dict[str, Any]): Contents of `demo/names.json`.
    taken (Iterable[str]): The real names.
    rng (Random): Source of randomness.
    RETURNS (List[str]): `DECOYS` words, none of them a name.
    """
    person, place, company = parts["person"], parts["place"], parts["organisation"]
    taken = sorted(set(taken))
    names: Set[str] = set(taken)
    makers: List[Callable[[], str]] = [
        lambda: _given_name(person, rng, rng.choice((1, 2))),
        lambda: _cut(rng.choice(taken), rng),
        lambda: rng.choice(place["stems"]) + rng.choice(place["mountain_suffix"] + place["road_suffix"]),
        lambda: rng.choice(company["company_stems"]) + rng.choice(company["company_suffix"]),
    ]
    decoys: Set[str] = set()
    while len(decoys) < DECOYS:
        word = rng.choice(makers)()
        if len(word) > 1 and word not in names:
            decoys.add(word)
    return sorted(decoys)


def _cut(word: str, rng: Random) -> str:
    return word[:-1] if rng.random() < 0.5 else word[1:]


def _given_name(part: Dict[str, Any], rng: Random, length: int) -> str:
    return rng.choice(part["surnames"]) + "".join(rng.choice(part["given"]) for _ in range(length))


def _distinct(count: int, make: Callable[[], str], fixed: Iterable[str] = ()) -> List[str]:
    """`count` different texts: the fixed ones first, then composed ones."""
    texts = dict.fromkeys(fixed)
    while len(texts) < count:
        texts.setdefault(make())
    return list(texts)


def _persons(part: Dict[str, Any], rng: Random) -> List[Name]:
    def full() -> str:
        return _given_name(part, rng, 2)

    # Names of two characters, half of which also occur within a longer name: 李志 in 李志明.
    short = _distinct(COUNTS["full"] // 3, lambda: _given_name(part, rng, 1))
    longer = [name + rng.choice(part["given"]) for name in short[::2]]
    double = [f"{surname}{rng.choice(part['given'])}" for surname in part["surnames_double"]]
    nicks = _distinct(
        COUNTS["nick"],
        lambda: (
            rng.choice(part["nick_prefix"]) + rng.choice(part["surnames"][:40])
            if rng.random() < 0.7
            else rng.choice(part["surnames"][:40]) + rng.choice(part["nick_suffix"])
        ),
    )
    foreign = _distinct(
        COUNTS["foreign"], lambda: f"{rng.choice(part['foreign_first'])}·{rng.choice(part['foreign_last'])}"
    )
    kinds = {
        "full": _distinct(COUNTS["full"], full, [*part["fixed"], *short, *longer, *double]),
        "jiang": part["jiang"],
        "word": part["words"],
        "nick": nicks,
        "foreign": foreign,
    }
    return [Name(text, "PER", kind, text) for kind, texts in kinds.items() for text in texts]


def _places(part: Dict[str, Any], rng: Random) -> List[Name]:
    names = []
    for city in part["cities"]:
        names += [Name(city, "GPE", "city0", city), Name(f"{city}市", "GPE", "city", city)]
    for stem in rng.sample(part["stems"], COUNTS["county"]):
        county = stem + rng.choice(part["county_suffix"])
        names += [Name(stem, "GPE", "county0", stem), Name(county, "GPE", "county", stem)]
    for province in part["provinces"]:
        names += [Name(province, "GPE", "prov", province), Name(f"{province}省", "GPE", "prov", province)]
    names += [Name(country, "GPE", "country", country) for country in part["countries"]]
    names += [Name(text, "LOC", "long", text) for text in part["long"]]
    for kind, fixed in {
        "mountain": "mountains",
        "river": "rivers",
        "lake": "lakes",
        "bridge": "bridges",
        "road": "roads",
        "scenic": "scenic",
    }.items():
        stems = part["stems"] + (part["cities"] if kind in {"bridge", "road", "scenic"} else [])
        suffixes = part[f"{kind}_suffix"]
        texts = _distinct(COUNTS[kind], lambda: rng.choice(stems) + rng.choice(suffixes), part[fixed])  # noqa: B023
        names += [Name(text, "LOC", kind, text) for text in texts]
    return names


def _organisations(parts: Dict[str, Any], rng: Random) -> List[Name]:
    part, place = parts["organisation"], parts["place"]
    stems = {
        "company": part["company_stems"],
        "bank": place["cities"] + part["company_stems"],
        "univ": place["cities"],
        "school": place["cities"] + place["stems"],
        "hospital": place["cities"] + place["stems"],
        "gov": place["cities"],
        "media": place["cities"] + place["provinces"],
        "team": place["cities"],
        "inst": place["provinces"],
    }
    fixed = {"bank": "banks", "univ": "universities", "gov": "gov", "media": "media", "inst": "inst"}
    names = [Name(text, "ORG", "brand", text) for text in part["brands"]]
    for kind, choices in stems.items():
        suffixes = part[f"{kind}_suffix"]
        texts = _distinct(
            COUNTS[kind],
            lambda: rng.choice(choices) + rng.choice(suffixes),  # noqa: B023
            part[fixed[kind]] if kind in fixed else (),
        )
        names += [Name(text, "ORG", kind, text) for text in texts]
    return names
