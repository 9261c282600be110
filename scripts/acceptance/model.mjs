// A SCRIPTED model server for acceptance checks: it knows nothing and answers what it is told.
//   node model.mjs PORTFILE LOG SCRIPT_JSON [PORT]
// Listens on 127.0.0.1, writes its port to PORTFILE, appends each request to LOG as one JSON
// line {path, headers, body, raw, open, seen?}, and answers the n-th POST with the n-th item:
//   {"say":"text"}  {"calls":[{"name","input","id"?}],"say"?}  {"plain":true,...} one JSON document
//   {"status":429,"headers"?,"message"?}  {"hang":true}  {"reset":true}  {"delay":ms,...}  {"stop":"length",...} or any other reason
//   {"say":["a","b"],...} these pieces  {"every":ms,...} a stream event each so often  {"stalls":n,...} nothing after n events
//   {"usage":{...},...} counts beside the usual ones (Messages only)  {"breaks":bytes,...} the connection is lost after these
// and {"say":"done"} after the last. With MODEL_ASKS="FILE\tSQL" it runs sqlite3 when a request
// arrives, before it answers, and logs what that printed as `seen`. Every connection is a line of
// LOG.connections. A GET of a path that ends in /models is a line of LOG.lists and is answered from MODEL_LISTS.
// It ends after 60 seconds.
import { createServer } from 'node:http';
import { appendFileSync, writeFileSync, renameSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

const [portFile, log, script, port] = process.argv.slice(2);
const items = JSON.parse(script);
let asked = 0, calls = 0, open = 0;

const ask = () => {
  const [file, sql] = (process.env.MODEL_ASKS ?? '').split('\t');
  return sql ? execFileSync('sqlite3', ['-cmd', '.timeout 5000', file, sql], { encoding: 'utf8' }).trim() : undefined;
};
// In pieces, as a stream arrives.
const pieces = (text) => Array.isArray(text) ? text : text.match(/[^]{1,5}/gu) ?? [''];
const named = (item) => (item.calls ?? []).map((call) => ({ ...call, id: call.id ?? `call_${++calls}` }));
const cut = (item) => item.stop === 'length';
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function slowly(response, events, { every = 0, stalls = Infinity }) {
  for (const event of events.slice(0, stalls)) {
    response.write(event);
    await wait(every);
  }
  if (stalls >= events.length) response.end();
}

function messages(item, stream) {
  const uses = named(item);
  const blocks = [...(item.say ? [{ type: 'text', text: item.say }] : []), ...uses.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))];
  const stop_reason = cut(item) ? 'max_tokens' : item.stop ? item.stop : uses.length ? 'tool_use' : 'end_turn';
  const message = { id: `msg_${asked}`, type: 'message', role: 'assistant', model: 'scripted', content: blocks, stop_reason, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 5, ...item.usage } };
  if (!stream) return message;
  const events = [{ type: 'message_start', message: { ...message, content: [], stop_reason: null } }];
  blocks.forEach((block, index) => {
    const say = block.type === 'text';
    events.push({ type: 'content_block_start', index, content_block: say ? { type: 'text', text: '' } : { ...block, input: {} } });
    for (const piece of pieces(say ? block.text : JSON.stringify(block.input)))
      events.push({ type: 'content_block_delta', index, delta: say ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece } });
    events.push({ type: 'content_block_stop', index });
  });
  events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: message.usage.output_tokens } }, { type: 'message_stop' });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function chat(item, stream) {
  const tool_calls = named(item).map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }));
  const finish_reason = cut(item) ? 'length' : item.stop ? item.stop : tool_calls.length ? 'tool_calls' : 'stop';
  const envelope = (object, choice) => ({ id: `chatcmpl-${asked}`, object, created: 1700000000, model: 'scripted', choices: [{ index: 0, ...choice }] });
  if (!stream) {
    const message = { role: 'assistant', content: item.say ?? null, ...(tool_calls.length ? { tool_calls } : {}) };
    return { ...envelope('chat.completion', { message, finish_reason }), usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } };
  }
  const deltas = [{ role: 'assistant', content: item.say ? '' : null }, ...(item.say ? pieces(item.say).map((content) => ({ content })) : [])];
  tool_calls.forEach(({ id, type, function: { name, arguments: text } }, index) => {
    deltas.push({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] });
    for (const piece of pieces(text)) deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
  });
  const chunks = deltas.map((delta) => envelope('chat.completion.chunk', { delta, finish_reason: null }));
  chunks.push(envelope('chat.completion.chunk', { delta: {}, finish_reason }));
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}

const server = createServer((request, response) => {
  let raw = '';
  request.setEncoding('utf8').on('data', (text) => (raw += text)).on('end', () => {
    const overlapping = open++;
    response.on('close', () => open--);
    let body = null;
    try { body = JSON.parse(raw); } catch {}
    // Lists of models are not requests to a model: MODEL_LISTS is {PATH: answer}.
    if (request.method === 'GET' && /\/models$/.test(request.url.split('?')[0])) {
      appendFileSync(`${log}.lists`, JSON.stringify({ path: request.url, headers: request.headers }) + '\n');
      const list = JSON.parse(process.env.MODEL_LISTS ?? '{}')[request.url.split('?')[0]];
      if (list === 'silent') return;
      return list ? response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list)) : response.writeHead(404).end();
    }
    appendFileSync(log, JSON.stringify({ path: request.url, method: request.method, headers: request.headers, body, raw, open: overlapping, seen: ask() }) + '\n');
    if (request.method !== 'POST') return response.writeHead(404).end();
    const item = items[asked++] ?? { say: 'done' };
    if (item.hang) return;
    if (item.reset) return request.socket.destroy();
    setTimeout(() => {
      if (item.status) {
        const error = { type: 'error', error: { type: 'scripted', message: item.message ?? 'This is a scripted failure.' } };
        return response.writeHead(item.status, { 'content-type': 'application/json', ...item.headers }).end(JSON.stringify(error));
      }
      const stream = body?.stream === true && !item.plain;
      const answer = (request.url.endsWith('/v1/messages') ? messages : chat)(item, stream);
      if (item.breaks) return response.writeHead(200, { 'content-type': 'text/event-stream' }).write(answer.slice(0, item.breaks), () => request.socket.destroy());
      if (stream && (item.every || item.stalls)) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return slowly(response, answer.match(/[^]*?\n\n/g), item);
      }
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' }).end(stream ? answer : JSON.stringify(answer));
    }, item.delay ?? 0);
  });
});
// As a proxy it only records the target and connects to nothing.
server.on('connect', (request, socket) => {
  appendFileSync(log, JSON.stringify({ path: request.url, method: 'CONNECT', headers: request.headers, body: null, raw: '', open }) + '\n');
  socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
});
server.on('connection', () => appendFileSync(`${log}.connections`, 'connection\n'));
server.listen(Number(port ?? 0), '127.0.0.1', () => {
  writeFileSync(`${portFile}.new`, String(server.address().port));
  renameSync(`${portFile}.new`, portFile);
});
process.on('SIGTERM', () => process.exit(0));
setTimeout(() => process.exit(0), 60_000);
