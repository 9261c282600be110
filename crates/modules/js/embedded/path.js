// node:path, for both kinds of separators.
(() => {
  "use strict";
  const { offer } = globalThis.__ona;
  const text = (value) => {
    if (typeof value !== "string") throw Object.assign(new TypeError(`The "path" argument must be of type string. Received ${value === null ? "null" : typeof value}`), { code: "ERR_INVALID_ARG_TYPE" });
    return value;
  };
  function make(windows) {
    const sep = windows ? "\\" : "/";
    const slashed = (value) => (windows ? value.replaceAll("/", "\\") : value);
    const rootOf = (value) => (windows ? /^(?:[a-z]:)?\\?/i.exec(value)[0] : value.startsWith("/") ? "/" : "");
    const isAbsolute = (value) => (windows ? /^([a-z]:)?[\\/]/i.test(text(value)) : text(value).startsWith("/"));
    function normalize(value) {
      const whole = slashed(text(value));
      if (whole === "") return ".";
      const root = rootOf(whole);
      const out = [];
      for (const part of whole.slice(root.length).split(sep)) {
        if (part === "" || part === ".") continue;
        if (part === ".." && out.length && out.at(-1) !== "..") out.pop();
        else if (part !== ".." || !root.endsWith(sep)) out.push(part);
      }
      const joined = root + out.join(sep);
      const trailing = whole.length > root.length && whole.endsWith(sep) && out.length ? sep : "";
      return joined + trailing || ".";
    }
    const join = (...parts) => normalize(parts.map(text).filter((one) => one !== "").join(sep) || ".");
    function resolve(...parts) {
      let whole = "";
      for (const part of [...parts].reverse()) {
        if (text(part) === "") continue;
        whole = whole === "" ? part : `${part}${sep}${whole}`;
        if (isAbsolute(part)) break;
      }
      if (!isAbsolute(whole)) whole = whole === "" ? process.cwd() : `${process.cwd()}${sep}${whole}`;
      const done = normalize(whole);
      return done.length > rootOf(done).length && done.endsWith(sep) ? done.slice(0, -1) : done;
    }
    function dirname(value) {
      const whole = slashed(text(value));
      const root = rootOf(whole);
      const body = whole.slice(root.length).replace(windows ? /\\+$/ : /\/+$/, "");
      const at = body.lastIndexOf(sep);
      if (at < 0) return root || ".";
      return root + body.slice(0, at).replace(windows ? /\\+$/ : /\/+$/, "");
    }
    function basename(value, suffix) {
      const whole = slashed(text(value)).replace(windows ? /\\+$/ : /\/+$/, "");
      const name = whole.slice(whole.lastIndexOf(sep) + 1);
      return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
    }
    function extname(value) {
      const name = basename(value);
      const at = name.lastIndexOf(".");
      return at <= 0 || /^\.+$/.test(name.slice(0, at + 1)) ? "" : name.slice(at);
    }
    function relative(from, to) {
      const [one, other] = [resolve(from), resolve(to)].map((value) => value.split(sep).filter((part) => part !== ""));
      let same = 0;
      while (same < one.length && same < other.length && one[same] === other[same]) same += 1;
      return [...Array(one.length - same).fill(".."), ...other.slice(same)].join(sep);
    }
    const parse = (value) => {
      const [root, dir, base, ext] = [rootOf(slashed(text(value))), dirname(value), basename(value), extname(value)];
      return { root, dir: dir === "." && !value.startsWith(".") ? "" : dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
    };
    const format = (one) => {
      const base = one.base ?? `${one.name ?? ""}${one.ext ?? ""}`;
      const dir = one.dir ?? one.root;
      return dir ? (dir === one.root ? dir + base : dir + sep + base) : base;
    };
    return { sep, delimiter: windows ? ";" : ":", normalize, join, resolve, isAbsolute, dirname, basename, extname, relative, parse, format, toNamespacedPath: (value) => value };
  }
  const posix = make(false);
  const win32 = make(true);
  Object.assign(posix, { posix, win32 });
  Object.assign(win32, { posix, win32 });
  offer(["path", "path/posix"], () => posix);
  offer("path/win32", () => win32);
})();
