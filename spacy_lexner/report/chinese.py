"""Chinese translations of the strings on a report's page."""

from typing import Dict

from ..visualize.picture import LEGEND
from .errors import BOTH, BOUNDARY, CORRECT, MISSED, SPURIOUS, TYPE
from .measure import GOLD, MODEL
from .report import EMPTIED, WITHOUT

CHINESE: Dict[str, str] = {
    ".": "。",
    ":": "：",
    "{texts} texts, {characters} characters, {entities} entities": "{texts} 条文本，{characters} 字，{entities} 个实体",
    "{seen} of them have a text that is an entity in the training data too, {unseen} do not.": (
        "其中 {seen} 个的文字在训练数据里也是实体，{unseen} 个不是。"
    ),
    "Scores": "分数",
    "By type": "各类型",
    "Errors": "错误",
    "Confusion": "混淆",
    "Confidence": "置信度",
    "Worst texts": "最差的文本",
    "model": "模型",
    "type": "类型",
    "entities": "实体数",
    "precision": "精确率",
    "recall": "召回率",
    "F": "F",
    "found": "正确",
    "wrong": "错误",
    "missed": "漏识",
    "seconds": "秒",
    "95 % interval": "95 % 区间",
    "better in": "更好的比例",
    "compared with {model}": "与 {model} 比较",
    "{model} is better by": "{model} 的优势",
    "An entity is found if both its boundaries and its type are right. Small figures: 95 % confidence interval, from "
    "{n} test sets of the same size, drawn from this one with replacement.": (
        "边界和类型全对的实体才算正确。小字为 95 % 置信区间，由 {n} 个从本测试集有放回抽取的同样大小的测试集得到。"
    ),
    "The lexicon": "词典",
    "than with its lexicon emptied: dependence": "对比清空词典：依赖程度",
    "than trained without words: worth": "对比无词训练：词的价值",
    "A model that was trained with words relies on them: emptying its lexicon shows how much it depends on them, not "
    "what they bring.": "有词训练的模型会依赖词：清空词典只说明依赖程度，不是词带来的收益。",
    "That takes a model trained with an empty lexicon (--without-words).": (
        "要知道收益，需要一个用空词典训练的模型（--without-words）。"
    ),
    "What they bring is the difference to a model that never had any.": "收益是与从未用词的模型之差。",
    "Seen and unseen entities": "见过与未见的实体",
    "seen: precision": "见过：精确率",
    "unseen: precision": "未见：精确率",
    "{n} texts could not be processed; all their entities count as missed. The first reason: {reason}": (
        "{n} 条文本无法处理，其中的实体全部算漏识。第一个原因：{reason}"
    ),
    "F-score by type": "各类型的 F 值",
    CORRECT: "正确",
    TYPE: "类型",
    BOUNDARY: "边界",
    BOTH: "类型和边界",
    MISSED: "漏识",
    SPURIOUS: "误识",
    "type: right boundaries, wrong type. boundary: right type, overlapping boundaries. type and boundary: overlapping "
    "boundaries, wrong type. missed and spurious: nothing overlaps, or only what is paired with another entity.": (
        "类型：边界对，类型错。边界：类型对，位置有重叠。类型和边界：位置有重叠，类型错。"
        "漏识和误识：没有重叠，或重叠的已与别的实体配对。"
    ),
    "no entity": "非实体",
    "Rows: gold type. Columns: predicted type, whether or not the boundaries are right. The stronger the colour, the "
    "greater the share of the row.": "行：标准类型。列：预测类型，不论边界对错。颜色越深，在该行占比越大。",
    "Expected calibration error {ece:.3f}, {n} predictions": "期望校准误差 {ece:.3f}，{n} 个预测",
    "The model gives no scores (ent._.lex_score).": "该模型不给分数（ent._.lex_score）。",
    "Reliability": "可靠性",
    "Confidences": "置信度分布",
    "confidence → share right": "置信度 → 正确比例",
    "confidence": "置信度",
    "right": "正确",
    "{n} predictions, mean confidence {score}, right {share}": "{n} 个预测，平均置信度 {score}，正确 {share}",
    "{low} to {high}: {right} right, {wrong} wrong": "{low} 到 {high}：{right} 个正确，{wrong} 个错误",
    "At most {n} texts, those with most errors.": "错误最多的文本，最多 {n} 条。",
    "{n} texts": "{n} 条文本",
    " to ": " 到 ",
    EMPTIED: "清空词典",
    WITHOUT: "无词训练",
    GOLD: "标准",
    MODEL: "模型",
    LEGEND: (
        "字的上方是实体及其标签和置信度，下方是文本中的词典词：模型越关注（没有注意力时按权重越高），颜色越深。"
        "带框的词是实体，条纹是该词在词典里的标签。"
    ),
}
