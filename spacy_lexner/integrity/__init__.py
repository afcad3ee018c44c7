"""What was saved is what is loaded: checksums of folders, and folders that are replaced as a whole."""
