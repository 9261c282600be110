// node:fs and node:fs/promises over ona's file calls. Contents cross as text where they
// are text, as base64 where they are bytes.
(() => {
  "use strict";
  const { offer, host, bytes } = globalThis.__ona;
  const where = (path) => {
    if (typeof path === "number") return path;
    if (path instanceof URL || path?.protocol === "file:") return decodeURIComponent(path.pathname);
    if (path instanceof Uint8Array) return Buffer.from(path).toString();
    if (typeof path !== "string") throw Object.assign(new TypeError(`The "path" argument must be of type string. Received ${path === null ? "null" : typeof path}`), { code: "ERR_INVALID_ARG_TYPE" });
    return path;
  };
  const encodingOf = (options) => (typeof options === "string" ? options : options?.encoding) ?? undefined;
  const content = (data) => (typeof data === "string" ? { text: data } : { base64: bytes.toBase64(ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(String(data))) });
  const opened = (reply, encoding) => {
    const text = encoding === "utf8" || encoding === "utf-8";
    if (text && reply.text !== undefined) return reply.text;
    const buffer = reply.text !== undefined ? Buffer.from(reply.text) : Buffer.from(reply.base64, "base64");
    return encoding ? buffer.toString(encoding) : buffer;
  };
  class Stats {
    constructor(raw) {
      Object.assign(this, raw);
      for (const kind of ["atime", "mtime", "ctime", "birthtime"]) this[kind] = new Date(raw[`${kind}Ms`]);
    }
    isFile() { return this.kind === "file"; }
    isDirectory() { return this.kind === "dir"; }
    isSymbolicLink() { return this.kind === "link"; }
    isFIFO() { return this.kind === "other"; }
    isSocket() { return false; }
    isBlockDevice() { return false; }
    isCharacterDevice() { return false; }
  }
  class Dirent {
    constructor(name, kind, parent) { this.name = name; this.kind = kind; this.parentPath = parent; this.path = parent; }
    isFile() { return this.kind === "file"; }
    isDirectory() { return this.kind === "dir"; }
    isSymbolicLink() { return this.kind === "link"; }
  }
  const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, COPYFILE_EXCL: 1 };

  // What each function sends and what it makes of the answer.
  const table = {
    readFile: (path, options) => [[where(path)], (reply) => opened(reply, encodingOf(options))],
    writeFile: (path, data, options) => [[where(path), content(data), { flag: options?.flag ?? "w", mode: options?.mode }], () => undefined],
    appendFile: (path, data) => [[where(path), content(data), { flag: "a" }], () => undefined, "writeFile"],
    mkdir: (path, options) => [[where(path), { recursive: !!options?.recursive, mode: typeof options === "number" ? options : options?.mode }], (made) => made ?? undefined],
    mkdtemp: (prefix) => [[where(prefix)], (path) => path],
    readdir: (path, options) => [[where(path), { recursive: !!options?.recursive }], (list) => (options?.withFileTypes ? list.map(([name, kind]) => new Dirent(name, kind, where(path))) : list.map(([name]) => name))],
    stat: (path, options) => [[where(path), { optional: options?.throwIfNoEntry === false }], (raw) => (raw ? new Stats(raw) : undefined)],
    lstat: (path, options) => [[where(path), { optional: options?.throwIfNoEntry === false }], (raw) => (raw ? new Stats(raw) : undefined)],
    access: (path, mode) => [[where(path), mode ?? 0], () => undefined],
    unlink: (path) => [[where(path)], () => undefined],
    rm: (path, options) => [[where(path), { recursive: !!options?.recursive, force: !!options?.force }], () => undefined],
    rmdir: (path, options) => [[where(path), { recursive: !!options?.recursive }], () => undefined],
    rename: (from, to) => [[where(from), where(to)], () => undefined],
    copyFile: (from, to, mode) => [[where(from), where(to), mode ?? 0], () => undefined],
    cp: (from, to, options) => [[where(from), where(to), { recursive: !!options?.recursive }], () => undefined],
    realpath: (path) => [[where(path)], (found) => found],
    readlink: (path) => [[where(path)], (found) => found],
    symlink: (target, path) => [[where(target), where(path)], () => undefined],
    chmod: (path, mode) => [[where(path), typeof mode === "string" ? Number.parseInt(mode, 8) : mode], () => undefined],
    utimes: (path, atime, mtime) => [[where(path), Number(atime), Number(mtime)], () => undefined],
    truncate: (path, length) => [[where(path), length ?? 0], () => undefined],
  };
  const fs = { constants, Stats, Dirent };
  const promises = { constants };
  for (const [name, describe] of Object.entries(table)) {
    fs[`${name}Sync`] = (...args) => {
      const [sent, made, other] = describe(...args);
      return made(host.ask(`fs.${other ?? name}`, sent));
    };
    promises[name] = async (...args) => {
      const [sent, made, other] = describe(...args);
      return made(await host.call(`fs.${other ?? name}`, sent));
    };
    fs[name] = (...args) => {
      const done = args.pop();
      promises[name](...args).then((value) => done(null, value), (error) => done(error));
    };
  }
  fs.existsSync = (path) => { try { host.ask("fs.access", [where(path), 0]); return true; } catch { return false; } };
  fs.exists = (path, done) => done(fs.existsSync(path));
  fs.realpathSync.native = fs.realpathSync;

  // Open files are small: what is written to them is appended at once.
  const files = new Map();
  let lastFile = 100;
  fs.openSync = (path, flags = "r", mode = undefined) => {
    const name = where(path);
    if (/^[wa]/.test(flags)) host.ask("fs.writeFile", [name, { text: "" }, { flag: flags, mode }]);
    else host.ask("fs.access", [name, 4]);
    files.set(++lastFile, { name, at: 0 });
    return lastFile;
  };
  const open = (fd) => {
    const file = files.get(fd);
    if (!file) throw Object.assign(new Error("EBADF: bad file descriptor"), { code: "EBADF" });
    return file;
  };
  fs.writeSync = (fd, data) => { host.ask("fs.writeFile", [open(fd).name, content(data), { flag: "a" }]); return data.length; };
  fs.readSync = (fd, target, offset = 0, length = target.length - offset, position = null) => {
    const file = open(fd);
    const whole = fs.readFileSync(file.name);
    const from = position ?? file.at;
    const part = whole.subarray(from, from + length);
    target.set(part, offset);
    if (position === null) file.at += part.length;
    return part.length;
  };
  fs.fstatSync = (fd) => fs.statSync(open(fd).name);
  fs.fsyncSync = () => {};
  fs.closeSync = (fd) => { open(fd); files.delete(fd); };
  fs.watch = () => ({ close() {}, on() { return this; }, unref() { return this; } });
  fs.watchFile = () => ({});
  fs.unwatchFile = () => {};
  fs.promises = promises;
  offer("fs", () => fs);
  offer("fs/promises", () => promises);
})();
