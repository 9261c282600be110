// A SCRIPTED web server for acceptance checks.
//   node web.mjs PORTFILE LOG
// Listens on 127.0.0.1, writes its port to PORTFILE and appends each request to LOG as one JSON line
// {method, path, headers, body}. It ends after 120 seconds.
import { createServer } from 'node:http';
import { appendFileSync, writeFileSync, renameSync } from 'node:fs';

const [portFile, log] = process.argv.slice(2);
const html = (body) => ({ type: 'text/html; charset=utf-8', body });
const result = (title, url, content) => ({ title, url, content, engine: 'scripted' });
const found = {
  query: 'x',
  results: [
    result('First  page', 'https://docs.example.com/a', 'words of\n the first'),
    result('Second', 'https://example.org/b', ''),
    result('Again', 'https://docs.example.com/a', 'the same address'),
    result('No page', 'ftp://example.com/c', 'not of the web'),
  ],
};
const message = {
  id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
  content: [
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 's1', content: [
      { type: 'web_search_result', title: 'Theirs', url: 'https://example.net/t', encrypted_content: 'x', page_age: 'May 2026' }] },
    { type: 'text', text: 'I found something.' },
  ],
};

function answer(path, query) {
  switch (path) {
    case '/page': return html('<title>T</title><h1>Head</h1><p>Café <b>two</b> <a href="/other">other</a><script>evil()</script>');
    case '/latin1': return { type: 'text/html', body: Buffer.from('<meta charset="iso-8859-1"><p>caf\xe9', 'latin1') };
    case '/json': return { type: 'application/json', body: '{"a":[1,2]}' };
    case '/pdf': return { type: 'application/pdf', body: Buffer.from('%PDF-1.7\0\0') };
    case '/big': return { type: 'text/plain', body: 'x'.repeat(2 * 1024 * 1024) };
    case '/deep': return html('<p>first</p>' + '<div>'.repeat(30000) + 'last');
    case '/to': return { status: 302, location: query.get('url') };
    case '/secret': return { type: 'text/plain', body: 'the secret' };
    case '/search': return { type: 'application/json', body: JSON.stringify(found) };
    case '/v1/messages': return { type: 'application/json', body: JSON.stringify(message) };
    case '/hang': return null;
  }
  const hop = path.match(/^\/hop\/(\d+)$/);
  if (hop) return hop[1] === '0' ? { type: 'text/plain', body: 'arrived' } : { status: 302, location: `/hop/${hop[1] - 1}` };
  return { status: 404, type: 'text/plain', body: 'nothing here' };
}

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const url = new URL(request.url, 'http://x');
    appendFileSync(log, JSON.stringify({ method: request.method, path: request.url, headers: request.headers, body: Buffer.concat(parts).toString() }) + '\n');
    const reply = answer(url.pathname, url.searchParams);
    if (!reply) return;
    const headers = { 'set-cookie': 'track=1' };
    if (reply.type) headers['content-type'] = reply.type;
    if (reply.location) headers.location = reply.location;
    response.writeHead(reply.status ?? 200, headers);
    response.end(reply.body ?? '');
  });
});
// As a proxy: the tunnel is logged and refused.
server.on('connect', (request, socket) => {
  appendFileSync(log, JSON.stringify({ method: 'CONNECT', path: request.url, headers: request.headers, body: '' }) + '\n');
  socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
});
server.listen(0, '127.0.0.1', () => {
  writeFileSync(`${portFile}.new`, String(server.address().port));
  renameSync(`${portFile}.new`, portFile);
});
setTimeout(() => process.exit(0), 120000).unref();
