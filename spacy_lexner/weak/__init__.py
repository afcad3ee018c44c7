"""From a dictionary and raw texts to a model: texts are partly labelled, and models teach each other the rest."""
