// node:os, node:url, node:util, node:events, node:crypto, node:child_process and small ones.
(() => {
  "use strict";
  const { offer, host, bytes, surroundings } = globalThis.__ona;

  // ---- os

  offer("os", () => ({
    homedir: () => process.env.HOME || surroundings.home, tmpdir: () => (process.env.TMPDIR || "/tmp").replace(/(.)\/$/, "$1"),
    platform: () => surroundings.platform, type: () => (surroundings.platform === "darwin" ? "Darwin" : "Linux"), arch: () => surroundings.arch,
    hostname: () => surroundings.hostname, release: () => "", version: () => "", uptime: () => 0, loadavg: () => [0, 0, 0], totalmem: () => 0, freemem: () => 0,
    cpus: () => Array.from({ length: surroundings.cpus }, () => ({ model: "", speed: 0, times: {} })), availableParallelism: () => surroundings.cpus, networkInterfaces: () => ({}),
    userInfo: () => ({ username: process.env.USER || process.env.LOGNAME || "user", uid: surroundings.uid, gid: surroundings.uid, homedir: process.env.HOME || surroundings.home, shell: process.env.SHELL ?? null }),
    EOL: "\n", devNull: "/dev/null", constants: { signals: { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 } },
  }));

  // ---- url, buffer, process, timers

  offer("url", () => ({
    URL, URLSearchParams,
    fileURLToPath: (value) => {
      const url = new URL(value);
      if (url.protocol !== "file:") throw Object.assign(new TypeError("The URL must be of scheme file"), { code: "ERR_INVALID_URL_SCHEME" });
      return decodeURIComponent(url.pathname);
    },
    pathToFileURL: (path) => new URL(`file://${encodeURI(globalThis.__ona.provided("path").resolve(path)).replaceAll("#", "%23").replaceAll("?", "%3F")}`),
    parse: (value) => { const one = new URL(value, "relative:"); return { ...one, host: one.host, href: one.href, search: one.search, query: one.search.slice(1) }; },
    format: (one) => (one instanceof URL ? one.href : String(one.href ?? one)),
  }));
  offer("buffer", () => ({ Buffer, Blob: undefined, constants: { MAX_LENGTH: 2 ** 31 } }));
  offer("process", () => globalThis.process);
  const wait = (ms, value) => new Promise((resolve) => setTimeout(() => resolve(value), ms));
  offer("timers/promises", () => ({ setTimeout: wait, setImmediate: (value) => wait(0, value), scheduler: { wait } }));
  offer("timers", () => ({ setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises: { setTimeout: wait } }));

  // ---- util

  const shown = (value, depth = 2, seen = new Set()) => {
    if (typeof value === "string") return `'${value.replaceAll("\n", "\\n").replaceAll("'", "\\'")}'`;
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "function") return `[Function: ${value.name || "(anonymous)"}]`;
    if (typeof value !== "object" || value === null) return String(value);
    if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}` : String(value);
    if (value instanceof Date) return value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (seen.has(value)) return "[Circular *1]";
    if (depth < 0) return Array.isArray(value) ? "[Array]" : "[Object]";
    seen.add(value);
    const inner = (one) => shown(one, depth - 1, seen);
    let out;
    if (Array.isArray(value)) out = value.length ? `[ ${value.map(inner).join(", ")} ]` : "[]";
    else if (value instanceof Map) out = `Map(${value.size}) { ${[...value].map(([key, one]) => `${inner(key)} => ${inner(one)}`).join(", ")} }`;
    else if (value instanceof Set) out = `Set(${value.size}) { ${[...value].map(inner).join(", ")} }`;
    else {
      const entries = Object.entries(value).map(([key, one]) => `${/^[\w$]+$/.test(key) ? key : `'${key}'`}: ${inner(one)}`);
      out = entries.length ? `{ ${entries.join(", ")} }` : "{}";
    }
    seen.delete(value);
    return out;
  };
  const inspect = Object.assign((value, options) => shown(value, options?.depth ?? 2), { custom: Symbol.for("nodejs.util.inspect.custom") });
  const format = (first, ...rest) => {
    if (typeof first !== "string") return [first, ...rest].map((one) => (typeof one === "string" ? one : inspect(one))).join(" ");
    const filled = first.replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === "%%") return "%";
      if (!rest.length) return mark;
      const one = rest.shift();
      switch (mark) {
        case "%d": return String(Number(one));
        case "%i": return String(Number.parseInt(one, 10));
        case "%f": return String(Number.parseFloat(one));
        case "%j": return JSON.stringify(one);
        case "%c": return "";
        case "%s": return typeof one === "object" && one !== null ? inspect(one) : String(one);
        default: return inspect(one);
      }
    });
    return [filled, ...rest.map((one) => (typeof one === "string" ? one : inspect(one)))].join(" ");
  };
  const custom = Symbol.for("nodejs.util.promisify.custom");
  const promisify = Object.assign((original) => original[custom] ?? ((...args) => new Promise((resolve, reject) => {
    original(...args, (error, value) => (error ? reject(error) : resolve(value)));
  })), { custom });
  const same = (one, other) => {
    if (Object.is(one, other)) return true;
    if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
    if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
    if (one instanceof Date) return one.getTime() === other.getTime();
    const keys = Object.keys(one);
    return keys.length === Object.keys(other).length && keys.every((key) => key in other && same(one[key], other[key]));
  };
  offer("util", () => ({
    inspect, format, promisify, isDeepStrictEqual: same, TextEncoder, TextDecoder, inherits: (one, parent) => Object.setPrototypeOf(one.prototype, parent.prototype),
    callbackify: (original) => (...args) => { const done = args.pop(); original(...args).then((value) => done(null, value), done); },
    deprecate: (original) => original, debuglog: () => () => {}, stripVTControlCharacters: (value) => String(value).replace(/\u001b\[[0-9;?]*[A-Za-z]/g, ""),
    types: { isPromise: (one) => one instanceof Promise, isDate: (one) => one instanceof Date, isRegExp: (one) => one instanceof RegExp, isNativeError: (one) => one instanceof Error },
    styleText: (style, value) => String(value),
  }));

  // ---- events

  class EventEmitter {
    #listeners = new Map();
    on(name, listener) { if (!this.#listeners.has(name)) this.#listeners.set(name, []); this.#listeners.get(name).push({ listener, once: false }); return this; }
    once(name, listener) { this.on(name, listener); this.#listeners.get(name).at(-1).once = true; return this; }
    off(name, listener) { this.#listeners.set(name, (this.#listeners.get(name) ?? []).filter((one) => one.listener !== listener)); return this; }
    addListener(name, listener) { return this.on(name, listener); }
    removeListener(name, listener) { return this.off(name, listener); }
    removeAllListeners(name) { if (name === undefined) this.#listeners.clear(); else this.#listeners.delete(name); return this; }
    listenerCount(name) { return (this.#listeners.get(name) ?? []).length; }
    listeners(name) { return (this.#listeners.get(name) ?? []).map((one) => one.listener); }
    setMaxListeners() { return this; }
    emit(name, ...args) {
      const all = this.#listeners.get(name) ?? [];
      if (!all.length && name === "error") throw args[0];
      this.#listeners.set(name, all.filter((one) => !one.once));
      for (const { listener } of all) listener.apply(this, args);
      return all.length > 0;
    }
  }
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.once = (emitter, name) => new Promise((resolve, reject) => {
    emitter.once(name, (...args) => resolve(args));
    if (name !== "error") emitter.once("error", reject);
  });
  offer("events", () => Object.assign(EventEmitter, { default: EventEmitter }));

  // ---- crypto

  class Hash {
    #parts = [];
    constructor(name, key) { this.name = name; this.key = key; }
    update(data, encoding) { this.#parts.push(typeof data === "string" ? Buffer.from(data, encoding) : Buffer.from(data)); return this; }
    digest(encoding) {
      const digest = Buffer.from(host.ask("crypto.digest", [this.name, bytes.toBase64(Buffer.concat(this.#parts)), this.key ?? null]), "base64");
      return encoding ? digest.toString(encoding) : digest;
    }
  }
  const randomBytes = (size, done) => {
    const made = Buffer.from(host.ask("crypto.random", [size]), "base64");
    return done ? done(null, made) : made;
  };
  const randomUUID = () => {
    const made = randomBytes(16);
    made[6] = (made[6] & 15) | 64;
    made[8] = (made[8] & 63) | 128;
    return made.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  };
  const key = (value) => bytes.toBase64(typeof value === "string" ? Buffer.from(value) : Buffer.from(value));
  const crypto = {
    createHash: (name) => new Hash(String(name).toLowerCase().replace("-", "")), createHmac: (name, secret) => new Hash(String(name).toLowerCase().replace("-", ""), key(secret)),
    hash: (name, data, encoding = "hex") => crypto.createHash(name).update(data).digest(encoding),
    randomBytes, randomUUID,
    randomInt: (low, high) => { const [from, to] = high === undefined ? [0, low] : [low, high]; return from + (randomBytes(6).reduce((sum, one) => sum * 256 + one, 0) % (to - from)); },
    getRandomValues: (view) => { view.set(randomBytes(view.length)); return view; },
    timingSafeEqual: (one, other) => Buffer.from(one).equals(Buffer.from(other)),
    getHashes: () => ["sha1", "sha256", "sha384", "sha512"],
  };
  offer("crypto", () => ({ ...crypto, webcrypto: crypto }));
  if (globalThis.crypto === undefined) globalThis.crypto = crypto;

  // ---- child_process

  const output = (base64, encoding) => {
    const made = Buffer.from(base64 ?? "", "base64");
    return encoding && encoding !== "buffer" ? made.toString(encoding) : made;
  };
  const request = (command, args, options, shell) => {
    const input = options?.input === undefined ? null : bytes.toBase64(typeof options.input === "string" ? Buffer.from(options.input) : Buffer.from(options.input));
    const wants = shell || options?.shell;
    const [program, list] = wants ? [typeof wants === "string" ? wants : "/bin/sh", ["-c", [command, ...args].join(" ")]] : [command, args];
    const env = options?.env ? Object.fromEntries(Object.entries(options.env).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)])) : null;
    const cwd = options?.cwd instanceof URL ? decodeURIComponent(options.cwd.pathname) : (options?.cwd ?? null);
    return [program, list.map(String), { cwd, env, timeout: options?.timeout ?? null, input, maxBuffer: options?.maxBuffer ?? null }];
  };
  const missing = (command, args, error) => Object.assign(new Error(`spawn ${command} ${error.code ?? "ENOENT"}`), { code: error.code ?? "ENOENT", errno: -2, syscall: `spawn ${command}`, path: command, spawnargs: args });
  const finished = (reply, encoding) => ({
    pid: reply.pid ?? 0, status: reply.killed || reply.signal ? null : reply.code, signal: reply.killed ? "SIGTERM" : (reply.signal ?? null),
    stdout: output(reply.stdout, encoding), stderr: output(reply.stderr, encoding), killed: !!reply.killed,
  });
  const split = (args, options) => (Array.isArray(args) ? [args, options ?? {}] : [[], args ?? {}]);
  function spawnSync(command, list, more) {
    const [args, options] = split(list, more);
    try {
      const done = finished(host.ask("process.run", request(command, args, options)), options.encoding);
      if (done.killed) done.error = Object.assign(new Error(`spawnSync ${command} ETIMEDOUT`), { code: "ETIMEDOUT" });
      return { ...done, output: [null, done.stdout, done.stderr] };
    } catch (error) {
      return { pid: 0, status: null, signal: null, stdout: null, stderr: null, output: null, error: missing(command, args, error) };
    }
  }
  const broken = (line, done) => Object.assign(new Error(`Command failed: ${line}\n${String(done.stderr)}`), { status: done.status, code: done.status, signal: done.signal, stdout: done.stdout, stderr: done.stderr, killed: done.killed, cmd: line, output: [null, done.stdout, done.stderr] });
  function checked(command, args, options, shell) {
    const line = [command, ...args].join(" ");
    let reply;
    try { reply = host.ask("process.run", request(command, args, options, shell)); } catch (error) { throw missing(command, args, error); }
    const done = finished(reply, options.encoding);
    if (done.status !== 0) throw broken(line, done);
    return done.stdout;
  }
  const execSync = (line, options) => checked(line, [], options ?? {}, options?.shell || true);
  const execFileSync = (file, list, more) => { const [args, options] = split(list, more); return checked(file, args, options, options.shell); };
  function later(command, args, options, shell, done) {
    const encoding = options.encoding === undefined ? "utf8" : options.encoding;
    const child = new EventEmitter();
    const controller = new AbortController();
    options.signal?.addEventListener("abort", () => controller.abort(), { once: true });
    const stream = () => Object.assign(new EventEmitter(), { setEncoding() { return this; }, resume() { return this; }, pause() { return this; }, pipe(to) { this.on("data", (one) => to.write(one)); return to; }, unref() {}, destroy() {} });
    Object.assign(child, { pid: undefined, killed: false, exitCode: null, signalCode: null, stdout: stream(), stderr: stream(), ref() {}, unref() {}, disconnect() {} });
    let written = [];
    let begin;
    const begun = new Promise((resolve) => { begin = resolve; });
    child.stdin = Object.assign(new EventEmitter(), {
      write(data) { written.push(Buffer.from(data)); return true; }, end(data) { if (data !== undefined) written.push(Buffer.from(data)); begin(); }, setDefaultEncoding() {}, destroy() { begin(); },
    });
    child.kill = () => { child.killed = true; controller.abort(); return true; };
    // A child that is given no input by the end of this step gets none.
    setTimeout(begin, 0);
    begun.then(() => {
      const input = options.input ?? (written.length ? Buffer.concat(written) : undefined);
      return host.call("process.run", request(command, args, { ...options, input }, shell), controller.signal);
    }).then((reply) => {
      const end = finished(reply, encoding);
      child.exitCode = end.status;
      child.signalCode = end.signal;
      child.pid = reply.pid;
      for (const kind of ["stdout", "stderr"]) {
        if (end[kind].length) child[kind].emit("data", done || options.encoding ? end[kind] : Buffer.from(end[kind]));
        child[kind].emit("end");
        child[kind].emit("close");
      }
      child.emit("exit", end.status, end.signal);
      child.emit("close", end.status, end.signal);
      done?.(end.status === 0 ? null : broken([command, ...args].join(" "), end), end.stdout, end.stderr);
    }).catch((error) => {
      const why = missing(command, args, error);
      if (done) done(why, "", "");
      else if (child.listenerCount("error")) child.emit("error", why);
    });
    return child;
  }
  const callback = (...rest) => rest.find((one) => typeof one === "function");
  const spawn = (command, list, more) => { const [args, options] = split(list, more); return later(command, args, options, options.shell); };
  const exec = (line, ...rest) => { const options = typeof rest[0] === "object" ? rest[0] : {}; return later(line, [], options ?? {}, options?.shell || true, callback(...rest) ?? (() => {})); };
  const execFile = (file, ...rest) => { const [args, options] = split(...rest.filter((one) => typeof one !== "function")); return later(file, args, options, options.shell, callback(...rest) ?? (() => {})); };
  for (const one of [exec, execFile]) {
    one[custom] = (...args) => new Promise((resolve, reject) => {
      one(...args, (error, stdout, stderr) => (error ? reject(Object.assign(error, { stdout, stderr })) : resolve({ stdout, stderr })));
    });
  }
  offer("child_process", () => ({ spawnSync, execSync, execFileSync, spawn, exec, execFile, ChildProcess: EventEmitter, fork: () => { throw new Error("fork is not available in the embedded engine"); } }));

  // ---- what bun adds

  const fs = () => globalThis.__ona.provided("fs");
  globalThis.Bun = {
    env: process.env, version: "1.0.0", cwd: process.cwd(), argv: process.argv, main: surroundings.module,
    file: (path) => {
      const name = path instanceof URL ? decodeURIComponent(path.pathname) : String(path);
      return {
        name, text: () => fs().promises.readFile(name, "utf8"), json: async () => JSON.parse(await fs().promises.readFile(name, "utf8")), exists: async () => fs().existsSync(name),
        arrayBuffer: async () => (await fs().promises.readFile(name)).buffer, bytes: () => fs().promises.readFile(name), delete: () => fs().promises.unlink(name), get size() { return fs().statSync(name).size; },
      };
    },
    write: async (path, data) => {
      const name = typeof path === "object" && path.name ? path.name : String(path);
      const { dirname } = globalThis.__ona.provided("path");
      await fs().promises.mkdir(dirname(name), { recursive: true });
      await fs().promises.writeFile(name, data);
      return data.length;
    },
    spawn: (first, more) => {
      const options = Array.isArray(first) ? (more ?? {}) : first;
      const [command, ...args] = Array.isArray(first) ? first : first.cmd;
      const run = host.call("process.run", request(command, args, options));
      const text = (kind) => ({ text: async () => output((await run)[kind], "utf8"), [Symbol.asyncIterator]: async function* () { yield output((await run)[kind]); } });
      return { pid: 0, stdout: text("stdout"), stderr: text("stderr"), exited: run.then((reply) => reply.code), exitCode: null, kill() {} };
    },
    spawnSync: (first, more) => {
      const options = Array.isArray(first) ? (more ?? {}) : first;
      const [command, ...args] = Array.isArray(first) ? first : first.cmd;
      const done = finished(host.ask("process.run", request(command, args, options)));
      return { exitCode: done.status, success: done.status === 0, stdout: done.stdout, stderr: done.stderr };
    },
    sleep: (ms) => wait(ms), which: (name) => host.ask("process.which", [name]) ?? null, inspect, hash: (value) => crypto.hash("sha256", value), randomUUIDv7: randomUUID,
  };
})();
