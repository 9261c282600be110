// The packages hook modules import from their host: as much of them as hooks use.
(() => {
  "use strict";
  const { offer, host, schemas, toolkit } = globalThis.__ona;

  // ---- text as a terminal counts it

  const escapes = /\u001b\[[0-9;]*[A-Za-z]|\u001b\][^\u0007]*(?:\u0007|\u001b\\)/g;
  const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]/u;
  const columns = (letter) => (/\p{Mark}|\u200d|[\ufe00-\ufe0f]/u.test(letter) ? 0 : wide.test(letter) ? 2 : 1);
  const visibleWidth = (value) => [...String(value).replace(escapes, "")].reduce((sum, one) => sum + columns(one), 0);
  function truncateToWidth(value, width, ellipsis = "...") {
    const source = String(value);
    if (visibleWidth(source) <= width) return source;
    const room = Math.max(0, width - visibleWidth(ellipsis));
    let out = "";
    let used = 0;
    for (let at = 0; at < source.length;) {
      escapes.lastIndex = at;
      const escape = escapes.exec(source);
      if (escape && escape.index === at) { out += escape[0]; at += escape[0].length; continue; }
      const letter = String.fromCodePoint(source.codePointAt(at));
      if (used + columns(letter) > room) break;
      out += letter;
      used += columns(letter);
      at += letter.length;
    }
    return out + ellipsis;
  }
  function wrapTextWithAnsi(value, width) {
    const lines = [];
    for (const paragraph of String(value).split("\n")) {
      let line = "";
      for (const word of paragraph.split(" ")) {
        const longer = line === "" ? word : `${line} ${word}`;
        if (visibleWidth(longer) <= width || line === "") line = longer;
        else { lines.push(line); line = word; }
      }
      lines.push(line);
    }
    return lines;
  }

  // ---- components: they render lines

  class Text {
    constructor(value = "", paddingX = 1, paddingY = 1) { this.text = value; this.paddingX = paddingX; this.paddingY = paddingY; }
    setText(value) { this.text = value; }
    invalidate() {}
    render(width) {
      const blank = Array(this.paddingY).fill("");
      const side = " ".repeat(this.paddingX);
      const lines = wrapTextWithAnsi(this.text, Math.max(1, width - 2 * this.paddingX)).map((line) => side + line);
      return [...blank, ...lines, ...blank];
    }
  }
  class TruncatedText extends Text {
    render(width) { return [truncateToWidth(this.text, width)]; }
  }
  class Spacer {
    constructor(lines = 1) { this.lines = lines; }
    setLines(lines) { this.lines = lines; }
    invalidate() {}
    render() { return Array(this.lines).fill(""); }
  }
  class Container {
    constructor() { this.children = []; }
    addChild(child) { this.children.push(child); }
    removeChild(child) { this.children = this.children.filter((one) => one !== child); }
    clear() { this.children = []; }
    invalidate() { for (const child of this.children) child.invalidate?.(); }
    render(width) { return this.children.flatMap((child) => child.render(width)); }
  }
  class Box extends Container {
    constructor(paddingX = 1, paddingY = 1, paint) { super(); this.paddingX = paddingX; this.paddingY = paddingY; this.paint = paint; }
    setBgFn(paint) { this.paint = paint; }
    render(width) {
      const blank = Array(this.paddingY).fill("");
      const side = " ".repeat(this.paddingX);
      const lines = super.render(Math.max(1, width - 2 * this.paddingX)).map((line) => side + line);
      return [...blank, ...lines, ...blank].map((line) => (this.paint ? this.paint(line) : line));
    }
  }
  class Markdown extends Text {
    constructor(value, paddingX = 0, paddingY = 0) { super(value, paddingX, paddingY); }
  }
  class DynamicBorder {
    constructor(paint = (value) => value) { this.paint = paint; }
    invalidate() {}
    render(width) { return [this.paint("─".repeat(Math.max(1, width)))]; }
  }
  class SelectList {
    constructor(items, visible = 10, look = {}) {
      Object.assign(this, { items, visible, look, filtered: items, selected: 0, onSelect: undefined, onCancel: undefined, onSelectionChange: undefined });
    }
    setFilter(value) { this.filtered = this.items.filter((one) => one.value.toLowerCase().startsWith(value.toLowerCase())); this.selected = 0; }
    setSelectedIndex(index) { this.selected = Math.max(0, Math.min(index, this.filtered.length - 1)); }
    getSelectedItem() { return this.filtered[this.selected] ?? null; }
    invalidate() {}
    render(width) {
      const first = Math.max(0, Math.min(this.selected - Math.floor(this.visible / 2), this.filtered.length - this.visible));
      return this.filtered.slice(first, first + this.visible).map((item, at) => {
        const mark = first + at === this.selected ? "→ " : "  ";
        return truncateToWidth(mark + (item.label ?? item.value) + (item.description ? `  ${item.description}` : ""), width);
      });
    }
    handleInput(data) {
      const count = this.filtered.length;
      if (matchesKey(data, "up")) this.selected = (this.selected + count - 1) % Math.max(1, count);
      else if (matchesKey(data, "down")) this.selected = (this.selected + 1) % Math.max(1, count);
      else if (matchesKey(data, "enter")) this.onSelect?.(this.getSelectedItem());
      else if (matchesKey(data, "escape")) this.onCancel?.();
    }
  }
  class BorderedLoader extends Container {
    constructor(tui, theme, message) {
      super();
      this.controller = new AbortController();
      this.signal = this.controller.signal;
      this.addChild(new DynamicBorder());
      this.addChild(new Text(message ?? "", 1, 0));
      this.addChild(new DynamicBorder());
    }
    handleInput(data) { if (matchesKey(data, "escape")) { this.controller.abort(); this.onAbort?.(); } }
    dispose() {}
  }

  const KEYS = {
    up: ["\u001b[A", "\u001bOA"], down: ["\u001b[B", "\u001bOB"], right: ["\u001b[C", "\u001bOC"], left: ["\u001b[D", "\u001bOD"],
    enter: ["\r", "\n"], return: ["\r", "\n"], escape: ["\u001b"], esc: ["\u001b"], tab: ["\t"], space: [" "],
    backspace: ["\u007f", "\b"], delete: ["\u001b[3~"], home: ["\u001b[H"], end: ["\u001b[F"], "shift+tab": ["\u001b[Z"],
    pageup: ["\u001b[5~"], pagedown: ["\u001b[6~"],
  };
  function matchesKey(data, key) {
    const name = String(key).toLowerCase();
    if (KEYS[name]) return KEYS[name].includes(data);
    const control = /^ctrl\+([a-z])$/.exec(name);
    if (control) return data === String.fromCharCode(control[1].charCodeAt(0) - 96);
    return data === key;
  }
  const held = (...names) => (key) => [...names, key].join("+");
  const Key = new Proxy({
    ctrl: held("ctrl"), shift: held("shift"), alt: held("alt"), ctrlShift: held("ctrl", "shift"), ctrlAlt: held("ctrl", "alt"),
    shiftAlt: held("shift", "alt"), ctrlShiftAlt: held("ctrl", "shift", "alt"),
  }, {
    get: (target, name) => target[name] ?? (typeof name === "string" ? name : undefined),
  });

  offer("@oh-my-pi/pi-tui", () => ({
    Text, TruncatedText, Spacer, Container, Box, Markdown, SelectList, Key, matchesKey, visibleWidth, truncateToWidth,
    wrapTextWithAnsi, CURSOR_MARKER: "", Editor: CustomEditor, Input: CustomEditor, Loader: BorderedLoader,
    parseKey: (data) => Object.keys(KEYS).find((key) => KEYS[key].includes(data)) ?? data,
    isKeyRelease: () => false, isKeyRepeat: () => false, decodeKittyPrintable: () => undefined,
  }));

  // ---- colours by the names of the chalk package

  const CODES = {
    bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], inverse: [7, 27], strikethrough: [9, 29],
    black: [30, 39], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39], gray: [90, 39], grey: [90, 39],
    bgRed: [41, 49], bgGreen: [42, 49], bgYellow: [43, 49], bgBlue: [44, 49], bgMagenta: [45, 49], bgCyan: [46, 49], bgWhite: [47, 49],
  };
  const brush = (codes) => new Proxy((...parts) => codes.reduceRight((text, [on, off]) => `\u001b[${on}m${text}\u001b[${off}m`, parts.join(" ")), {
    get: (target, name) => (CODES[name] ? brush([...codes, CODES[name]]) : ["hex", "rgb", "ansi256"].includes(name) ? () => brush(codes) : target[name]),
  });
  offer("chalk", () => { const chalk = brush([]); return { default: chalk, chalk }; });

  // ---- talking to models, which only ona does

  const noModel = (name) => async () => { throw new Error(`${name}: modules cannot ask a model; ona asks one at a time`); };
  offer("@oh-my-pi/pi-ai", () => ({
    ...schemas, complete: noModel("complete"), completeSimple: noModel("completeSimple"), stream: noModel("stream"), streamSimple: noModel("streamSimple"),
    getModel: (provider, id) => host.ask("models.find", [provider, id]),
    getModels: () => host.ask("models.all", []) ?? [],
  }));

  // ---- the agent's own package

  const joined = (content) => (typeof content === "string" ? content : (content ?? []).filter((one) => one.type === "text").map((one) => one.text).join("\n"));
  const result = (name) => (event) => event?.toolName === name;
  function convertToLlm(messages) {
    return messages.flatMap((message) => {
      switch (message.role) {
        case "user": case "assistant": case "toolResult": return [message];
        case "custom": case "hookMessage":
          return [{ role: "user", content: typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content, timestamp: message.timestamp }];
        case "branchSummary": case "compactionSummary":
          return [{ role: "user", content: [{ type: "text", text: message.summary }], timestamp: message.timestamp }];
        default: return [];
      }
    });
  }
  function serializeConversation(messages) {
    return messages.flatMap((message) => {
      if (message.role === "user") return [`[User]: ${joined(message.content)}`];
      if (message.role === "toolResult") return [`[Tool result]: ${joined(message.content)}`];
      if (message.role !== "assistant") return [];
      const lines = joined(message.content) ? [`[Assistant]: ${joined(message.content)}`] : [];
      const calls = message.content.filter((one) => one.type === "toolCall").map((one) => `${one.name}(${JSON.stringify(one.arguments)})`);
      return calls.length ? [...lines, `[Assistant tool calls]: ${calls.join("; ")}`] : lines;
    }).join("\n\n");
  }
  // `---` lines around `key: value` lines at the top of a text.
  function parseFrontmatter(text) {
    const found = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text);
    if (!found) return { frontmatter: {}, body: text };
    const lines = found[1].split(/\r?\n/).map((line) => /^([A-Za-z0-9_-]+):\s*(.*)$/.exec(line)).filter(Boolean);
    const plain = (value) => (/^(["']).*\1$/.test(value) ? value.slice(1, -1) : value);
    return { frontmatter: Object.fromEntries(lines.map(([, key, value]) => [key, plain(value.trim())])), body: found[2].trim() };
  }
  const LANGUAGES = { ts: "typescript", tsx: "typescript", js: "javascript", mjs: "javascript", py: "python", rs: "rust", go: "go", sh: "bash", md: "markdown", json: "json", yml: "yaml", yaml: "yaml", html: "html", css: "css" };
  // A line a person types into; components of modules build on it.
  class CustomEditor {
    constructor(tui) { this.tui = tui; this.text = ""; this.focused = false; }
    getText() { return this.text; }
    setText(value) { this.text = String(value); this.onChange?.(this.text); }
    handleInput(data) {
      if (matchesKey(data, "enter")) this.onSubmit?.(this.text);
      else if (matchesKey(data, "backspace")) this.setText([...this.text].slice(0, -1).join(""));
      else if (!/[\u0000-\u001f]/.test(data)) this.setText(this.text + data);
    }
    invalidate() {}
    render(width) { return wrapTextWithAnsi(this.text, width); }
  }
  function createEventBus() {
    const known = new Map();
    return {
      on(name, handler) { known.set(name, [...(known.get(name) ?? []), handler]); return () => known.set(name, known.get(name).filter((one) => one !== handler)); },
      emit(name, data) { for (const handler of known.get(name) ?? []) handler(data); },
      clear() { known.clear(); },
    };
  }

  const markdownTheme = new Proxy({}, { get: () => (value) => String(value) });
  offer("@oh-my-pi/pi-coding-agent", () => ({
    ...schemas, ...toolkit, DynamicBorder, BorderedLoader, CustomEditor, convertToLlm, serializeConversation, parseFrontmatter, createEventBus,
    stripFrontmatter: (text) => parseFrontmatter(text).body,
    getMarkdownTheme: () => markdownTheme, getSelectListTheme: () => markdownTheme, getSettingsListTheme: () => markdownTheme,
    getLanguageFromPath: (path) => LANGUAGES[String(path).split(".").pop()],
    highlightCode: (code) => String(code).split("\n"),
    keyHint: (key, words) => `${key} ${words}`, keyText: (key) => String(key), rawKeyHint: (key, words) => `${key} ${words}`,
    getShellConfig: () => ({ shell: "/bin/sh", args: ["-c"] }),
    getAgentDir: () => host.ask("paths.agentDir", []),
    isToolCallEventType: (name, event) => event?.toolName === name,
    isBashToolResult: result("bash"), isReadToolResult: result("read"), isEditToolResult: result("edit"),
    isWriteToolResult: result("write"), isGrepToolResult: result("grep"), isFindToolResult: result("find"), isLsToolResult: result("ls"),
    execCommand: (command, args, cwd, options) => {
      const { signal, ...rest } = options ?? {};
      return host.call("exec", [command, args ?? [], { cwd, ...rest }], signal);
    },
    logger: host.logger,
    VERSION: "13.19.0",
  }));
})();
