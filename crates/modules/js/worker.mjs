// Hosts one hook module in an installed runtime (bun, node, deno).
//
// Two threads: this one reads and writes lines, the other runs the module. A request the
// module must wait for (the session is read without promises) blocks its own thread on
// shared memory while this one fetches the answer.
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { MessageChannel, Worker, isMainThread, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

function main() {
  const say = (line) => process.stdout.write(`${line}\n`);
  const log = (level) => (data) => say(JSON.stringify({ t: "tell", name: "log", args: [level, String(data).replace(/\n$/, "")] }));
  let worker;
  let answers;
  const arrived = new Int32Array(new SharedArrayBuffer(4));
  const begin = (config) => {
    const { port1, port2 } = new MessageChannel();
    answers = port1;
    worker = new Worker(new URL(import.meta.url), {
      workerData: { config, arrived, port: port2 },
      transferList: [port2],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: config.heap, maxYoungGenerationSizeMb: 16 },
    });
    worker.stdout?.on("data", log("info"));
    worker.stderr?.on("data", log("warn"));
    worker.on("message", say);
    worker.on("error", (error) => {
      if (error?.code === "ERR_WORKER_OUT_OF_MEMORY") say('{"t":"overrun","what":"memory"}');
      else say(JSON.stringify({ t: "gone", why: String(error?.message ?? error) }));
    });
    worker.on("exit", () => say('{"t":"gone","why":"its thread ended"}'));
  };
  createInterface({ input: process.stdin }).on("line", (line) => {
    if (!worker) { begin(JSON.parse(line)); return; }
    if (line.startsWith('{"t":"answer"')) {
      answers.postMessage(line);
      Atomics.add(arrived, 0, 1);
      Atomics.notify(arrived, 0);
    } else {
      worker.postMessage(line);
    }
  }).on("close", () => process.exit(0));
}

function module() {
  const { config, arrived, port } = workerData;
  const post = (line) => parentPort.postMessage(line);
  let lastAsk = 1e9;
  globalThis.__bridge = {
    post,
    ask: (text) => {
      const id = ++lastAsk;
      post(`{"t":"ask","id":${id},${text.slice(1)}`);
      for (;;) {
        const seen = Atomics.load(arrived, 0);
        const received = receiveMessageOnPort(port);
        if (received) {
          const { id: answered, ok, error } = JSON.parse(received.message);
          if (answered === id) return JSON.stringify({ ok, error });
        } else {
          Atomics.wait(arrived, 0, seen);
        }
      }
    },
    importFrom: (path, what) => {
      if (!/^\.{0,2}\//.test(what)) return import(what);
      return import(new URL(what, `file://${path}`).href);
    },
  };
  const exit = process.exit;
  process.exit = (code) => { throw new Error(`process.exit(${code ?? ""}) is not available to hook modules`); };
  for (const name of config.prelude) (0, eval)(readFileSync(name, "utf8"));
  const { receive, start, host } = globalThis.__ona;
  process.on("uncaughtException", (error) => host.logger.error("uncaught:", error));
  process.on("unhandledRejection", (error) => host.logger.error("unhandled:", error));
  parentPort.on("message", (line) => {
    if (line === '{"t":"ping"}') post('{"t":"pong"}');
    else if (line === '{"t":"end"}') exit(0);
    else receive(line);
  });
  post('{"t":"pong"}');
  start(() => import(config.entry));
}

if (isMainThread) main();
else module();
