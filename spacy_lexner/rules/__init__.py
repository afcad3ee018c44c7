"""The effect of a dictionary on a pipeline: tests of its rules, differences between dictionaries, words worth
adding."""
