// The globals hook modules expect, for an engine that has the language and nothing else.
(() => {
  "use strict";
  const { host } = globalThis.__ona;
  const native = globalThis.__native;
  delete globalThis.__native;
  const define = (name, value) => {
    if (globalThis[name] === undefined) Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  };

  // ---- console: to the log, never to the screen

  const line = (level) => (...parts) => host.tell("log", [level, parts.map((one) => (typeof one === "string" ? one : host.inspect(one))).join(" ")]);
  globalThis.console = {
    log: line("info"), info: line("info"), warn: line("warn"), error: line("error"), debug: line("debug"), trace: line("debug"),
    dir: line("info"), table: line("info"), group() {}, groupEnd() {}, time() {}, timeEnd() {}, count() {},
    assert: (holds, ...parts) => { if (!holds) globalThis.console.error("Assertion failed:", ...parts); },
  };

  // ---- timers: the engine calls `tick` when one is due

  const timers = new Map();
  let lastTimer = 0;
  class Timeout {
    constructor(id) { this.id = id; }
    ref() { return this; }
    unref() { return this; }
    hasRef() { return true; }
    refresh() { const one = timers.get(this.id); if (one) one.due = native.now() + one.wait; return this; }
    close() { timers.delete(this.id); }
    [Symbol.toPrimitive]() { return this.id; }
  }
  const start = (handler, wait, args, repeat) => {
    const id = ++lastTimer;
    const ms = Math.max(1, Number(wait) || 0);
    timers.set(id, { due: native.now() + ms, wait: ms, handler, args, repeat, id });
    return new Timeout(id);
  };
  const stop = (timer) => { if (timer !== undefined && timer !== null) timers.delete(Number(timer)); };
  define("setTimeout", (handler, wait, ...args) => start(handler, wait, args, false));
  define("setInterval", (handler, wait, ...args) => start(handler, wait, args, true));
  define("setImmediate", (handler, ...args) => start(handler, 0, args, false));
  define("clearTimeout", stop);
  define("clearInterval", stop);
  define("clearImmediate", stop);
  define("queueMicrotask", (handler) => { Promise.resolve().then(handler); });
  // Runs what is due; answers how many milliseconds until the next, or -1.
  globalThis.__ona.tick = () => {
    if (timers.size === 0) return -1;
    const now = native.now();
    const due = [...timers.values()].filter((one) => one.due <= now).sort((a, b) => a.due - b.due || a.id - b.id);
    for (const one of due) {
      if (!timers.has(one.id)) continue;
      if (one.repeat) one.due = now + one.wait;
      else timers.delete(one.id);
      try { one.handler(...one.args); } catch (error) { host.logger.error("in a timer:", error); }
    }
    let next = -1;
    for (const one of timers.values()) if (next < 0 || one.due < next) next = one.due;
    return next < 0 ? -1 : Math.max(0, next - native.now());
  };
  define("performance", { now: () => native.now(), timeOrigin: Date.now() });

  // ---- events and aborting

  class Event {
    constructor(type, init) { this.type = type; Object.assign(this, init); this.defaultPrevented = false; }
    preventDefault() { this.defaultPrevented = true; }
    stopPropagation() {}
  }
  class EventTarget {
    #listeners = new Map();
    addEventListener(type, listener, options) {
      if (!this.#listeners.has(type)) this.#listeners.set(type, []);
      this.#listeners.get(type).push({ listener, once: !!options?.once });
    }
    removeEventListener(type, listener) {
      this.#listeners.set(type, (this.#listeners.get(type) ?? []).filter((one) => one.listener !== listener));
    }
    dispatchEvent(event) {
      event.target ??= this;
      const all = this.#listeners.get(event.type) ?? [];
      this.#listeners.set(event.type, all.filter((one) => !one.once));
      for (const { listener } of all) (listener.handleEvent ?? listener).call(this, event);
      this[`on${event.type}`]?.(event);
      return !event.defaultPrevented;
    }
  }
  class DOMException extends Error {
    constructor(message, name = "Error") { super(message); this.name = name; this.code = name === "AbortError" ? 20 : 0; }
  }
  class AbortSignal extends EventTarget {
    aborted = false;
    reason = undefined;
    throwIfAborted() { if (this.aborted) throw this.reason; }
    static abort(reason) { const one = new AbortController(); one.abort(reason); return one.signal; }
    static timeout(ms) {
      const one = new AbortController();
      setTimeout(() => one.abort(new DOMException("The operation timed out.", "TimeoutError")), ms);
      return one.signal;
    }
    static any(signals) {
      const one = new AbortController();
      for (const signal of signals) {
        if (signal.aborted) one.abort(signal.reason);
        else signal.addEventListener("abort", () => one.abort(signal.reason), { once: true });
      }
      return one.signal;
    }
  }
  class AbortController {
    signal = new AbortSignal();
    abort(reason) {
      if (this.signal.aborted) return;
      this.signal.aborted = true;
      this.signal.reason = reason ?? new DOMException("This operation was aborted", "AbortError");
      this.signal.dispatchEvent(new Event("abort"));
    }
  }
  define("Event", Event); define("EventTarget", EventTarget); define("DOMException", DOMException);
  define("AbortSignal", AbortSignal); define("AbortController", AbortController);

  // ---- bytes and text

  const utf8 = {
    encode: (value) => new Uint8Array(native.encode(String(value))),
    decode: (bytes) => {
      const parts = [];
      let out = [];
      for (let at = 0; at < bytes.length;) {
        const first = bytes[at];
        const length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
        let point = length === 1 ? first : first & (0x7f >> length);
        let good = length > 0 && at + length <= bytes.length;
        for (let next = 1; good && next < length; next += 1) {
          good = (bytes[at + next] & 0xc0) === 0x80;
          point = (point << 6) | (bytes[at + next] & 0x3f);
        }
        good &&= length < 3 || (point >= (length === 3 ? 0x800 : 0x10000) && point < 0x110000 && (point < 0xd800 || point > 0xdfff));
        out.push(good ? point : 0xfffd);
        at += good ? length : 1;
        if (out.length > 4096) { parts.push(String.fromCodePoint(...out)); out = []; }
      }
      parts.push(String.fromCodePoint(...out));
      return parts.join("");
    },
  };
  define("TextEncoder", class TextEncoder {
    encoding = "utf-8";
    encode(value = "") { return utf8.encode(value); }
    encodeInto(value, target) { const bytes = utf8.encode(value).subarray(0, target.length); target.set(bytes); return { read: value.length, written: bytes.length }; }
  });
  define("TextDecoder", class TextDecoder {
    encoding = "utf-8";
    decode(bytes) {
      if (bytes === undefined) return "";
      return utf8.decode(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    }
  });
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  function toBase64(bytes) {
    let out = "";
    for (let at = 0; at < bytes.length; at += 3) {
      const [a, b, c] = [bytes[at], bytes[at + 1], bytes[at + 2]];
      out += ALPHABET[a >> 2] + ALPHABET[((a & 3) << 4) | ((b ?? 0) >> 4)];
      out += b === undefined ? "=" : ALPHABET[((b & 15) << 2) | ((c ?? 0) >> 6)];
      out += c === undefined ? "=" : ALPHABET[c & 63];
    }
    return out;
  }
  function fromBase64(value) {
    const letters = String(value).replaceAll("-", "+").replaceAll("_", "/").replace(/[^A-Za-z0-9+/]/g, "");
    const out = [];
    for (let at = 0; at < letters.length; at += 4) {
      const [a, b, c, d] = [...letters.slice(at, at + 4)].map((one) => ALPHABET.indexOf(one));
      if (b === undefined) break;
      out.push((a << 2) | (b >> 4));
      if (c !== undefined) out.push(((b & 15) << 4) | (c >> 2));
      if (d !== undefined) out.push(((c & 3) << 6) | d);
    }
    return new Uint8Array(out);
  }
  define("btoa", (value) => toBase64(Uint8Array.from(String(value), (one) => one.charCodeAt(0))));
  define("atob", (value) => String.fromCharCode(...fromBase64(value)));
  class Buffer extends Uint8Array {
    static from(value, encoding, length) {
      if (typeof value === "string") {
        switch (String(encoding ?? "utf8").toLowerCase()) {
          case "hex": return Buffer.#of(Uint8Array.from(value.match(/[0-9a-f]{2}/gi) ?? [], (one) => Number.parseInt(one, 16)));
          case "base64": case "base64url": return Buffer.#of(fromBase64(value));
          case "latin1": case "binary": case "ascii": return Buffer.#of(Uint8Array.from(value, (one) => one.charCodeAt(0) & 255));
          default: return Buffer.#of(utf8.encode(value));
        }
      }
      if (value instanceof ArrayBuffer) return new Buffer(value, encoding, length);
      return Buffer.#of(value?.type === "Buffer" ? value.data : value);
    }
    static #of(bytes) { const made = new Buffer(bytes.length); made.set(bytes); return made; }
    static alloc(size, fill) { const made = new Buffer(size); if (fill !== undefined) made.fill(typeof fill === "string" ? fill.charCodeAt(0) : fill); return made; }
    static allocUnsafe(size) { return new Buffer(size); }
    static isBuffer(value) { return value instanceof Buffer; }
    static byteLength(value, encoding) { return typeof value === "string" ? Buffer.from(value, encoding).length : value.byteLength; }
    static concat(list) {
      const made = new Buffer(list.reduce((sum, one) => sum + one.length, 0));
      let at = 0;
      for (const one of list) { made.set(one, at); at += one.length; }
      return made;
    }
    static compare(one, other) { return one.toString("hex") < other.toString("hex") ? -1 : one.equals(other) ? 0 : 1; }
    toString(encoding, start, end) {
      const bytes = this.subarray(start ?? 0, end ?? this.length);
      switch (String(encoding ?? "utf8").toLowerCase()) {
        case "hex": return Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
        case "base64": return toBase64(bytes);
        case "base64url": return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
        case "latin1": case "binary": case "ascii": return Array.from(bytes, (one) => String.fromCharCode(one)).join("");
        default: return utf8.decode(bytes);
      }
    }
    toJSON() { return { type: "Buffer", data: [...this] }; }
    equals(other) { return this.length === other.length && this.every((one, at) => one === other[at]); }
    slice(start, end) { return this.subarray(start, end); }
    write(value, at = 0) { const bytes = utf8.encode(value); this.set(bytes.subarray(0, this.length - at), at); return bytes.length; }
  }
  define("Buffer", Buffer);
  globalThis.__ona.bytes = { toBase64, fromBase64, native };

  define("structuredClone", function clone(value, options, seen = new Map()) {
    if (typeof value === "function" || typeof value === "symbol") throw new DOMException(`${String(value)} could not be cloned.`, "DataCloneError");
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const again = (one) => clone(one, undefined, seen);
    if (value instanceof Date) return new Date(value.getTime());
    if (value instanceof RegExp) return new RegExp(value.source, value.flags);
    if (value instanceof ArrayBuffer) return value.slice(0);
    if (ArrayBuffer.isView(value)) return new value.constructor(value);
    if (value instanceof Error) { const made = new value.constructor(value.message); made.stack = value.stack; return made; }
    if (value instanceof Map) { const made = new Map(); seen.set(value, made); for (const [key, one] of value) made.set(again(key), again(one)); return made; }
    if (value instanceof Set) { const made = new Set(); seen.set(value, made); for (const one of value) made.add(again(one)); return made; }
    const made = Array.isArray(value) ? [] : {};
    seen.set(value, made);
    for (const key of Object.keys(value)) made[key] = again(value[key]);
    return made;
  });

  // ---- addresses

  const unescape = (value) => { try { return decodeURIComponent(value.replaceAll("+", " ")); } catch { return value; } };
  const escape = (value) => encodeURIComponent(value).replace(/[!'()~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`).replaceAll("%20", "+");
  class URLSearchParams {
    #list = [];
    constructor(init = "") {
      if (typeof init === "string") {
        for (const pair of init.replace(/^\?/, "").split("&")) {
          if (pair === "") continue;
          const at = pair.indexOf("=");
          this.#list.push(at < 0 ? [unescape(pair), ""] : [unescape(pair.slice(0, at)), unescape(pair.slice(at + 1))]);
        }
      } else for (const [key, value] of Symbol.iterator in init ? init : Object.entries(init)) this.#list.push([String(key), String(value)]);
    }
    get(key) { return this.#list.find(([name]) => name === key)?.[1] ?? null; }
    getAll(key) { return this.#list.filter(([name]) => name === key).map(([, value]) => value); }
    has(key) { return this.#list.some(([name]) => name === key); }
    append(key, value) { this.#list.push([String(key), String(value)]); }
    set(key, value) {
      const at = this.#list.findIndex(([name]) => name === key);
      if (at < 0) this.append(key, value);
      else { this.#list[at] = [key, String(value)]; this.#list = this.#list.filter(([name], index) => name !== key || index <= at); }
    }
    delete(key) { this.#list = this.#list.filter(([name]) => name !== key); }
    forEach(visit) { for (const [key, value] of this.#list) visit(value, key, this); }
    sort() { this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); }
    keys() { return this.#list.map(([key]) => key)[Symbol.iterator](); }
    values() { return this.#list.map(([, value]) => value)[Symbol.iterator](); }
    entries() { return this.#list.map((pair) => [...pair])[Symbol.iterator](); }
    [Symbol.iterator]() { return this.entries(); }
    get size() { return this.#list.length; }
    toString() { return this.#list.map(([key, value]) => `${escape(key)}=${escape(value)}`).join("&"); }
  }
  const PORTS = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21" };
  class URL {
    constructor(value, base) {
      let text = String(value).trim();
      if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) {
        if (base === undefined) throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: text });
        const from = new URL(base);
        if (text.startsWith("//")) text = from.protocol + text;
        else if (text.startsWith("/")) text = `${from.protocol}//${from.#authority()}${text}`;
        else if (text.startsWith("#")) text = from.href.replace(/#.*$/, "") + text;
        else if (text.startsWith("?")) text = `${from.protocol}//${from.#authority()}${from.pathname}${text}`;
        else text = `${from.protocol}//${from.#authority()}${from.pathname.replace(/[^/]*$/, "")}${text}`;
      }
      const found = /^([a-z][a-z0-9+.-]*:)(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(text);
      if (!found) throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: text });
      const [, protocol, user, place, path, search, hash] = found;
      this.protocol = protocol.toLowerCase();
      [this.username, this.password] = [...(user ?? "").split(":"), "", ""];
      const port = /^(.*?)(?::(\d+))?$/.exec(place ?? "");
      this.hostname = port[1].toLowerCase();
      this.port = port[2] === PORTS[this.protocol] ? "" : (port[2] ?? "");
      this.slashes = place !== undefined;
      if (this.slashes && this.hostname === "" && this.protocol !== "file:") throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: text });
      const parts = [];
      for (const part of path.split("/")) {
        if (part === "..") { if (parts.length > 1) parts.pop(); } else if (part !== ".") parts.push(part);
      }
      if (/(^|\/)\.{1,2}$/.test(path)) parts.push("");
      this.pathname = this.slashes ? encodeURI(parts.join("/") || "/").replaceAll("%25", "%") : path;
      if (this.slashes && !this.pathname.startsWith("/")) this.pathname = `/${this.pathname}`;
      this.hash = hash === "#" ? "" : (hash ?? "");
      this.searchParams = new URLSearchParams(search ?? "");
      this.rawSearch = search === "?" ? "" : (search ?? "");
      Object.defineProperty(this, "rawSearch", { enumerable: false });
    }
    #authority() { return `${this.username ? `${this.username}${this.password ? `:${this.password}` : ""}@` : ""}${this.host}`; }
    get host() { return this.port ? `${this.hostname}:${this.port}` : this.hostname; }
    get origin() { return this.slashes && this.protocol !== "file:" ? `${this.protocol}//${this.host}` : "null"; }
    get search() {
      const now = this.searchParams.toString();
      if (now === new URLSearchParams(this.rawSearch).toString()) return this.rawSearch;
      return now ? `?${now}` : "";
    }
    set search(value) { this.rawSearch = value && !value.startsWith("?") ? `?${value}` : value; this.searchParams = new URLSearchParams(value); }
    get href() { return `${this.protocol}${this.slashes ? `//${this.#authority()}` : ""}${this.pathname}${this.search}${this.hash}`; }
    toString() { return this.href; }
    toJSON() { return this.href; }
    static canParse(value, base) { try { new URL(value, base); return true; } catch { return false; } }
  }
  define("URLSearchParams", URLSearchParams);
  define("URL", URL);

  // ---- the process, as a module may see it

  const surroundings = JSON.parse(native.surroundings);
  const writer = (level) => ({
    write: (value) => { host.tell("log", [level, String(value).replace(/\n$/, "")]); return true; }, isTTY: false, columns: 80, on() {}, end() {},
  });
  const listeners = () => globalThis.process;
  globalThis.process = {
    env: surroundings.env, pid: surroundings.pid, ppid: 1, platform: surroundings.platform, arch: surroundings.arch, argv: ["ona", surroundings.module],
    argv0: "ona", execPath: "ona", title: "ona", version: "v20.0.0", versions: { node: "20.0.0" }, release: { name: "node" }, exitCode: undefined,
    cwd: () => surroundings.cwd,
    chdir: () => { throw new Error("process.chdir is not available to hook modules"); },
    exit: (code) => { throw new Error(`process.exit(${code ?? ""}) is not available to hook modules`); },
    kill: (pid, signal) => host.ask("process.kill", [pid, signal ?? "SIGTERM"]),
    nextTick: (handler, ...args) => queueMicrotask(() => handler(...args)),
    hrtime: Object.assign((since) => {
      const ms = native.now();
      const now = [Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6)];
      return since ? [now[0] - since[0], now[1] - since[1]] : now;
    }, { bigint: () => BigInt(Math.floor(native.now() * 1e6)) }),
    uptime: () => native.now() / 1000, memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
    umask: () => 0o22, getuid: () => surroundings.uid, emitWarning: (value) => host.logger.warn(String(value)),
    stdout: writer("info"), stderr: writer("warn"), stdin: { isTTY: false, on() {}, setEncoding() {}, resume() {}, pause() {} },
    on: listeners, once: listeners, off: listeners, addListener: listeners, removeListener: listeners, emit: () => false,
  };
  define("global", globalThis);
  globalThis.__ona.surroundings = surroundings;
  define("fetch", async () => { throw new Error("fetch is not available in the embedded engine; set ONA_JS_RUNTIME to an installed runtime"); });
})();
