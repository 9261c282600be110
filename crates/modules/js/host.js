// The packages hook modules import from their host: as much of them as hooks use.
(() => {
  "use strict";
  const { offer, host } = globalThis.__ona;

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
  const Key = new Proxy({ ctrl: (key) => `ctrl+${key}`, shift: (key) => `shift+${key}`, alt: (key) => `alt+${key}` }, {
    get: (target, name) => target[name] ?? (typeof name === "string" ? name : undefined),
  });

  offer("@oh-my-pi/pi-tui", () => ({
    Text, TruncatedText, Spacer, Container, Box, Markdown, SelectList, Key, matchesKey, visibleWidth, truncateToWidth,
    wrapTextWithAnsi, CURSOR_MARKER: "",
  }));

  // ---- schemas

  const schema = (type) => (options) => ({ type, ...options });
  const optional = Symbol.for("TypeBox.Optional");
  const Type = {
    String: schema("string"), Number: schema("number"), Integer: schema("integer"), Boolean: schema("boolean"), Null: schema("null"),
    Any: (options) => ({ ...options }), Unknown: (options) => ({ ...options }),
    Literal: (value, options) => ({ const: value, type: typeof value, ...options }),
    Array: (items, options) => ({ type: "array", items, ...options }),
    Tuple: (items, options) => ({ type: "array", items, minItems: items.length, maxItems: items.length, ...options }),
    Object: (properties, options) => {
      const required = Object.keys(properties).filter((key) => !properties[key][optional]);
      return { type: "object", properties, ...(required.length ? { required } : {}), ...options };
    },
    Record: (key, value, options) => ({ type: "object", additionalProperties: value, ...options }),
    Union: (anyOf, options) => ({ anyOf, ...options }),
    Intersect: (allOf, options) => ({ allOf, ...options }),
    Enum: (values, options) => ({ enum: Object.values(values), ...options }),
    Optional: (one) => Object.defineProperty({ ...one }, optional, { value: true }),
    Unsafe: (options) => ({ ...options }),
    Partial: (one) => Type.Object(Object.fromEntries(Object.entries(one.properties).map(([key, value]) => [key, Type.Optional(value)]))),
  };
  offer(["@sinclair/typebox", "typebox"], () => ({ Type, Static: undefined }));
  offer("@oh-my-pi/pi-ai", () => ({
    Type,
    StringEnum: (values, options) => ({ type: "string", enum: [...values], ...options }),
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
  function formatSize(bytes) {
    if (bytes < 1024) return `${bytes}B`;
    return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / 1048576).toFixed(1)}MB`;
  }
  const markdownTheme = new Proxy({}, { get: () => (value) => String(value) });
  offer("@oh-my-pi/pi-coding-agent", () => ({
    DynamicBorder, BorderedLoader, convertToLlm, serializeConversation, formatSize,
    getMarkdownTheme: () => markdownTheme,
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
