// Every text of the page, in English and Chinese. Values stand in braces.
const TABLE = {
  "skip": ["Skip to the text", "跳到文本"],
  "title": ["lexner: entities in Chinese text", "lexner：中文命名实体"],
  "language.switch": ["中文", "English"],
  "language.name": ["切换到中文", "Switch to English"],
  "theme.auto": ["Theme: system", "主题：跟随系统"],
  "theme.light": ["Theme: light", "主题：浅色"],
  "theme.dark": ["Theme: dark", "主题：深色"],
  "offline": ["Not connected. Trying again…", "连接中断，正在重试…"],
  "busy": ["Working…", "处理中…"],
  "retry": ["Try again", "重试"],
  "percent.small": ["< 1%", "< 1%"],

  "text.title": ["Text", "文本"],
  "text.hint": ["Type or paste Chinese text", "输入或粘贴中文文本"],
  "text.count": ["{n} of {limit} characters", "{n} / {limit} 字符"],
  "text.too-long": ["{n} characters: too many. This service takes {limit}.", "共 {n} 字符，超过上限 {limit}。"],
  "text.examples": ["Examples", "示例"],
  "text.clear": ["Clear", "清空"],

  "result.title": ["Entities", "实体"],
  "result.name": ["The text with its entities. Arrow keys move from one to the next, Enter shows what it rests on.",
    "标注后的文本。方向键在实体间移动，回车查看依据。"],
  "result.empty": ["Entities appear here while you type. Point at one to see what it rests on.",
    "输入时，实体会显示在这里。指向实体可查看其依据。"],
  "result.none": ["No entities found.", "没有发现实体。"],
  "result.one": ["1 entity", "1 个实体"],
  "result.many": ["{n} entities", "{n} 个实体"],
  "entity": ["{text}, {label}, score {score}", "{text}，{label}，得分 {score}"],
  "entity.plain": ["{text}, {label}", "{text}，{label}"],
  "conflicts.name": ["Rules that could not be followed", "未能遵守的规则"],
  "conflict": ["{word}: “{rule}” was not followed: {why}", "{word}：未能遵守“{rule}”：{why}"],
  "conflict.tokens": ["it does not begin and end with tokens", "其边界不在词符边界上"],
  "conflict.kept": ["{winner} was there before", "此前已有 {winner}"],
  "conflict.overlap": ["“{winner}” overlaps it and comes first", "与之重叠的“{winner}”优先"],
  "conflict.other": ["{reason}", "{reason}"],

  "card.name": ["What the entity rests on", "实体的依据"],
  "card.rests": ["Rests on", "依据的词"],
  "card.attention": ["attention", "注意力"],
  "card.change": ["without it", "去掉后"],
  "card.nothing": ["No word of the dictionary: the model knows it from the context alone.",
    "没有词典词：模型仅凭上下文识别。"],
  "card.measuring": ["Measuring…", "测量中…"],
  "card.attention-only": ["The text is too long to measure the score without each word ({limit} characters).",
    "文本过长（上限 {limit} 字符），无法测量去掉各词后的得分。"],
  "card.use": ["To the dictionary", "加入词典面板"],
  "card.close": ["Close", "关闭"],
  "card.said": ["{text} rests on {words}", "{text} 的依据：{words}"],
  "card.said-word": ["{word} ({attention}, {change} without it)", "{word}（{attention}，去掉后 {change}）"],

  "lattice.title": ["Candidate words", "候选词"],
  "lattice.name": ["Lattice: the text with the dictionary's words below it. The list of words follows.",
    "词格：文本及其下方的词典词。其后是词语列表。"],
  "words.one": ["1 word of the dictionary", "词典中的 1 个词"],
  "words.many": ["{n} words of the dictionary", "词典中的 {n} 个词"],
  "words.name": ["Candidate words", "候选词"],
  "words.note": ["Choose one to change it in the dictionary.", "点选可在词典面板中修改。"],
  "words.more": ["and {n} more", "另有 {n} 个"],

  "alternatives.title": ["Other readings", "其他解读"],
  "alternatives.as-shown": ["as shown above", "如上所示"],
  "alternatives.instead": ["instead of", "而非"],
  "uncertain.title": ["Uncertain", "不确定"],
  "uncertain.none": ["Nothing: the model is sure.", "没有：模型很确定。"],

  "recent.title": ["Last texts", "最近的文本"],
  "recent.note": ["Changes of the dictionary are tried on these. They stay on this device, until the tab is closed.",
    "词典改动会在这些文本上试验。文本只留在本机，关闭标签页即清除。"],

  "panel.title": ["Dictionary", "词典"],
  "word.label": ["Word", "词语"],
  "word.hint": ["Type it, or select it in the text", "输入，或在文本中选取"],
  "word.unknown": ["Not in the dictionary.", "词典中没有。"],
  "word.known": ["In the dictionary.", "词典中已有。"],
  "rule": ["{rule}", "{rule}"],
  "word.known-as": ["In the dictionary: {what}.", "词典中已有：{what}。"],
  "mode.legend": ["What it does", "作用"],
  "mode.word": ["Word", "词语"],
  "mode.force": ["Force", "强制"],
  "mode.forbid": ["Forbid", "禁止"],
  "mode.prefer": ["Prefer", "偏好"],
  "mode.hint": ["Hint", "提示"],
  "mode.word.note": ["A candidate, with its label as evidence: the model decides.", "作为候选词，标签仅供参考，由模型决定。"],
  "mode.force.note": ["Always an entity with this label.", "始终是该标签的实体。"],
  "mode.forbid.note": ["Never an entity with this label, or with any.", "绝不是该标签（或任何标签）的实体。"],
  "mode.prefer.note": ["More likely with this label; less with a negative weight.", "更可能是该标签；权重为负则更不可能。"],
  "mode.hint.note": ["No rule: its rules are dropped, the word stays as evidence.", "不设规则：去除其规则，词语仍作参考。"],
  "label.label": ["Label", "标签"],
  "label.none": ["none", "无"],
  "label.any": ["any", "任何"],
  "weight.label": ["Weight", "权重"],
  "apply": ["Add", "添加"],
  "remove": ["Remove word", "删除词语"],
  "replace": ["Replace its rules", "替换其规则"],
  "word.missing": ["Name a word first.", "请先填写词语。"],
  "label.missing": ["Choose a label first.", "请先选择标签。"],
  "weight.missing": ["The weight is a number from −1000 to 1000, not 0.", "权重应为 −1000 到 1000 之间的非零数字。"],
  "done": ["Done.", "已完成。"],
  "done.nothing": ["Nothing to change: the dictionary has it already.", "无需改动：词典中已有。"],
  "done.undone": ["Undone.", "已撤销。"],

  "effect.would": ["This would change {changed} of {of} texts", "将改变 {of} 个文本中的 {changed} 个"],
  "effect.word": ["This word changes {changed} of {of} texts", "该词改变了 {of} 个文本中的 {changed} 个"],
  "effect.rule": ["This rule changes {changed} of {of} texts", "该规则改变了 {of} 个文本中的 {changed} 个"],
  "effect.removed": ["Its removal changes {changed} of {of} texts", "删除改变了 {of} 个文本中的 {changed} 个"],
  "effect.before": ["before", "之前"],
  "effect.after": ["after", "之后"],
  "effect.no-names": ["no entities", "无实体"],

  "changes.title": ["Last changes", "最近的改动"],
  "change.add_words": ["Added {words}", "添加 {words}"],
  "change.remove_words": ["Removed {words}", "删除 {words}"],
  "change.add_rules": ["Rule for {words}", "{words} 的规则"],
  "change.remove_rules": ["Rules of {words} removed", "去除 {words} 的规则"],
  "change.upload_words": ["Uploaded {n} words", "上传 {n} 个词"],
  "change.upload_rules": ["Uploaded rules for {n} words", "上传 {n} 个词的规则"],
  "change.undo": ["Undid a change of {words}", "撤销了对 {words} 的改动"],
  "change.other": ["Changed {words}", "改动 {words}"],
  "change.undone": ["undone", "已撤销"],
  "undo": ["Undo", "撤销"],
  "undo.name": ["Undo: {what}", "撤销：{what}"],

  "token.label": ["Token", "令牌"],
  "token.hint": ["Needed for changes", "修改词典时需要"],
  "token.note": ["Kept in this page only, and forgotten when it closes.", "仅保存在此页面中，关闭即清除。"],
  "token.off": ["This service takes no changes: it was started without a token file. Effects can still be tried.",
    "此服务未设令牌文件，不接受改动；但仍可试看效果。"],

  "problem.0": ["The service cannot be reached.", "无法连接服务。"],
  "problem.400": ["The service did not understand this.", "服务无法理解此请求。"],
  "problem.401": ["The token is missing or wrong. Changes need that of the service.", "令牌缺失或错误。修改词典需要本服务的令牌。"],
  "problem.403": ["This service takes no changes.", "此服务不接受改动。"],
  "problem.404": ["That is not there.", "没有找到。"],
  "problem.408": ["That took too long.", "处理超时。"],
  "problem.409": ["This contradicts something in the dictionary.", "与词典中已有的内容矛盾。"],
  "problem.413": ["That is too much at once.", "内容过多。"],
  "problem.422": ["The service cannot process this.", "服务无法处理此内容。"],
  "problem.429": ["The service is busy. Please try again in a moment.", "服务繁忙，请稍后再试。"],
  "problem.503": ["The service is not ready. Please try again in a moment.", "服务暂不可用，请稍后再试。"],
  "problem.507": ["The change could not be saved, so nothing was changed.", "改动无法保存，因此未作任何改动。"],
  "problem.other": ["Something went wrong in the service.", "服务出现错误。"],

  "footer.model": ["Model {name} {version}", "模型 {name} {version}"],
  "footer.words": ["{words} words, dictionary {lex}", "{words} 个词，词典版本 {lex}"],
  "footer.docs": ["API", "API"],
};

