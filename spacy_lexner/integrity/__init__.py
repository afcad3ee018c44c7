"""Integrity of saved pipelines: checksums of folders, and folders that are replaced atomically."""
