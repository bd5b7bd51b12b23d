// Calls of this node. All addresses are relative to the page, so any proxy prefix works.

import {setNow, settings} from './text.js';

// Built without user and password: fetch refuses an address that holds them.
const base = new URL('api/', location.origin + location.pathname);
const known = new Map();

export const session = {current: null};

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || 'HTTP ' + status);
    this.status = status;
    this.title = body.title;
    this.action = body.action;
    this.kind = body.kind;
  }
}

/** The address of a call, for links and downloads. */
export function address(path, params) {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(params || {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== '') {
        url.searchParams.append(name, one);
      }
    }
  }
  return url;
}

export async function get(path, params) {
  const url = address(path, params);
  const before = known.get(url.href);
  const headers = {Accept: 'application/json', 'Accept-Language': settings.lang};
  if (before) {
    headers['If-None-Match'] = before.tag;
  }
  const reply = await call(url, {headers});
  if (reply.status === 304) {
    return before.data;
  }
  const data = await read(reply);
  const tag = reply.headers.get('ETag');
  if (tag) {
    known.set(url.href, {tag, data});
  }
  return data;
}

export async function post(path, body) {
  try {
    return await send(path, body);
  } catch (problem) {
    if (problem.status !== 403) {
      throw problem;
    }
    // The token may have changed with the session. If it has not, the refusal stands.
    const token = session.current?.csrf?.token;
    await openSession();
    if (session.current.csrf?.token === token) {
      throw problem;
    }
    return send(path, body);
  }
}

async function send(path, body) {
  const headers = {
    Accept: 'application/json', 'Accept-Language': settings.lang,
    'Content-Type': 'application/json', 'X-Easykit-Console': '1',
  };
  const csrf = session.current?.csrf;
  if (csrf) {
    headers[csrf.header] = csrf.token;
  }
  return read(await call(address(path), {method: 'POST', headers, body: JSON.stringify(body)}));
}

export async function openSession() {
  session.current = await get('session');
  return session.current;
}

/** Whether this user may do that here. */
export function can(action) {
  return session.current?.actions.includes(action) || false;
}

/** Whether this node offers that page or list. */
export function has(feature) {
  return session.current?.features.includes(feature) || false;
}

async function call(url, options) {
  let reply;
  try {
    reply = await fetch(url, {
      cache: 'no-store', credentials: 'same-origin', redirect: 'manual', signal: AbortSignal.timeout(15000), ...options,
    });
  } catch {
    throw new Problem(0, {kind: 'node', detail: 'This node does not answer.'});
  }
  if (reply.type === 'opaqueredirect' || reply.status === 401) {
    throw new Problem(401, {kind: 'login', detail: 'You are not logged in any more.', action: 'Load the page again to log in.'});
  }
  return reply;
}

async function read(reply) {
  const json = (reply.headers.get('Content-Type') || '').includes('json');
  const data = json ? await reply.json() : {};
  if (!reply.ok) {
    throw new Problem(reply.status, data);
  }
  if (!json) {
    throw new Problem(reply.status, {kind: 'node', detail: 'The reply is not from the console.'});
  }
  if (data.now) {
    setNow(data.now);
  }
  return data;
}
