// One message with its history, errors, headers and body; and the search for an id over all topics.

import {h} from './dom.js';
import {address, can, get, has} from './api.js';
import {bytes, now, number, t, until, visible} from './text.js';
import {button, chip, col, copyButton, countdown, danger, empty, facts, link, raw, table, time} from './parts.js';
import {cancelDialog, editDialog, purgeDialog, rescheduleDialog, sendBackDialog} from './actions.js';

const PLACES = {waiting: 'Waiting', flight: 'In flight', dead: 'Dead'};

export function message(params) {
  const name = params.get('topic') || '';
  const id = params.get('id') || '';
  let m = null;
  let gone = false;
  return {
    title: () => id,
    ready: () => m || gone,
    async load() {
      try {
        m = (await get('message', {topic: name, id})).message;
        gone = false;
      } catch (problem) {
        if (problem.status !== 404) {
          throw problem;
        }
        gone = true;
      }
    },
    view: () => [
      h('div.title', null, h('nav.crumbs', {'aria-label': t('Path')},
        h('a', {href: '#/queues'}, t('Queues')), ' › ',
        h('a', {href: link('topic', {topic: name, tab: m?.place === 'waiting' ? null : m?.place})}, raw(name)), ' › '),
      h('h1.mono', null, raw(id)),
      gone ? chip('good', 'Gone') : m && chip({dead: 'bad', flight: 'good'}[m.place] || 'idle', t(PLACES[m.place])),
      h('span.grow'), copyLink()),
      gone ? [h('p.note', null, m ? t('The message is gone: it ran, or was cancelled or purged. Below is what it was.')
        : t('There is no such message. It ran, or was cancelled or purged, or never existed.')), m && details(m, true)]
        : m ? details(m, false) : empty('Loading…'),
    ],
  };
}

function copyLink() {
  return copyButton(location.origin + location.pathname + location.hash, t('Copy link'));
}

function details(m, gone) {
  const one = [m];
  const acts = gone ? [] : m.place === 'dead' ? [
    can('redrive') && button('Send back…', () => sendBackDialog(m.topic, one, () => {}), {class: 'strong'}),
    can('replace') && button('Edit and send…', () => editDialog(m), {
      disabled: !m.editable, title: m.editable ? null : t(m.uneditable || 'This body cannot be edited here.')}),
    can('purge') && danger('Purge…', () => purgeDialog(m.topic, one, () => {})),
  ] : m.place === 'waiting' ? [
    can('reschedule') && button('Run now', () => rescheduleDialog(m.topic, one, () => {}, true)),
    can('reschedule') && button('Reschedule…', () => rescheduleDialog(m.topic, one, () => {})),
    can('cancel') && danger('Cancel…', () => cancelDialog(m.topic, one, () => {})),
  ] : [];
  return [
    m.damage && h('p.note.bad', null, visible(m.damage)),
    m.readable && !m.readable.ok && h('p.note.warn', null, t('The listener of this node cannot read this body:'), ' ', visible(m.readable.text)),
    h('div.columns', null,
      h('section', null, h('h2', null, t('History')), history(m)),
      h('section', null, h('h2', null, t('Facts')), facts([
        ['Shard', m.shard], ['Failures', number(m.failures)], ['Expired leases', number(m.lost)],
        ['Handed back', number(m.releases)], ['Last node', m.owner ? raw(m.owner) : '–'],
        m.retry ? ['Retry', raw(m.retry)] : null,
      ]))),
    errors(m),
    headers(m),
    body(m),
    acts.some(Boolean) && h('div.actions', {role: 'group', 'aria-label': t('Actions')}, acts),
  ];
}

function history(m) {
  const on = error => (error.owner ? [' ', t('on'), ' ', raw(error.owner)] : null);
  const list = [];
  const step = (at, ...what) => at && list.push({at, what});
  if (m.firstError && m.firstError.at !== m.lastError?.at) {
    step(m.firstError.at, t('First failure'), on(m.firstError));
  }
  if (m.place !== 'waiting') {
    step(m.due, t('Last delivery was due'));
    step(m.since, t('Claimed'), on(m));
  }
  if (m.lastError) {
    step(m.lastError.at, t('Last failure'), on(m.lastError));
  }
  list.sort((a, b) => a.at - b.at);
  if (m.place === 'dead') {
    step(m.at, t('Died after {n} failures and {m} expired leases', {n: number(m.failures), m: number(m.lost)}));
  } else if (m.place === 'flight') {
    step(m.at, t('Lease ends'), ' ', h('span.dim', null, countdown(m.at)));
  } else {
    step(m.at, t(m.at > now() ? 'Due' : 'Due, waits for a free node'), ' ', h('span.dim', null, until(m.at)));
  }
  return h('ol.history', null, list.map(one =>
    h('li', null, h('span.when', null, time(one.at)), h('span', null, one.what))));
}

