"""The codecs of spaCy's own binary format."""

from srsly.msgpack import msgpack_decoders, msgpack_encoders


def find_codecs_once() -> None:
    """Register the codecs that other packages declare, so that srsly, which packs user data and each span group of a
    Doc on their own, does not look through all installed packages for them each time (0.4 ms)."""
    for registry in (msgpack_encoders, msgpack_decoders):
        if registry.entry_points:
            try:
                declared = registry.get_entry_points()
            except Exception:  # a broken package: srsly raises the same error once it has something to pack
                continue
            registry.entry_points = False
            for name in declared.keys() - registry.get_all().keys():
                registry.register(name, func=declared[name])
