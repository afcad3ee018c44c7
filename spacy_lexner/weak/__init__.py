"""From a dictionary and raw texts to a model: texts labelled in part, and models that teach each other the rest."""
