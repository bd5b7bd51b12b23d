// Nodes that run easykit, and the audit of what was done.

import {h} from './dom.js';
import {can, get} from './api.js';
import {ago, duration, fullTime, now, number, t, visible} from './text.js';
import {acts, after, ask, button, chip, col, empty, facts, link, num, pager, raw, table, time} from './parts.js';

export function nodes() {
  let data = null;
  return {
    title: () => t('Nodes'),
    ready: () => data,
    async load() {
      data = await get('nodes');
    },
    view: () => [
      h('div.title', null, h('h1', null, t('Nodes')), data && h('span.dim', null, number(data.nodes.length))),
      !data ? empty('Loading…') : !data.nodes.length ? empty('No node has reported in the last 30 seconds.')
        : h('div.cards', null, data.nodes.map(node => card(node))),
    ],
  };
}

function card(node) {
  return h('section.card', {key: node.node, 'aria-label': visible(node.node)},
    h('h2', null, raw(node.node), ' ', node.seen && now() - node.seen > 20000 && chip('warn', t('Silent for {d}', {d: duration(now() - node.seen)}))),
    facts([
      ['Application', raw(node.app || '–')], ['Host', raw(node.host || '–')],
      ['Version', Object.entries(node.versions || {}).map(([name, v]) => name + ' ' + v).join(' · ')],
      ['Up since', node.startedAt ? h('span', {title: fullTime(node.startedAt)}, time(node.startedAt), ' ', h('span.dim', null, duration(now() - node.startedAt))) : '–'],
      ['Last report', node.seen ? ago(node.seen) : '–'],
    ]),
    node.listeners?.length ? table(t('Listeners of {node}', {node: node.node}), [
      col('Listener', l => raw(l.listener, 'mono'), 'name'),
      col('Topic', l => h('a', {href: link('topic', {topic: l.topic})}, raw(l.topic))),
      col('Busy', l => [number(l.busy), h('span.dim', null, ' / ' + number(l.places))], 'num'),
      col('State', l => (l.paused ? chip('warn', 'Paused here') : chip('good', 'Runs'))),
      can('pause') && acts(l => button(l.paused ? 'Resume…' : 'Pause…', () => pauseHere(node, l), {class: 'plain'})),
    ].filter(Boolean), node.listeners, {key: l => l.listener}) : h('p.dim', null, t('No listeners.')));
}

function pauseHere(node, listener) {
  const stop = !listener.paused;
  ask({
    title: [t(stop ? 'Pause' : 'Resume'), ' ', raw(listener.listener)], danger: stop,
    text: h('span', null, t('Only on node'), ' ', raw(node.node, 'mono'), '. ', t('Other nodes go on. The node follows within 10 seconds.')),
    submit: stop ? 'Pause on this node' : 'Resume on this node', path: stop ? 'pause' : 'resume',
    body: () => ({node: node.node, listener: listener.listener}),
    said: t(stop ? 'The listener will pause within 10 seconds.' : 'The listener will run within 10 seconds.'),
  });
}

const OUTCOMES = {done: 'good', refused: 'bad', failed: 'bad', begun: 'idle'};

export function audit() {
  const state = {stack: []};
  let data = null;
  return {
    title: () => t('Audit'),
    ready: () => data,
    async load() {
      data = await get('audit', {after: after(state), size: 50});
    },
    view: () => [
      h('div.title', null, h('h1', null, t('Audit')), h('span.dim', null, t('The last changes through this node; the log has all of them.'))),
      !data ? empty('Loading…') : !data.entries.length ? empty('Nothing has been changed yet.') : table('Audit', [
        col('Time', e => time(e.at)),
        col('Who', e => raw(e.who), 'name'),
        col('From', e => [raw(e.from || '–', 'mono'), h('span.dim', null, ' → ', raw(e.node))]),
        col('Action', e => h('span.mono', null, visible(e.action))),
        col('Target', e => [e.topic && raw(e.topic), e.ids?.length ? h('details', null,
          h('summary', null, t('{n} ids', {n: number(e.ids.length)})), e.ids.map(id => h('div', {key: id}, raw(id, 'mono')))) : null,
          e.filter ? h('div.dim', null, raw(e.filter, 'mono')) : null], 'wide'),
        num('Count', 'count'),
        col('Outcome', e => chip(OUTCOMES[e.outcome] || 'idle', t(e.outcome))),
        col('Note', e => (e.note ? raw(e.note) : ''), 'wide'),
      ], data.entries, {key: e => e.id}),
      data && (state.stack.length || data.next) ? pager(state, data.next) : null,
    ],
  };
}
