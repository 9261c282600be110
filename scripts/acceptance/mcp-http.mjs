// A scripted MCP server over HTTP on loopback: streamable HTTP at /mcp, the older transport at /sse, a WebSocket at /socket,
// and a login server beside it (metadata, registration, authorization code with PKCE, refresh with
// rotation, revocation). It does what it is told and logs every request as a line of JSON.
//
//   node mcp-http.mjs PORT_FILE LOG OPTIONS_JSON
//
// Options: auth (only requests with a token it has issued are answered), token (or this one), refuse (an error
// for the authorization page), lifetime (seconds of an access token), forget (after this many messages
// the session is not known any more), status (an HTTP status for tools/call, with `body`), cut (tools/call
// is answered with half a stream), resume (the rest of a cut stream can be fetched), announce (the server
// sends list_changed on its stream), registers (false: no registration), resource (what the metadata say),
// redirect (where the stream wants messages), pkce (false: not offered).
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [portFile, log, text] = process.argv.slice(2);
const options = { lifetime: 3600, registers: true, pkce: true, ...JSON.parse(text || '{}') };
const sessions = new Map();
const streams = new Map();
const codes = new Map();
const clients = new Map();
const access = new Set();
const refresh = new Set();
let issued = 0;
let cut = 0;
let origin = '';

const say = (line) => appendFileSync(log, `${JSON.stringify(line)}\n`);
const names = ['echo', 'say', 'secret', 'grow'];

function result(message, session) {
  switch (message.method) {
    case 'initialize':
      return {
        protocolVersion: message.params.protocolVersion,
        capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
        serverInfo: { name: 'http', version: '1' },
      };
    case 'tools/list':
      return { tools: names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })) };
    case 'tools/call': {
      const given = message.params.arguments ?? {};
      if (message.params.name === 'grow') names.push('late');
      const words = { echo: JSON.stringify(given), say: given.text, secret: session?.authorization ?? '', grow: 'grown', late: 'here' };
      return { content: [{ type: 'text', text: words[message.params.name] }] };
    }
    case 'prompts/list':
      return { prompts: [] };
    case 'resources/list':
      return { resources: [] };
    default:
      return {};
  }
}

const answer = (message, session) => ({ jsonrpc: '2.0', id: message.id, result: result(message, session) });

function grant() {
  issued += 1;
  const token = { access_token: `canary-mcp-access-${issued}`, token_type: 'Bearer', expires_in: [options.lifetime].flat().at(Math.min(issued, [options.lifetime].flat().length) - 1) };
  token.refresh_token = `canary-mcp-refresh-${issued}-${randomBytes(4).toString('hex')}`;
  access.add(token.access_token);
  refresh.add(token.refresh_token);
  return [200, token];
}

function token(form) {
  const client = clients.get(form.client_id);
  if (!client || (client.secret && client.secret !== form.client_secret)) return [401, { error: 'invalid_client' }];
  if (form.resource !== (options.resource ?? `${origin}/mcp`)) return [400, { error: 'invalid_target' }];
  if (form.grant_type === 'refresh_token') {
    if (!refresh.delete(form.refresh_token)) return [400, { error: 'invalid_grant', error_description: `${form.refresh_token} was used before` }];
    return grant();
  }
  const code = codes.get(form.code);
  codes.delete(form.code);
  const challenge = createHash('sha256').update(form.code_verifier ?? '').digest('base64url');
  if (!code || code.challenge !== challenge || code.redirect !== form.redirect_uri) return [400, { error: 'invalid_grant' }];
  return grant();
}