const TARGETS = { t: "text", tName: "aria-label", tHint: "placeholder" };
const said = new WeakMap(); // for each element, what it says and where
let language = 0;

function show(value) {
  if (value && value.t) return text(value.t, value.values);
  if (value && value.join) return value.join.map(show).join(value.by ?? (language ? "、" : ", "));
  return typeof value === "number" ? value.toLocaleString(tag()) : String(value ?? "");
}

/** The text of that name. Values are texts, numbers, {t, values} for a text of the table, or {join, by} for a list. */
export function text(key, values = {}) {
  return TABLE[key][language].replace(/\{(\w+)\}/g, (_, name) => show(values[name]));
}

/** An element says a text, now and after a change of the language; `where` is "text" or an attribute. */
export function say(node, key, values = {}, where = "text") {
  said.set(node, { ...said.get(node), [where]: key && [key, values] });
  node.toggleAttribute("data-said", true);
  write(node);
  return node;
}

export function has(key) {
  return key in TABLE;
}

/** A rule as the service writes it, such as "prefer GPE 2", as a value of a text. */
export function rule(written) {
  const [mode, ...rest] = written.split(" ");
  return { join: [has(`mode.${mode}`) ? { t: `mode.${mode}` } : mode, ...rest], by: " " };
}

export function percent(share) {
  return share > 0 && share < 0.005 ? text("percent.small") : `${Math.round(100 * share)}%`;
}

export function signed(change) {
  const size = Math.abs(change).toFixed(2);
  return Number(size) ? `${change < 0 ? "−" : "+"}${size}` : size;
}

export function tag() {
  return ["en", "zh-Hans"][language];
}

export function setLanguage(name) {
  language = name === "zh" ? 1 : 0;
  document.documentElement.lang = tag();
  document.title = text("title");
  for (const node of document.querySelectorAll("[data-t], [data-t-name], [data-t-hint]"))
    for (const [data, where] of Object.entries(TARGETS))
      if (data in node.dataset && !said.get(node)?.[where]) say(node, node.dataset[data], {}, where);
  document.querySelectorAll("[data-said]").forEach(write);
}

function write(node) {
  for (const [where, what] of Object.entries(said.get(node) ?? {})) {
    const content = what ? text(...what) : "";
    if (where === "text") node.textContent = content;
    else node.setAttribute(where, content);
  }
}
