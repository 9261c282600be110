// An MCP server for tests: hand-written JSON-RPC, on stdio, or with --http FILE as streamable
// HTTP on loopback (the port is written to FILE). Every message it gets is a line of $LOG.
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const log = (line) => process.env.LOG && appendFileSync(process.env.LOG, JSON.stringify(line) + "\n");
const text = (text) => ({ content: [{ type: "text", text }] });
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const schema = { type: "object", properties: { text: { type: "string" } } };
let names = (process.env.TOOLS ?? "echo,AskUserQuestion,fail,refuse,hang,die,picture,structured,env,big,ask,grow,say").split(",");

// What is sent besides answers, and who waits for what comes back.
let send = () => {};
const waiting = new Map();
let next = 1;
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `q${next++}`;
    waiting.set(id, resolve);
    send({ jsonrpc: "2.0", id, method, params });
  });

const tools = {
  echo: (input) => text(JSON.stringify(input)),
  AskUserQuestion: (input) => text(JSON.stringify(input)),
  say: (input) => text(input.text),
  fail: () => ({ ...text("it went wrong"), isError: true }),
  refuse: () => { throw { code: -32602, message: "no such thing" }; },
  hang: () => new Promise(() => {}),
  die: () => { process.stderr.write("about to die\n"); process.exit(7); },
  picture: () => ({ content: [{ type: "text", text: "look" }, { type: "image", mimeType: "image/png", data: "aGVsbG8=" }] }),
  structured: () => ({ content: [], structuredContent: { n: 1 } }),
  env: () => text(JSON.stringify(process.env)),
  big: (input) => text("x".repeat(input.size)),
  ask: async (input) => text(JSON.stringify(await ask("elicitation/create", input))),
  grow: () => {
    names = [...names, "late"];
    send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    return text("grown");
  },
  late: () => text("here I am"),
  // Asks for something a client may refuse, and returns the answer.
  request: async (input) => text(JSON.stringify(await ask(input.method, input.params ?? {}))),
  // A real picture, a sound, and a picture inside a resource.
  gallery: () => ({
    content: [
      { type: "text", text: "see" },
      { type: "image", mimeType: "image/png", data: PIXEL },
      { type: "audio", mimeType: "audio/wav", data: "aGVsbG8h" },
      { type: "resource", resource: { uri: "test:///p", mimeType: "image/png", blob: PIXEL } },
    ],
  }),
  steps: async (input, meta) => {
    for (const step of [1, 2])
      send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: meta?.progressToken, progress: step, total: 2, message: `step ${step}` } });
    return text("stepped");
  },
  // Answers permission questions as $ANSWER says.
  approve: (input) => {
    log({ asked: input });
    return text(process.env.ANSWER ?? JSON.stringify({ behavior: "allow", updatedInput: input.input }));
  },
};

let prompts = [
  { name: "review", description: "Reviews", arguments: [{ name: "topic", required: true }, { name: "style" }] },
  { name: "plain" },
];

const methods = {
  initialize: (params) => {
    const supported = process.env.ONLY?.split(",");
    if (supported && !supported.includes(params.protocolVersion))
      throw { code: -32602, message: "Unsupported protocol version", data: { supported, requested: params.protocolVersion } };
    return {
      protocolVersion: process.env.PROTOCOL ?? params.protocolVersion,
      capabilities: process.env.PROTOCOL ? {} : { tools: { listChanged: true }, resources: {}, prompts: { listChanged: true } },
      serverInfo: { name: "test", version: "1" },
      ...(process.env.WORDS ? { instructions: process.env.WORDS } : {}),
    };
  },
  "prompts/list": () => ({ prompts }),
  "prompts/get": (params) => {
    if (!prompts.some((one) => one.name === params.name)) throw { code: -32602, message: "no such prompt" };
    const words = `${params.name}: ${JSON.stringify(params.arguments)} @secret.txt`;
    return { messages: [{ role: "user", content: { type: "text", text: words } }] };
  },
  ping: () => ({}),
  "tools/list": (params) => {
    // Two to a page; ENDLESS: and always one more.
    const from = Number(params?.cursor ?? 0);
    if (process.env.ENDLESS && from >= names.length) return { tools: [], nextCursor: String(from + 1) };
    const more = process.env.ENDLESS || from + 2 < names.length;
    const page = names.slice(from, from + 2).map((name) => ({
      name,
      description: `Does ${name}`,
      inputSchema: schema,
      // READS: names of tools that say they change nothing.
      ...((process.env.READS ?? "").split(",").includes(name) ? { annotations: { readOnlyHint: true } } : {}),
    }));
    return { tools: page, ...(more ? { nextCursor: String(from + 2) } : {}) };
  },
  "tools/call": (params) => tools[params.name](params.arguments ?? {}, params._meta),
  "resources/list": () => ({ resources: [{ uri: "test:///a", name: "a", mimeType: "text/plain", description: "the a" }, { uri: "test:///b", name: "b" }] }),
  "resources/read": (params) => {
    if (params.uri === "test:///a") return { contents: [{ uri: params.uri, mimeType: "text/plain", text: "text of a" }] };
    if (params.uri === "test:///b") return { contents: [{ uri: params.uri, mimeType: "image/png", blob: "aGVsbG8=" }] };
    throw { code: -32002, message: "no resource there" };
  },
};

async function handle(message) {
  log(message);
  if (message.method === undefined) return void waiting.get(message.id)?.(message.result ?? message.error);
  if (message.id === undefined) return;
  try {
    const method = methods[message.method];
    if (!method) throw { code: -32601, message: `no method ${message.method}` };
    return { jsonrpc: "2.0", id: message.id, result: await method(message.params) };
  } catch (error) {
    return { jsonrpc: "2.0", id: message.id, error };
  }
}

if (process.argv[2] === "--http") {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", async () => {
      log({ http: request.method, headers: request.headers });
      if (process.env.WANTED && request.headers.authorization !== process.env.WANTED) {
        response.writeHead(401, { "www-authenticate": "Bearer" }).end();
        return;
      }
      if (request.method !== "POST") return void response.writeHead(405).end();
      const answer = await handle(JSON.parse(body));
      if (!answer) return void response.writeHead(202).end();
      const session = { "mcp-session-id": "one" };
      if (answer.id % 2) {
        response.writeHead(200, { "content-type": "application/json", ...session }).end(JSON.stringify(answer));
      } else {
        // Every other answer is a stream of one event.
        response.writeHead(200, { "content-type": "text/event-stream", ...session });
        response.end(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
      }
    });
  });
  server.listen(0, "127.0.0.1", () => {
    writeFileSync(process.argv[3] + ".new", String(server.address().port));
    renameSync(process.argv[3] + ".new", process.argv[3]);
  });
} else {
  send = (message) => process.stdout.write(JSON.stringify(message) + "\n");
  const lines = createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    const answer = await handle(JSON.parse(line));
    if (answer) send(answer);
  });
  lines.on("close", () => { log({ closed: true }); process.exit(0); });
}
