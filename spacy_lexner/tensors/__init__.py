"""Where arrays become tensors and tensors arrays."""