function login(request, response, url, body) {
  const form = Object.fromEntries(new URLSearchParams(body));
  const query = Object.fromEntries(url.searchParams);
  const json = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
    return true;
  };
  switch (url.pathname) {
    case '/.well-known/oauth-protected-resource/mcp':
      return options.auth && json(200, { resource: options.resource ?? `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['read'] });
    case '/.well-known/oauth-authorization-server':
      return json(200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        revocation_endpoint: `${origin}/revoke`,
        ...(options.registers ? { registration_endpoint: `${origin}/register` } : {}),
        ...(options.pkce ? { code_challenge_methods_supported: ['S256'] } : {}),
      });
    case '/register': {
      const client = { ...JSON.parse(body), client_id: `client-${clients.size + 1}` };
      clients.set(client.client_id, client);
      return json(201, client);
    }
    case '/authorize': {
      const back = new URL(query.redirect_uri);
      back.searchParams.set('state', query.state);
      if (options.refuse) back.searchParams.set('error', options.refuse);
      else {
        const code = `canary-mcp-code-${randomBytes(6).toString('hex')}`;
        codes.set(code, { challenge: query.code_challenge, redirect: query.redirect_uri });
        back.searchParams.set('code', code);
      }
      response.writeHead(302, { location: back.href });
      response.end();
      return true;
    }
    case '/token':
      return json(...token(form));
    case '/revoke':
      access.clear();
      refresh.delete(form.token);
      return json(200, {});
    default:
      return false;
  }
}

function streamable(request, response, message) {
  const id = request.headers['mcp-session-id'];
  if (request.method === 'DELETE') {
    sessions.delete(id);
    return response.writeHead(200).end();
  }
  if (request.method === 'GET') {
    if (options.resume && request.headers['last-event-id']) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(`id: 2\ndata: ${JSON.stringify(cut)}\n\n`);
    }
    if (!options.announce) return response.writeHead(405).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    streams.set(id, response);
    return;
  }
  let session = sessions.get(id);
  if (message.method === 'initialize') {
    session = { id: randomUUID(), left: options.forget ?? Infinity };
    sessions.set(session.id, session);
  } else if (!session || session.left-- <= 0) {
    sessions.delete(id);
    response.writeHead(404, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }));
  }
  session.authorization = request.headers.authorization;
  if (message.id === undefined || message.method === undefined) return response.writeHead(202).end();
  const reply = answer(message, session);
  if (message.method === 'tools/call' && options.status) {
    response.writeHead(options.status, { 'content-type': 'application/json' });
    const body = options.body;
    options.status = options.once ? undefined : options.status;
    return response.end(JSON.stringify(body ?? {}));
  }
  if (message.method === 'tools/call' && (options.cut || options.resume)) {
    cut = reply;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(options.resume ? 'id: 1\nretry: 10\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n' : `data: ${JSON.stringify(reply).slice(0, 20)}`);
    options.cut = options.once ? false : options.cut;
    return setTimeout(() => response.destroy(), 20);
  }
  if (message.method === 'tools/call' && message.params.name === 'grow')
    streams.get(id)?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })}\n\n`);
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': session.id });
  response.end(JSON.stringify(reply));
}

function legacy(request, response, url, message) {
  if (request.method === 'GET') {
    const id = randomUUID();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: endpoint\ndata: ${options.redirect ?? ''}/messages?id=${id}\n\n`);
    streams.set(id, response);
    return;
  }
  const stream = streams.get(url.searchParams.get('id'));
  response.writeHead(stream ? 202 : 404).end();
  if (stream && message.id !== undefined) stream.write(`event: message\ndata: ${JSON.stringify(answer(message))}\n\n`);
  if (message.method === 'tools/call' && message.params.arguments?.text === 'leave') stream.destroy();
}

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://x');
  let body = '';
  request.on('data', (piece) => (body += piece));
  request.on('end', () => {
    say({ http: request.method, path: url.pathname, headers: request.headers, body });
    if (login(request, response, url, body)) return;
    const given = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    if (options.auth && !access.has(given) && given !== options.token) {
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="read"` });
      return response.end();
    }
    const message = body && request.method === 'POST' ? JSON.parse(body) : {};
    if (url.pathname === '/mcp') return streamable(request, response, message);
    if (url.pathname === '/sse' || url.pathname === '/messages') return legacy(request, response, url, message);
    if (url.pathname === '/elsewhere') return response.writeHead(307, { location: `${origin}/mcp` }).end();
    response.writeHead(404).end();
  });
});
// A WebSocket at /socket: frames of text, not fragmented.
server.on('upgrade', (request, socket) => {
  const { headers, url } = request;
  say({ http: 'UPGRADE', path: url, headers });
  socket.on('error', () => {});
  const refuse = (line) => socket.end(`HTTP/1.1 ${line}\r\nContent-Length: 0\r\n\r\n`);
  if (url !== '/socket') return refuse('404 Not Found');
  if (options.auth && headers.authorization !== `Bearer ${options.token}`) return refuse('401 Unauthorized');
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: mcp\r\n\r\n`);
  const send = (value) => {
    const text = Buffer.from(JSON.stringify(value));
    const size = text.length < 126 ? Buffer.from([0x81, text.length]) : Buffer.from([0x81, 126, text.length >> 8, text.length & 255]);
    socket.write(Buffer.concat([size, text]));
  };
  let bytes = Buffer.alloc(0);
  socket.on('data', (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    for (;;) {
      if (bytes.length < 2) return;
      const short = bytes[1] & 127;
      const at = short < 126 ? 2 : 4;
      if (bytes.length < at + 4) return;
      const size = short < 126 ? short : bytes.readUInt16BE(2);
      if (bytes.length < at + 4 + size) return;
      const mask = bytes.subarray(at, at + 4);
      const text = Buffer.from(bytes.subarray(at + 4, at + 4 + size).map((byte, i) => byte ^ mask[i % 4]));
      const kind = bytes[0] & 15;
      bytes = bytes.subarray(at + 4 + size);
      if (kind === 8) return socket.end();
      if (kind !== 1) continue;
      const message = JSON.parse(text.toString());
      say({ http: 'FRAME', body: text.toString() });
      if (message.params?.arguments?.text === 'leave') return socket.destroy();
      if (message.id !== undefined) send(answer(message));
    }
  });
});
for (const [id, secret] of Object.entries(options.clients ?? {})) clients.set(id, { secret });
server.listen(options.port ?? 0, '127.0.0.1', () => {
  origin = `http://127.0.0.1:${server.address().port}`;
  writeFileSync(`${portFile}.new`, String(server.address().port));
  renameSync(`${portFile}.new`, portFile);
});
