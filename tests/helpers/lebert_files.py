"""A checkpoint as written by the LEBERT authors' code, from tests/fixtures/lebert.

lw_sentences.* were recorded by running that code (liuwei1206/LEBERT @ 60668c0) with the weights of lw_add0, other word
vectors and another head, on the sentences and words of tests/fixtures/pipeline: the predicted tags and the losses.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file

CONFIG = {
    "architectures": ["BertForMaskedLM"],
    "directionality": "bidi",
    "layer_norm_eps": 1e-12,
    "model_type": "bert",
    "pooler_type": "first_token_transform",
    "transformers_version": "4.1.0",
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "vocab_size": 200,
    "word_embed_dim": 20,
    "add_layers": [0],
    "HP_dropout": 0.5,
}


class Files:
    """The paths of the files, and what was recorded."""

    def __init__(self, folder: Path, fixtures: Path, prefix: str = "module."):
        self.inputs = json.loads((fixtures / "pipeline" / "inputs.json").read_text("utf8"))
        self.facts = json.loads((fixtures / "lebert" / "lw_sentences.json").read_text("utf8"))
        self.recorded = load_file(fixtures / "lebert" / "lw_sentences.safetensors")
        self.texts = ["".join(sentence["text"]) for sentence in self.inputs["sentences"]]
        weights = load_file(fixtures / "lebert" / "lw_add0.safetensors")
        state = {name[3:]: tensor for name, tensor in weights.items() if name.startswith("sd.")}
        state["word_embeddings.weight"] = self.recorded["word_embeddings"]
        for name in ("hidden2tag.weight", "hidden2tag.bias", "crf.transitions"):
            state[name] = self.recorded[name]
        self.state = {prefix + name: tensor for name, tensor in state.items()}
        folder.mkdir(parents=True, exist_ok=True)
        self.checkpoint, self.bert = folder / "pytorch_model.bin", folder / "bert"
        self.bert.mkdir()
        torch.save(self.state, self.checkpoint)
        (self.bert / "config.json").write_text(json.dumps(CONFIG), "utf8")
        (self.bert / "vocab.txt").write_text("".join(f"{piece}\n" for piece in self.facts["vocab"]), "utf8")
        self.labels, self.lexicon = folder / "labels.txt", folder / "words.txt"
        self.word_vocab = folder / "word_vocab.txt"
        self.labels.write_text("\n".join(self.facts["labels"]) + "\n", "utf8")
        self.lexicon.write_text("\n".join(f"{word} 0.5" for word in self.inputs["lexicon"]) + "\n", "utf8")
        rows = enumerate(self.facts["word_vocab"])
        self.word_vocab.write_text("".join(f"{i}\t{word}\n" for i, word in rows), "utf8")

    @property
    def arguments(self):
        return {
            "bert": self.bert,
            "labels": self.labels,
            "lexicon": [self.lexicon],
            "word_vocab": self.word_vocab,
            "max_words": self.facts["max_word_num"],
        }

    def tags(self, i):
        """The tags that the original predicts for the characters of a sentence, without [CLS] and [SEP]."""
        length = int(self.recorded["lengths"][i])
        names = [*self.facts["labels"], "<start>", "<stop>"]
        return [names[tag] for tag in self.recorded["tags"][i, 1 : length - 1].tolist()]
