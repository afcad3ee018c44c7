// Language and theme: the browser's, or what was chosen here.
import { $ } from "./dom.js";
import { say, setLanguage } from "./strings.js";

const THEMES = ["auto", "light", "dark"];

export function setUpPreferences({ onTheme }) {
  let language = read("language") ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
  let theme = THEMES.includes(read("theme")) ? read("theme") : "auto";
  const show = () => {
    document.documentElement.dataset.theme = theme;
    say($("theme"), `theme.${theme}`);
    $("language").lang = language === "zh" ? "en" : "zh-Hans";
    setLanguage(language);
    onTheme(theme);
  };
  $("language").addEventListener("click", () => {
    language = language === "zh" ? "en" : "zh";
    write("language", language);
    show();
  });
  $("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    write("theme", theme);
    show();
  });
  show();
}

function read(name) {
  try {
    return localStorage.getItem(`lexner.${name}`);
  } catch {
    return null;
  }
}

function write(name, value) {
  try {
    localStorage.setItem(`lexner.${name}`, value);
  } catch { /* no storage: it holds while the page is open */ }
}