function errors(m) {
  if (!m.lastError) {
    return null;
  }
  const last = m.lastError.text;
  const first = m.firstError?.text;
  const head = (text, error) => h('h3', null, text, ' ', h('span.dim', null, time(error.at), error.owner ? [' · ', raw(error.owner)] : null));
  if (!first || first === last) {
    return h('section', null, h('h2', null, t('Error')), head(first && m.failures > 1 ? t('The first and the last one are equal') : t('Last'), m.lastError), trace(last));
  }
  const lines = text => new Set(text.split('\n').map(line => line.trim()));
  return h('section', null, h('h2', null, t('Errors')), h('div.errors', null,
    h('div', null, head(t('First'), m.firstError), trace(first, lines(last))),
    h('div', null, head(t('Last'), m.lastError), trace(last, lines(first)))));
}

/** A stack trace; lines that the other one does not have are marked. */
function trace(text, other) {
  return h('pre.trace', {tabindex: '0'}, text.split('\n').map(line =>
    h('span.line', {class: other && line.trim() && !other.has(line.trim()) ? 'differs' : null}, visible(line) + '\n')));
}

function headers(m) {
  return h('section', null, h('h2', null, t('Headers'), ' ', h('span.dim', null, number(m.headers.length))),
    m.headers.length ? table('Headers', [
      col('Name', one => raw(one.name, 'mono')),
      col('Value', one => (one.value === null ? h('span.dim', null, t('hidden')) : raw(one.value, 'mono')), 'wide'),
    ], m.headers, {key: one => one.name}) : h('p.dim', null, t('None')));
}

const WHY = {
  role: 'Only operators see bodies.', never: 'easykit.console.show-values is never.',
};

function body(m) {
  const b = m.body;
  return h('section', null,
    h('h2', null, t('Body'), ' ', h('span.dim', null, b ? [bytes(b.size), ' ', {json: 'JSON', text: t('text'), binary: t('binary')}[b.kind]].join('') : t('gone')),
      h('span.grow'),
      b?.text ? copyButton(b.text) : null,
      b?.text && has('body') && can('redrive') && h('a.button', {href: address('body', {topic: m.topic, id: m.id}), download: ''}, t('Raw'))),
    b && b.masked && h('p.dim', null, t('Some values are masked by the application.')),
    b && b.cut && h('p.dim', null, t('Only the first {n} are shown.', {n: bytes(b.shown)})),
    !b ? h('p.dim', null, t('The body was deleted, or cannot be read.'))
      : b.text === null || b.text === undefined ? h('p.dim', null, t(WHY[b.hidden] || 'hidden'))
        : b.kind === 'json' ? h('pre.json', {tabindex: '0', dir: 'ltr'}, json(visible(b.text)))
          : h('pre', {tabindex: '0'}, visible(b.text)));
}

// Colours the text as it is; it is not parsed, so that numbers stay as they were.
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g;

function json(text) {
  if (text.length > 60000) {
    return text;
  }
  const out = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    if (found.index > at) {
      out.push(text.slice(at, found.index));
    }
    out.push(found[1] ? h('span', {class: found[2] ? 'name' : 'string'}, found[1]) : h('span.value', null, found[3]));
    at = found.index + (found[1] || found[3]).length;
  }
  out.push(text.slice(at));
  return out;
}

export function find(params) {
  const id = params.get('id') || '';
  let data = null;
  return {
    title: () => t('Find'),
    ready: () => data,
    async load() {
      data = await get('find', {id});
      if (data.found.length === 1 && location.hash.includes('find')) {
        location.replace(link('message', {topic: data.found[0].topic, id}));
      }
    },
    view: () => [
      h('div.title', null, h('h1', null, t('Find'), ' ', raw(id, 'mono'))),
      !data ? empty('Searching…') : data.found.length === 0
        ? empty('No topic has a message with this id. It ran, or was cancelled or purged, or never existed.')
        : table('Messages', [
          col('Topic', row => h('a', {href: link('message', {topic: row.topic, id})}, raw(row.topic))),
          col('Place', row => t(PLACES[row.place])),
          col('Time', row => time(row.at)),
        ], data.found, {key: row => row.topic}),
    ],
  };
}
