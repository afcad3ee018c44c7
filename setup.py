"""Packaging of spacy_lexner. The entry points below are the source of truth for every registered name."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
ABOUT = dict(re.findall(r'__(\w+)__ = "(.+?)"', (ROOT / "spacy_lexner" / "about.py").read_text("utf8")))
URL = ABOUT["uri"]
HAS_REPOSITORY = "//example.org/" not in URL
LINK = re.compile(r"\[([^\]]+)\]\((?!https?://|#)([^)]+)\)")  # relative ones; an index of packages cannot follow them
MARK = re.compile(r" ?<!-- --8<--.*?-->")  # what the site includes

ENTRY_POINTS = {
    "spacy_factories": [
        "lex_matcher = spacy_lexner.pipeline.matcher.lex_matcher:make_lex_matcher",
        "lex_ner = spacy_lexner.pipeline.ner.lex_ner:LexNER",
        "lex_segmenter = spacy_lexner.pipeline.segmenter.lex_segmenter:LexSegmenter",
    ],
    "spacy_architectures": [
        "spacy-lexner.LEBERT.v1 = spacy_lexner.encoders.lebert.architecture:build_lebert_v1",
        "spacy-lexner.LEBERTTransformer.v1 = spacy_lexner.encoders.lebert.transformer:build_lebert_transformer_v1",
        "spacy-lexner.Tok2VecLEBERTTransformer.v1 = spacy_lexner.encoders.lebert.transformer:build_tok2vec_v1",
        "spacy-lexner.FLAT.v1 = spacy_lexner.encoders.flat.architecture:build_flat_v1",
        "spacy-lexner.SoftLexicon.v1 = spacy_lexner.encoders.soft_lexicon.architecture:build_soft_lexicon_v1",
        "spacy-lexner.WordBiLSTM.v1 = spacy_lexner.encoders.word_bilstm.architecture:build_word_bilstm_v1",
        "spacy-lexner.ELMo.v1 = spacy_lexner.encoders.elmo.architecture:build_elmo_v1",
        "spacy-lexner.ERNIE.v1 = spacy_lexner.encoders.ernie.architecture:build_ernie_v1",
        "spacy-lexner.CRFTagger.v1 = spacy_lexner.tagging.architecture:build_crf_tagger_v1",
        "spacy-lexner.EnsembleTagger.v1 = spacy_lexner.tagging.ensemble:build_ensemble_tagger_v1",
        "spacy-lexner.MixedEnsembleTagger.v1 = spacy_lexner.tagging.ensemble:build_mixed_ensemble_tagger_v1",
        "spacy-lexner.SoftmaxTagger.v1 = spacy_lexner.tagging.architecture:build_softmax_tagger_v1",
        "spacy-lexner.NCRFTagger.v1 = spacy_lexner.tagging.ncrf.architecture:build_ncrf_tagger_v1",
        "spacy-lexner.PretrainMLM.v1 = spacy_lexner.pretraining.mlm:create_pretrain_mlm",
        "spacy-lexner.PretrainERNIE.v1 = spacy_lexner.pretraining.ernie:create_pretrain_ernie",
        "spacy-lexner.PretrainBiLM.v1 = spacy_lexner.pretraining.bilm:create_pretrain_bilm",
    ],
    "spacy_tokenizers": [
        "spacy-lexner.CharTokenizer.v1 = spacy_lexner.pipeline.char_tokenizer:create_char_tokenizer",
    ],
    "spacy_readers": [
        "spacy-lexner.LexiconFolder.v1 = spacy_lexner.training.lexicon_readers:create_folder_reader",
        "spacy-lexner.WordVectors.v1 = spacy_lexner.training.lexicon_readers:create_vectors_reader",
        "spacy-lexner.JiebaDictionary.v1 = spacy_lexner.training.lexicon_readers:create_jieba_reader",
        "spacy-lexner.WordList.v1 = spacy_lexner.training.lexicon_readers:create_word_list_reader",
        "spacy-lexner.LexiconTable.v1 = spacy_lexner.training.lexicon_readers:create_table_reader",
        "spacy-lexner.VocabVectors.v1 = spacy_lexner.training.lexicon_readers:create_vocab_reader",
        "spacy-lexner.KnowledgeBase.v1 = spacy_lexner.training.lexicon_readers:create_kb_reader",
        "spacy-lexner.EntityVectors.v1 = spacy_lexner.training.lexicon_readers:create_entity_vectors_reader",
        "spacy-lexner.PygtrieLexicon.v1 = spacy_lexner.training.lexicon_readers:create_pygtrie_reader",
        "spacy-lexner.MergedLexicon.v1 = spacy_lexner.training.lexicon_readers:create_merged_reader",
        "spacy-lexner.RepeatedCorpus.v1 = spacy_lexner.training.corpora:RepeatedCorpus",
        "spacy-lexner.TextCorpus.v1 = spacy_lexner.pretraining.text_corpus:TextCorpus",
        "spacy-lexner.TagFile.v1 = spacy_lexner.training.corpora:create_tag_file_reader",
        "spacy-lexner.ClueJsonl.v1 = spacy_lexner.training.corpora:create_clue_reader",
    ],
    "spacy_batchers": [
        "spacy-lexner.batch_by_padded_tokens.v1 = spacy_lexner.training.batchers:PaddedBatcher",
        "spacy-lexner.limit_batches.v1 = spacy_lexner.training.batchers:LimitedBatcher",
        "spacy-lexner.share_batches.v1 = spacy_lexner.training.batchers:SharedBatcher",
    ],
    "spacy_augmenters": [
        "spacy-lexner.join_texts.v1 = spacy_lexner.training.augmenters:create_join_texts_v1",
    ],
    "spacy_callbacks": [
        "spacy-lexner.collect_texts.v1 = spacy_lexner.training.callbacks:TextCollector",
        "spacy-lexner.chain_callbacks.v1 = spacy_lexner.training.callbacks:CallbackChain",
        "spacy-lexner.distil_from.v1 = spacy_lexner.training.callbacks:Distillation",
        "spacy-lexner.load_lexicon.v1 = spacy_lexner.pipeline.matcher.load_lexicon:create_lexicon_loader",
    ],
    "spacy_misc": [
        "spacy-lexner.EntityRatio.v1 = spacy_lexner.tagging.guards:create_entity_ratio",
        "spacy-lexner.NegativeSampling.v1 = spacy_lexner.tagging.guards:create_negative_sampling",
        "spacy-lexner.lexicon_suggester.v1 = spacy_lexner.pipeline.spans.suggester:create_lexicon_suggester",
    ],
    "thinc_optimizers": [
        "spacy-lexner.GroupedAdamW.v1 = spacy_lexner.training.optimizers.adamw:GroupedAdamW",
        "spacy-lexner.GroupedSGD.v1 = spacy_lexner.training.optimizers.sgd:GroupedSGD",
    ],
    "thinc_schedules": [
        "spacy-lexner.warmup_linear.v1 = spacy_lexner.training.optimizers.schedules:warmup_linear",
        "spacy-lexner.warmup_constant.v1 = spacy_lexner.training.optimizers.schedules:warmup_constant",
    ],
    "spacy_scorers": [
        "spacy-lexner.lex_ner_scorer.v1 = spacy_lexner.pipeline.ner.scorer:create_lex_ner_scorer",
        "spacy-lexner.lex_segmenter_scorer.v1 = spacy_lexner.pipeline.segmenter.scorer:create_lex_segmenter_scorer",
    ],
    "spacy_cli": ["lexner = spacy_lexner.cli.app:lexner"],
    "spacy_displacy_colors": ["lexner = spacy_lexner.pipeline.colors:COLORS"],
}

CORE = [
    "spacy>=3.8,<3.9",
    "spacy-transformers>=1.3.8,<2.1",
    "thinc>=8.3.4,<8.4",
    "torch>=2.10",
    "transformers>=4.45,<6",
    "tokenizers>=0.20",
    "safetensors>=0.4.3",
    "numpy>=2.0",
    "srsly>=2.4",
    "pygtrie>=2.5",
    "typer>=0.12",
    "jinja2>=3.0",
    "regex>=2023.0.0",
    "tqdm>=4.60",
    "filelock>=3.13",
]
ZH = ["jieba>=0.42", "spacy-pkuseg>=1.0", "opencc>=1.4"]
VECTORS = [*ZH, "gensim>=4.3"]
ELMO = ["h5py>=3.10"]
KNOWLEDGE = ["pykeen>=1.11"]
DATA = ["pandas>=2.2", "datasets>=4.0", "pyarrow>=21"]
INT8 = ["torchao>=0.18"]
ONNX = ["onnx>=1.20", "onnxruntime>=1.23", "onnxscript>=0.7"]
ACCELERATE = ["accelerate>=1.0"]
RAY = ["ray[data]>=2.60,<2.64", "pyarrow>=21"]
DOCS = ["nbclient>=0.10", "mkdocs-material>=9.7", "mkdocstrings[python]>=1.0", "mkdocs-static-i18n>=1.3", "jieba>=0.42"]
SERVE = ["fastapi>=0.115", "uvicorn>=0.30", "httptools>=0.6", "uvloop>=0.20", "prometheus-client>=0.20", "httpx>=0.27"]
DEV = [
    *VECTORS,
    *ELMO,
    *DATA,
    *SERVE,
    *INT8,
    *ONNX,
    *ACCELERATE,
    *RAY,
    *DOCS,
    "pre-commit>=3.7",
    "pytest>=8",
    "pytest-timeout>=2.3",
    "pytest-xdist>=3.6",
    "playwright>=1.49",
    "hypothesis>=6.100",
    "ruff>=0.12",
    "mypy>=1.11",
    "pytorch-crf>=0.7.2",
    "daachorse>=0.5; platform_machine == 'x86_64' or sys_platform != 'linux'",
    "build>=1.2",
    "twine>=6.1",
    "nbclient>=0.10",
    "ipykernel>=6.29",
    "jsonschema>=4.20",
]


def read_description() -> str:
    """RETURNS (str): The README, with absolute links, or without links where there is no repository to link to."""
    readme = MARK.sub("", (ROOT / "README.md").read_text("utf8"))
    return LINK.sub(rf"[\1]({URL}/blob/main/\2)" if HAS_REPOSITORY else r"\1", readme)


PAGES = {
    "Documentation": f"{URL}/blob/main/docs/usage.md",
    "Source": URL,
    "Issues": f"{URL}/issues",
    "Changelog": f"{URL}/blob/main/CHANGELOG.md",
}

setup(
    name="spacy-lexner",
    version=ABOUT["version"],
    description="Lexicon-enhanced named entity recognition for Chinese, as a spaCy plugin",
    long_description=read_description(),
    long_description_content_type="text/markdown",
    author="the spacy_lexner developers",
    project_urls=PAGES if HAS_REPOSITORY else {},
    license_expression="MIT",
    license_files=["LICENSE"],
    keywords=["spacy", "ner", "named entity recognition", "chinese", "lexicon", "flat", "lebert", "nlp"],
    python_requires=">=3.10",
    packages=[*find_packages(include=["spacy_lexner", "spacy_lexner.*"]), "spacy_lexner.configs"],
    package_dir={"spacy_lexner.configs": "configs"},  # for `spacy lexner init-config`
    package_data={"": ["py.typed", "*.jinja", "*.cfg"], "spacy_lexner.serve": ["page/*"]},
    install_requires=CORE,
    extras_require={
        "zh": ZH,
        "vectors": VECTORS,
        "elmo": ELMO,
        "knowledge": KNOWLEDGE,
        "data": DATA,
        "serve": SERVE,
        "int8": INT8,
        "onnx": ONNX,
        "accelerate": ACCELERATE,
        "ray": RAY,
        "docs": DOCS,
        "dev": DEV,
    },
    entry_points=ENTRY_POINTS,
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Natural Language :: Chinese (Simplified)",
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
)
