"""What a dictionary does to a pipeline: tests of its rules, differences between two of them, words worth adding."""
