// A scripted login server on loopback: authorization code with PKCE, device grant, refresh with
// rotation, revocation. It hands out what it is told, refuses what RFC 6749 refuses, and logs
// every request as a line of JSON.
//
//   node oauth.mjs PORT_FILE LOG OPTIONS_JSON
//
// Options: lifetime (seconds of an access token, or a list with one for each), hold (milliseconds before a refresh is answered),
// device (answers to the polls, the last one again and again: pending, slow_down, grant, denied, expired),
// refuse (an error for the authorization page), broken (a status for the token endpoint).
import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [portFile, log, text] = process.argv.slice(2);
const options = { lifetime: 3600, hold: 0, device: ['grant'], ...JSON.parse(text || '{}') };
const codes = new Map();
const refreshTokens = new Set();
let issued = 0;
let polls = 0;

function grant() {
  issued += 1;
  const refresh = `canary-refresh-${issued}-${randomBytes(4).toString('hex')}`;
  refreshTokens.add(refresh);
  return {
    access_token: `canary-access-${issued}`,
    token_type: 'Bearer',
    expires_in: [options.lifetime].flat().at(Math.min(issued, [options.lifetime].flat().length) - 1),
    refresh_token: refresh,
    scope: 'profile inference',
  };
}

function token(form) {
  if (options.broken) return [options.broken, { error: 'server_error' }];
  if (form.client_id !== 'ona-test') return [401, { error: 'invalid_client' }];
  switch (form.grant_type) {
    case 'authorization_code': {
      const code = codes.get(form.code);
      codes.delete(form.code);
      const challenge = createHash('sha256').update(form.code_verifier ?? '').digest('base64url');
      if (!code || code.challenge !== challenge || code.redirect !== form.redirect_uri)
        return [400, { error: 'invalid_grant', error_description: `the code ${form.code} is not valid` }];
      return [200, grant()];
    }
    case 'refresh_token':
      // Each token works once.
      if (!refreshTokens.delete(form.refresh_token))
        return [400, { error: 'invalid_grant', error_description: `${form.refresh_token} was used before` }];
      return [200, grant()];
    case 'urn:ietf:params:oauth:grant-type:device_code': {
      if (form.device_code !== 'canary-device-code') return [400, { error: 'invalid_grant' }];
      const answer = options.device[Math.min(polls, options.device.length - 1)];
      polls += 1;
      const errors = { pending: 'authorization_pending', slow_down: 'slow_down', denied: 'access_denied', expired: 'expired_token' };
      return errors[answer] ? [400, { error: errors[answer] }] : [200, grant()];
    }
    default:
      return [400, { error: 'unsupported_grant_type' }];
  }
}

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://x');
  let body = '';
  request.on('data', (piece) => (body += piece));
  request.on('end', () => {
    const form = Object.fromEntries(new URLSearchParams(body));
    const query = Object.fromEntries(url.searchParams);
    appendFileSync(log, `${JSON.stringify({ at: Date.now(), method: request.method, path: url.pathname, query, form })}\n`);
    const json = (status, value) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    switch (url.pathname) {
      case '/authorize': {
        const back = new URL(query.redirect_uri);
        back.searchParams.set('state', query.state);
        if (options.refuse) {
          back.searchParams.set('error', options.refuse);
        } else {
          const code = `canary-code-${randomBytes(6).toString('hex')}`;
          codes.set(code, { challenge: query.code_challenge, redirect: query.redirect_uri });
          back.searchParams.set('code', code);
        }
        response.writeHead(302, { location: back.href });
        return response.end();
      }
      case '/token':
        return setTimeout(() => json(...token(form)), form.grant_type === 'refresh_token' ? options.hold : 0);
      case '/device':
        return json(200, {
          device_code: 'canary-device-code',
          user_code: 'WDJB-MJHT',
          verification_uri: 'http://127.0.0.1/activate',
          verification_uri_complete: 'http://127.0.0.1/activate?user_code=WDJB-MJHT',
          expires_in: 600,
          interval: 1,
        });
      case '/revoke':
        refreshTokens.delete(form.token);
        return json(200, {});
      default:
        return json(404, {});
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  writeFileSync(`${portFile}.new`, String(server.address().port));
  renameSync(`${portFile}.new`, portFile);
});
