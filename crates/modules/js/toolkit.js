// Tools a module can take from its host to wrap and register under a name of its own, and the
// limits their output keeps to.
//
// They do what they say with the rights the module has anyway. A call of the registered tool
// takes the one path of all calls; these run behind it.
(() => {
  "use strict";
  const { host, schemas } = globalThis.__ona;
  const { Type } = schemas;

  const DEFAULT_MAX_LINES = 2000;
  const DEFAULT_MAX_BYTES = 50 * 1024;
  const GREP_MAX_LINE_LENGTH = 500;
  const bytes = (text) => new TextEncoder().encode(text).length;

  function formatSize(count) {
    if (count < 1024) return `${count}B`;
    return count < 1048576 ? `${(count / 1024).toFixed(1)}KB` : `${(count / 1048576).toFixed(1)}MB`;
  }

  // Whole lines within both limits, from the start or from the end.
  function truncated(content, options, fromEnd) {
    const maxLines = options?.maxLines ?? DEFAULT_MAX_LINES;
    const maxBytes = options?.maxBytes ?? DEFAULT_MAX_BYTES;
    const lines = content.split("\n");
    const total = { totalLines: lines.length, totalBytes: bytes(content), maxLines, maxBytes };
    if (lines.length <= maxLines && total.totalBytes <= maxBytes) {
      return {
        content, truncated: false, truncatedBy: null, ...total, outputLines: lines.length, outputBytes: total.totalBytes,
        lastLinePartial: false, firstLineExceedsLimit: false,
      };
    }
    const kept = [];
    let used = 0;
    let by = "lines";
    for (const line of fromEnd ? lines.reverse() : lines) {
      if (kept.length === maxLines) break;
      const size = bytes(line) + (kept.length ? 1 : 0);
      if (used + size > maxBytes) { by = "bytes"; break; }
      kept.push(line);
      used += size;
    }
    const tooLong = kept.length === 0;
    let lastLinePartial = false;
    if (tooLong && fromEnd) {
      let end = lines[0];
      while (bytes(end) > maxBytes) end = end.slice(Math.max(1, Math.floor((bytes(end) - maxBytes) / 4)));
      kept.push(end);
      lastLinePartial = true;
    }
    const text = (fromEnd ? kept.reverse() : kept).join("\n");
    return {
      content: text, truncated: true, truncatedBy: by, ...total, outputLines: kept.length, outputBytes: bytes(text),
      lastLinePartial, firstLineExceedsLimit: tooLong && !fromEnd,
    };
  }
  const truncateHead = (content, options) => truncated(content, options, false);
  const truncateTail = (content, options) => truncated(content, options, true);
  function truncateLine(line, most = GREP_MAX_LINE_LENGTH) {
    return line.length <= most ? { text: line, wasTruncated: false } : { text: `${line.slice(0, most)}... [truncated]`, wasTruncated: true };
  }

  const said = (text, details) => ({ content: [{ type: "text", text }], details });
  const absolute = (cwd, path) => {
    const given = String(path ?? ".");
    if (given === "~" || given.startsWith("~/")) return host.ask("paths.home", []) + given.slice(1);
    return given.startsWith("/") ? given : given === "." ? cwd : `${cwd.replace(/\/$/, "")}/${given.replace(/^\.\//, "")}`;
  };
  const readText = async (path) => {
    const { text } = await host.call("fs.readFile", [path]);
    if (text === undefined) throw new Error(`${path} is not a text`);
    return text;
  };
  const writeText = (path, text) => host.call("fs.writeFile", [path, { text }, {}]);

  function createLocalBashOperations() {
    return {
      async exec(command, cwd, { onData, signal, timeout, env } = {}) {
        const limit = timeout ? { timeout: timeout * 1000 } : {};
        const done = await host.call("exec", ["/bin/sh", ["-c", command], { cwd, env, ...limit }], signal);
        const all = done.stdout + done.stderr;
        if (all) onData?.(new TextEncoder().encode(all));
        if (done.killed && signal?.aborted) throw new Error("aborted");
        if (done.killed) throw new Error(`timeout:${timeout}`);
        return { exitCode: done.code };
      },
    };
  }

  const bash = (cwd, options = {}) => ({
    name: "bash", label: "bash", description: "Runs a shell command in the working directory.",
    parameters: Type.Object({ command: Type.String(), timeout: Type.Optional(Type.Number({ description: "seconds" })) }),
    async execute(_id, { command, timeout }, signal) {
      const operations = options.operations ?? createLocalBashOperations();
      const prefixed = options.commandPrefix ? `${options.commandPrefix}\n${command}` : command;
      const context = { command: prefixed, cwd, env: undefined };
      const spawned = options.spawnHook ? options.spawnHook({ ...context, env: { ...globalThis.process?.env } }) : context;
      let output = "";
      const decoder = new TextDecoder();
      const onData = (data) => { output += typeof data === "string" ? data : decoder.decode(data); };
      const { exitCode } = await operations.exec(spawned.command, spawned.cwd, { onData, signal, timeout, env: spawned.env });
      const cut = truncateTail(output);
      if (exitCode) throw new Error(`${cut.content}\n\nCommand exited with code ${exitCode}`.trim());
      return said(cut.content || "(no output)", cut.truncated ? { truncation: cut } : undefined);
    },
  });
  const read = (cwd) => ({
    name: "read", label: "read", description: "Reads a file.",
    parameters: Type.Object({ path: Type.String(), offset: Type.Optional(Type.Number()), limit: Type.Optional(Type.Number()) }),
    async execute(_id, { path, offset, limit }) {
      const lines = (await readText(absolute(cwd, path))).split("\n");
      const first = Math.max(0, (offset ?? 1) - 1);
      const cut = truncateHead(lines.slice(first, limit === undefined ? undefined : first + limit).join("\n"));
      return said(cut.content, cut.truncated ? { truncation: cut } : undefined);
    },
  });
  const write = (cwd) => ({
    name: "write", label: "write", description: "Writes a file.",
    parameters: Type.Object({ path: Type.String(), content: Type.String() }),
    async execute(_id, { path, content }) {
      const file = absolute(cwd, path);
      await host.call("fs.mkdir", [file.slice(0, Math.max(1, file.lastIndexOf("/"))), { recursive: true }]);
      await writeText(file, content);
      return said(`Successfully wrote ${bytes(content)} bytes to ${path}`);
    },
  });
  const edit = (cwd) => ({
    name: "edit", label: "edit", description: "Replaces exact text in a file.",
    parameters: Type.Object({ path: Type.String(), oldText: Type.Optional(Type.String()), newText: Type.Optional(Type.String()), edits: Type.Optional(Type.Array(Type.Object({ oldText: Type.String(), newText: Type.String() }))) }),
    async execute(_id, { path, oldText, newText, edits }) {
      const file = absolute(cwd, path);
      let text = await readText(file);
      for (const one of edits ?? [{ oldText, newText }]) {
        const found = text.split(one.oldText).length - 1;
        if (found !== 1) throw new Error(found ? `The text occurs ${found} times in ${path}` : `The text is not in ${path}`);
        text = text.replace(one.oldText, () => one.newText);
      }
      await writeText(file, text);
      return said(`Successfully replaced text in ${path}.`, { diff: "" });
    },
  });
  const searching = (name, description, parameters, command) => (cwd) => ({
    name, label: name, description, parameters: Type.Object(parameters),
    async execute(_id, params, signal) {
      const [program, args] = command({ ...params, path: absolute(cwd, params.path) });
      const done = await host.call("exec", [program, args, { cwd }], signal);
      if (done.code > 1) throw new Error(done.stderr || `${name} failed`);
      const cut = truncateHead(done.stdout.split("\n").map((line) => truncateLine(line).text).join("\n").trimEnd());
      return said(cut.content || "No matches found", cut.truncated ? { truncation: cut } : undefined);
    },
  });
  const grep = searching("grep", "Searches file contents.", {
    pattern: Type.String(), path: Type.Optional(Type.String()), glob: Type.Optional(Type.String()), ignoreCase: Type.Optional(Type.Boolean()), literal: Type.Optional(Type.Boolean()),
  }, ({ pattern, path, glob, ignoreCase, literal }) => ["grep", ["-rnI", ...(ignoreCase ? ["-i"] : []), literal ? "-F" : "-E", ...(glob ? [`--include=${glob}`] : []), "-e", pattern, "--", path]]);
  const find = searching("find", "Finds files by a pattern of their names.", { pattern: Type.String(), path: Type.Optional(Type.String()), limit: Type.Optional(Type.Number()) },
    ({ pattern, path }) => ["find", [path, "-name", pattern.split("/").pop() ?? "*"]]);
  const ls = searching("ls", "Lists a directory.", { path: Type.Optional(Type.String()), limit: Type.Optional(Type.Number()) }, ({ path }) => ["ls", ["-1Ap", "--", path]]);

  const makers = { Bash: bash, Read: read, Write: write, Edit: edit, Grep: grep, Find: find, Ls: ls };
  const created = {};
  for (const [name, make] of Object.entries(makers)) {
    created[`create${name}Tool`] = make;
    created[`create${name}ToolDefinition`] = make;
  }
  const queues = new Map();
  globalThis.__ona.toolkit = {
    ...created,
    createCodingTools: (cwd) => [read, bash, edit, write].map((make) => make(cwd)),
    createReadOnlyTools: (cwd) => [read, grep, find, ls].map((make) => make(cwd)),
    createLocalBashOperations,
    defineTool: (tool) => tool,
    DEFAULT_MAX_LINES, DEFAULT_MAX_BYTES, GREP_MAX_LINE_LENGTH, truncateHead, truncateTail, truncateLine, formatSize,
    // One change of a file after another.
    withFileMutationQueue(path, work) {
      const before = queues.get(path) ?? Promise.resolve();
      const now = before.then(work, work);
      queues.set(path, now.catch(() => {}));
      return now;
    },
  };
})();
