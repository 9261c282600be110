// What a hook module sees of ona: the API object, contexts, the session, dialogs.
//
// The same text runs in both engines. Below it is a bridge of two functions: `post(text)`
// hands a message to ona, `ask(text)` waits for the answer. Order, conflicts and what a
// result means are decided in Rust; here a handler is called and its result handed back.
(() => {
  "use strict";
  const bridge = globalThis.__bridge;
  delete globalThis.__bridge;

  const post = (message) => bridge.post(JSON.stringify(message));
  const pending = new Map();
  let lastId = 0;

  function failure(error) {
    const made = new Error(error.message);
    for (const key of ["code", "errno", "syscall", "path", "status", "stdout", "stderr"]) {
      if (error[key] !== undefined && error[key] !== null) made[key] = error[key];
    }
    return made;
  }

  // Asynchronous: a promise, settled when ona answers.
  function call(name, args, signal) {
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject });
      post({ t: "call", id, name, args });
      if (signal) {
        const cancel = () => post({ t: "cancel", id });
        if (signal.aborted) cancel();
        else signal.addEventListener("abort", cancel, { once: true });
      }
    });
  }

  // Synchronous: nothing else of this module runs until ona answers.
  function ask(name, args) {
    const reply = JSON.parse(bridge.ask(JSON.stringify({ name, args })));
    if (reply.error) throw failure(reply.error);
    return reply.ok ?? undefined;
  }

  // Nobody waits for it.
  const tell = (name, args) => post({ t: "tell", name, args });

  // ---- what the module registers

  const handlers = new Map();
  const commands = new Map();
  const renderers = new Map();
  const flags = new Map();
  const tools = new Map();
  const shortcuts = new Map();
  let ready = false;

  const registry = () => ({
    handlers: Object.fromEntries([...handlers].map(([event, list]) => [event, list.length])),
    commands: [...commands].map(([name, one]) => ({ name, description: one.description ?? null })),
    renderers: [...renderers.keys()],
    flags: [...flags].map(([name, one]) => ({ name, type: one.type ?? null, description: one.description ?? null })),
    shortcuts: [...shortcuts].map(([key, one]) => ({ key, description: one.description ?? null })),
    tools: [...tools].map(([name, one]) => ({
      name, label: one.label ?? null, description: one.described, parameters: one.schema, prepares: !!one.tool.prepareArguments,
    })),
  });
  // Modules may register while they run; ona must know who listens.
  const changed = () => {
    if (ready) post({ t: "registered", ...registry() });
  };

  const text = (value) => (typeof value === "string" ? value : inspect(value));
  function inspect(value) {
    if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}` : String(value);
    if (typeof value === "object" && value !== null) {
      try { return JSON.stringify(value) ?? String(value); } catch { return String(value); }
    }
    return String(value);
  }
  const logger = {};
  for (const level of ["debug", "info", "warn", "error"]) {
    logger[level] = (...parts) => tell("log", [level, parts.map(text).join(" ")]);
  }
  const unavailable = (what) => (...args) => { void args; logger.warn(`${what} has no effect in ona`); };

  const bus = new Map();
  const events = {
    on(name, handler) {
      if (!bus.has(name)) bus.set(name, []);
      bus.get(name).push(handler);
      return () => bus.set(name, bus.get(name).filter((one) => one !== handler));
    },
    emit(name, data) {
      hear(name, data);
      // Other modules live elsewhere; they get a copy.
      tell("bus.emit", [String(name), serial(data)]);
    },
  };
  function hear(name, data) {
    for (const handler of bus.get(name) ?? []) {
      try {
        const done = handler(data);
        if (typeof done?.catch === "function") done.catch((error) => logger.error(`${name}: ${words(error)}`));
      } catch (error) {
        logger.error(`${name}: ${words(error)}`);
      }
    }
  }

  // What a schema helper made, as plain JSON.
  const schemaOf = (parameters) => {
    if (parameters === undefined || parameters === null) return { type: "object", properties: {} };
    if (typeof parameters.toJSONSchema === "function") return serial(parameters.toJSONSchema());
    if (parameters._zod || parameters._def) throw new Error("this zod cannot tell its JSON schema; hand over z.toJSONSchema(schema)");
    return serial(parameters);
  };
  // One line about when to use it goes where the model reads about the tool.
  const describe = (tool) => [tool.description ?? "", ...(tool.promptGuidelines ?? [])].filter(Boolean).join("\n");

  const needs = (what) => {
    if (!ready) throw new Error(`${what} handler not initialized`);
  };

  const api = {
    on(event, handler) {
      const name = String(event);
      if (!handlers.has(name)) handlers.set(name, []);
      handlers.get(name).push(handler);
      changed();
    },
    sendMessage(message, options) {
      needs("sendMessage");
      const how = typeof options === "boolean" ? { triggerTurn: options } : (options ?? {});
      tell("sendMessage", [message, how]);
    },
    appendEntry(customType, data) {
      needs("appendEntry");
      tell("appendEntry", [customType, data]);
    },
    registerCommand(name, command) {
      commands.set(String(name), typeof command === "function" ? { handler: command } : command);
      changed();
    },
    registerMessageRenderer(customType, renderer) {
      renderers.set(String(customType), renderer);
      changed();
    },
    exec(command, args, options) {
      const { signal, ...rest } = options ?? {};
      return call("exec", [command, args ?? [], rest], signal);
    },
    logger,
    get typebox() { return provided("@sinclair/typebox"); },
    get zod() { return provided("zod"); },
    get pi() { return provided("@oh-my-pi/pi-coding-agent"); },
    events,
    registerTool(tool) {
      const name = String(tool?.name ?? "");
      const schema = schemaOf(tool?.parameters);
      if (typeof tool?.execute !== "function") throw new Error(`the tool ${name} has no execute function`);
      // ona says no in words: the rest of the module still works.
      const refused = ask("tools.register", [name, schema]);
      if (refused) { logger.warn(refused); return; }
      tools.set(name, { tool, label: tool.label, described: describe(tool), schema });
      changed();
    },
    registerFlag(name, options) {
      flags.set(String(name), options ?? {});
      changed();
    },
    getFlag(name) {
      const flag = flags.get(String(name));
      if (!flag) return undefined;
      const given = ask("flags.get", [String(name)]);
      if (given === undefined) return flag.default;
      return flag.type === "boolean" ? given === true || given === "true" : String(given);
    },
    sendUserMessage(content, options) {
      needs("sendUserMessage");
      tell("sendUserMessage", [content, options ?? {}]);
    },
    getActiveTools: () => ask("tools.active", []) ?? [],
    getAllTools: () => ask("tools.all", []) ?? [],
    setActiveTools: (names) => { ask("tools.setActive", [[...names].map(String)]); return Promise.resolve(); },
    getCommands: () => ask("commands.all", []) ?? [],
    registerShortcut(key, options) {
      shortcuts.set(String(key), options ?? {});
      changed();
    },
    registerProvider: unavailable("registerProvider"),
    unregisterProvider: unavailable("unregisterProvider"),
    registerAssistantThinkingRenderer: unavailable("registerAssistantThinkingRenderer"),
    registerComposerShape: unavailable("registerComposerShape"),
    registerFileWriteFallback: unavailable("registerFileWriteFallback"),
    registerFileDeleteFallback: unavailable("registerFileDeleteFallback"),
    getServiceTiers: () => ({}),
    setServiceTier: unavailable("setServiceTier"),
    setModel: async () => { logger.warn("setModel has no effect in ona"); return false; },
    getThinkingLevel: () => "off",
    setThinkingLevel: unavailable("setThinkingLevel"),
    // With one argument it names the module itself, which nobody shows.
    setLabel: (id, ...label) => { if (label.length) tell("session.setLabel", [id, label[0] ?? null]); },
    setSessionName: (name) => tell("session.setName", [name]),
    getSessionName: () => ask("session.getName", []),
  };

  // ---- the session, as far as it may be read

  const reading = {};
  for (const name of [
    "getCwd", "getSessionDir", "getSessionId", "getSessionFile", "getArtifactsDir", "getLeafId", "getLeafEntry",
    "getEntry", "getLabel", "getBranch", "getHeader", "getEntries", "getTree", "getUsageStatistics",
  ]) {
    reading[name] = (...args) => ask(`session.${name}`, args);
  }
  for (const name of ["allocateArtifactPath", "saveArtifact", "getArtifactPath", "putBlob"]) {
    reading[name] = (...args) => call(`session.${name}`, args);
  }
  Object.freeze(reading);

  // A new session that may be written, for `newSession`'s setup.
  function writable(session) {
    const manager = {};
    for (const name of Object.keys(reading)) manager[name] = (...args) => ask(`session.${name}`, [...args, { session }]);
    for (const name of [
      "appendMessage", "appendCustomEntry", "appendCustomMessageEntry", "appendLabelChange", "appendModelChange",
      "appendThinkingLevelChange",
    ]) {
      manager[name] = (...args) => ask(`setup.${name}`, [session, ...args]);
    }
    return manager;
  }

  const modelRegistry = {
    // Credentials stay with ona; hooks read "no key" (section 2.8).
    getApiKey: async () => undefined,
    find: (provider, id) => ask("models.find", [provider, id]),
    getAvailable: () => ask("models.available", []) ?? [],
    getAll: () => ask("models.all", []) ?? [],
  };

  // ---- dialogs

  const COLOURS = {
    accent: 36, border: 90, borderAccent: 36, borderMuted: 90, success: 32, error: 31, warning: 33, muted: 2, dim: 2,
    text: 39, toolTitle: 1, toolOutput: 2, mdHeading: 1, mdLink: 36, mdCode: 36, customMessageLabel: 35,
  };
  const sgr = (on, off) => (value) => `\u001b[${on}m${value}\u001b[${off}m`;
  const theme = Object.freeze({
    name: "ona",
    fg: (colour, value) => {
      const code = COLOURS[colour] ?? 39;
      return sgr(code, code === 1 || code === 2 ? 22 : 39)(value);
    },
    bg: (colour, value) => { void colour; return String(value); },
    bold: sgr(1, 22), italic: sgr(3, 23), underline: sgr(4, 24), inverse: sgr(7, 27), strikethrough: sgr(9, 29),
    symbol: (name) => ({ success: "✓", error: "✗", warning: "!", bullet: "•" })[name] ?? "",
  });

  const serial = (value) => JSON.parse(JSON.stringify(value ?? null));
  function dialogs(hasUI) {
    const dialog = async (method, args, signal, otherwise) => {
      if (!hasUI) return otherwise;
      const answer = await call(`ui.${method}`, serial(args), signal);
      return answer === null || answer === undefined ? otherwise : answer;
    };
    const show = (method, ...args) => { if (hasUI) tell(`ui.${method}`, serial(args)); };
    return {
      select: (title, options, more) => dialog("select", [title, options], more?.signal, undefined),
      confirm: (title, message, more) => dialog("confirm", [title, message], more?.signal, false),
      input: (title, placeholder, more) => dialog("input", [title, placeholder], more?.signal, undefined),
      editor: (title, prefill, more) => dialog("editor", [title, prefill], more?.signal, undefined),
      notify: (message, kind) => show("notify", message, kind ?? "info"),
      setStatus: (key, value) => show("setStatus", key, value),
      custom: (factory) => (hasUI ? custom(factory) : Promise.resolve(undefined)),
      setEditorText: (value) => show("setEditorText", value),
      getEditorText: () => (hasUI ? ask("ui.getEditorText", []) ?? "" : ""),
      get theme() { return theme; },
      setWidget: (key, content) => show("setWidget", key, Array.isArray(content) ? content : undefined),
      setTitle: (value) => show("setTitle", value),
      setWorkingMessage: (value) => show("setWorkingMessage", value),
      setFooter: unavailable("setFooter"), setHeader: unavailable("setHeader"),
      setEditorComponent: unavailable("setEditorComponent"), onTerminalInput: unavailable("onTerminalInput"),
      pasteToEditor: (value) => show("setEditorText", value),
    };
  }

  // A component is shown as the lines it renders; what is typed goes back to it.
  async function custom(factory) {
    let finish;
    let over = false;
    const result = new Promise((resolve) => { finish = (value) => { over = true; resolve(value); }; });
    const tui = { requestRender() {}, terminal: { columns: 80, rows: 24 } };
    const component = await (factory.length >= 4 ? factory(tui, theme, {}, finish) : factory(tui, theme, finish));
    while (!over && component) {
      const lines = component.render ? component.render(tui.terminal.columns) : [];
      const typed = await Promise.race([result, call("ui.custom", [lines])]);
      if (over) break;
      if (typed === null || typed === undefined || !component.handleInput) { finish(undefined); break; }
      component.handleInput(typed);
    }
    component?.dispose?.();
    return result;
  }

  // ---- contexts

  const uis = [dialogs(false), dialogs(true)];
  function makeContext(now) {
    return {
      __proto__: further,
      ui: uis[now.hasUI ? 1 : 0],
      hasUI: !!now.hasUI,
      cwd: now.cwd,
      sessionManager: reading,
      modelRegistry,
      model: now.model ?? undefined,
      isIdle: () => !!ask("context.isIdle", []),
      abort: () => tell("context.abort", []),
      hasQueuedMessages: () => !!ask("context.hasQueuedMessages", []),
    };
  }
  // Exactly the documented keys above are a context's own (sheet section 4); what the newer
  // extension API adds is there to be called and not to be counted.
  const further = {
    hasPendingMessages: () => !!ask("context.hasQueuedMessages", []),
    getSystemPrompt: () => ask("context.systemPrompt", []) ?? "",
    getContextUsage: () => ask("context.usage", []),
    // A run without a person ends by itself.
    shutdown: () => tell("context.shutdown", []),
    // Done when the agent is idle; never waited for, since whoever asks keeps it busy.
    compact(options) {
      const wish = typeof options === "string" ? { customInstructions: options } : (options ?? {});
      call("context.compact", [wish.customInstructions ?? null]).then(
        (result) => wish.onComplete?.(result),
        (error) => wish.onError?.(error),
      ).catch((error) => logger.error(words(error)));
      return Promise.resolve();
    },
    setTimeout: (...args) => globalThis.setTimeout(...args),
    setInterval: (...args) => globalThis.setInterval(...args),
    clearTimer: (timer) => globalThis.clearTimeout(timer),
  };
  function commandContext(now) {
    const replaced = () => Object.assign(commandContext(now), {
      sendMessage: async (message, options) => api.sendMessage(message, options),
      sendUserMessage: async (content, options) => api.sendUserMessage(content, options),
    });
    return Object.assign(makeContext(now), {
      waitForIdle: () => call("command.waitForIdle", []).then(() => undefined),
      async newSession(options) {
        const begun = await call("command.newSession", [{ parentSession: options?.parentSession ?? null }]);
        if (begun.cancelled) return { cancelled: true };
        if (options?.setup) await options.setup(writable(begun.session));
        await call("command.enterSession", [begun.session]);
        await options?.withSession?.(replaced());
        return { cancelled: false };
      },
      branch: (entryId) => call("command.branch", [entryId]),
      async fork(entryId, options) {
        const done = await call("command.branch", [entryId]);
        if (!done.cancelled) await options?.withSession?.(replaced());
        return done;
      },
      async switchSession(session, options) {
        const done = await call("command.switchSession", [session]);
        if (!done.cancelled) await options?.withSession?.(replaced());
        return done;
      },
      reload: () => call("command.reload", []).then(() => undefined),
      navigateTree: (targetId, options) => call("command.navigateTree", [targetId, options ?? {}]),
    });
  }
  // One object per emission, shared by its handlers.
  let emission = -1;
  let shared;
  function contextOf(message) {
    if (message.emission !== emission) {
      emission = message.emission;
      shared = makeContext(message.context);
    }
    return shared;
  }

  // ---- what ona asks of the module

  const aborts = new Map();
  function revive(message) {
    const event = message.payload;
    if (message.signal) {
      const controller = new AbortController();
      aborts.set(message.id, controller);
      event.signal = controller.signal;
    }
    const files = event.preparation?.fileOps;
    if (files) for (const kind of Object.keys(files)) files[kind] = new Set(files[kind]);
    for (const key of message.absent ?? []) event[key] = undefined;
    // There for extensions that ask for it; the document's event has not got it.
    if (message.event === "before_agent_start") Object.defineProperty(event, "systemPrompt", { enumerable: false });
    return event;
  }

  function execute(message, { tool, schema }) {
    let args = message.args;
    if (tool.prepareArguments) {
      args = tool.prepareArguments(args);
      ask("tools.check", [schema, serial(args)]);
    }
    const controller = new AbortController();
    aborts.set(message.id, controller);
    const context = Object.assign(makeContext(message.context), { signal: controller.signal });
    // Published modules disagree about the order of what follows the input: the types say
    // (signal, onUpdate, ctx), tools of oh-my-pi's own examples read (onUpdate, ctx, signal).
    // The fourth is therefore a function that has everything of a context as well.
    const onUpdate = Object.assign(() => {}, further, context);
    return tool.execute(message.call, args, controller.signal, onUpdate, context);
  }

  function work(message) {
    switch (message.kind) {
      case "event": {
        const handler = handlers.get(message.event)?.[message.nth];
        return handler ? handler(revive(message), contextOf(message)) : undefined;
      }
      case "command": {
        const command = commands.get(message.name);
        if (!command) throw new Error(`there is no command ${message.name}`);
        return command.handler(message.args, commandContext(message.context));
      }
      case "tool": {
        const tool = tools.get(message.name);
        if (!tool) throw new Error(`there is no tool ${message.name}`);
        return execute(message, tool);
      }
      case "shortcut": {
        const shortcut = shortcuts.get(message.name);
        if (!shortcut) throw new Error(`there is no shortcut ${message.name}`);
        return shortcut.handler(makeContext(message.context));
      }
      case "render": {
        const renderer = renderers.get(message.name);
        const component = renderer?.(message.message, message.options, theme);
        return component ? component.render(message.width) : undefined;
      }
      default:
        throw new Error(`unknown request ${message.kind}`);
    }
  }

  function thrown(id, error) {
    aborts.delete(id);
    if (error instanceof Error || (error && typeof error === "object" && typeof error.message === "string")) {
      if (error.name === "InternalError" && error.message === "out of memory") {
        post({ t: "overrun", what: "memory" });
        return;
      }
      post({ t: "threw", id, error: true, message: String(error.message), stack: String(error.stack ?? "") });
    } else if (error === null && bridge.outOfMemoryIsNull) {
      // The embedded engine throws null where it has no memory left to describe the error.
      post({ t: "overrun", what: "memory" });
    } else {
      post({ t: "threw", id, error: false, message: String(error) });
    }
  }

  function finished(id, value) {
    aborts.delete(id);
    try {
      // A result that is no JSON cannot be a result.
      const result = JSON.stringify(value);
      bridge.post(result === undefined ? `{"t":"done","id":${id}}` : `{"t":"done","id":${id},"value":${result}}`);
    } catch (error) {
      thrown(id, error);
    }
  }

  function receive(line) {
    const message = JSON.parse(line);
    switch (message.t) {
      case "invoke":
        try {
          const value = work(message);
          if (value && typeof value.then === "function") {
            value.then((result) => finished(message.id, result), (error) => thrown(message.id, error));
          } else {
            finished(message.id, value);
          }
        } catch (error) {
          thrown(message.id, error);
        }
        break;
      case "reply": {
        const waiting = pending.get(message.id);
        pending.delete(message.id);
        if (!waiting) break;
        if (message.error) waiting.reject(failure(message.error));
        else waiting.resolve(message.ok ?? undefined);
        break;
      }
      case "abort":
        aborts.get(message.id)?.abort();
        break;
      case "bus":
        hear(message.name, message.data);
        break;
    }
  }

  const words = (error) => (error instanceof Error || typeof error?.message === "string" ? error.message : String(error));
  async function start(importing) {
    try {
      const module = await importing();
      let factory = module.default;
      if (factory && typeof factory !== "function" && typeof factory.default === "function") factory = factory.default;
      if (typeof factory !== "function") {
        post({ t: "failed", message: "Hook must export a default function" });
        return;
      }
      await factory(api);
      ready = true;
      post({ t: "loaded", ...registry() });
    } catch (error) {
      post({ t: "failed", message: `Failed to load hook: ${words(error)}` });
    }
  }

  // ---- what imports of host packages lead to

  const offered = new Map();
  const built = new Map();
  function provided(name) {
    if (!built.has(name)) {
      const make = offered.get(name) ?? offered.get(family(name));
      if (!make) throw new Error(`Cannot find module '${name}'`);
      built.set(name, make());
    }
    return built.get(name);
  }
  // `@mariozechner/pi-tui/x` is what `@oh-my-pi/pi-tui` is.
  function family(name) {
    const part = /^@[^/]+\/(pi-[a-z-]+)/.exec(name)?.[1];
    if (part === "pi-utils" && name.endsWith("/chalk")) return "chalk";
    return part === "pi-tui" || part === "pi-ai" ? `@oh-my-pi/${part}` : "@oh-my-pi/pi-coding-agent";
  }
  function pick(name, key) {
    const module = provided(name);
    if (key in module) return module[key];
    return key === "default" ? module : standIn(name, key);
  }
  // For a name that is imported and that we do not have: fine until it is used.
  function standIn(name, key) {
    const fail = () => { throw new Error(`${key} of ${name} is not available in ona`); };
    return new Proxy(function () {}, {
      apply: fail,
      construct: fail,
      get: (target, property) => (property === "prototype" || typeof property === "symbol" ? target[property] : fail()),
    });
  }

  const dirname = (path) => path.slice(0, Math.max(path.lastIndexOf("/"), 1));
  globalThis.__ona = {
    receive, start, provided, pick,
    offer: (names, make) => { for (const name of [].concat(names)) offered.set(name, make); },
    host: { call, ask, tell, logger, theme, inspect },
    meta: (path) => ({
      url: `file://${encodeURI(path).replaceAll("#", "%23").replaceAll("?", "%3F")}`, filename: path, path,
      dirname: dirname(path), dir: dirname(path), main: false, env: globalThis.process?.env,
    }),
    required: (namespace) => namespace.default ?? namespace,
    commonJs: (exported) => (exported && exported.__esModule && exported.default) || exported,
    importFrom: (path, what) => bridge.importFrom(path, String(what)),
  };
})();
