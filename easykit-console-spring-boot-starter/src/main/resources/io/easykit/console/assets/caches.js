// Redis clusters and caches of this node, and the state of one key in words.

import {h} from './dom.js';
import {can, get, has} from './api.js';
import {duration, number, percent, t, visible} from './text.js';
import {
  acts, ask, button, chip, col, danger, empty, facts, field, link, num, openDialog, raw, select, table,
} from './parts.js';

export function caches() {
  let data = null;
  return {
    title: () => t('Caches'),
    ready: () => data,
    async load() {
      data = await get('caches');
    },
    view: () => (data ? [
      h('div.title', null, h('h1', null, t('Caches')), data.caches && h('span.dim', null, t('Counts are of node {node}, since its start.', {node: visible(data.node)}))),
      h('h2', null, t('Redis clusters')),
      table('Redis clusters', clusterColumns(), data.clusters, {key: one => one.cluster, css: one => (one.state === 'AVAILABLE' ? null : 'marked')}),
      data.caches && h('h2', null, t('Caches')),
      data.caches && (data.caches.length ? table('Caches', cacheColumns(), data.caches, {key: one => one.cluster + ' ' + one.prefix + ' ' + one.method})
        : empty('No cached methods.')),
    ] : empty('Loading…')),
  };
}

function clusterState(one) {
  return one.state === 'AVAILABLE' ? chip('good', 'Available') : chip('bad', 'Unavailable');
}

function clusterColumns() {
  return [
    col('Cluster', one => raw(one.cluster), 'name'),
    col('State', one => [clusterState(one), ' ', one.forced && chip('warn', 'Forced', one.forcedBy ? visible(one.forcedBy) : null)]),
    col('Masters', one => Object.entries(one.nodes || {}).map(([name, value]) =>
      h('div', {key: name}, raw(name), ' ', clusterState({state: value})))),
    num('Undelivered', '', one => (one.undelivered ? h('span.hot', null, number(one.undelivered)) : '0'),
      {title: t('Keys whose invalidation waits for Redis')}),
    col('Outbox', one => (one.outbox ? [number(one.outbox.count), one.outbox.oldest ? h('span.dim', null, ' · ' + duration(one.outbox.oldest)) : null] : '–'), 'num'),
    can('force') && acts(one => button('Force…', () => forceDialog(one), {class: 'plain'})),
  ].filter(Boolean);
}

function cacheColumns() {
  const sum = list => Object.values(list || {}).reduce((a, b) => a + b, 0);
  const hits = one => (one.reads.hit || 0) + (one.reads.stale || 0) + (one.reads.local || 0);
  return [
    col('Prefix', one => raw(one.prefix, 'mono'), 'name'),
    col('Cluster', 'cluster'),
    col('Consistency', one => one.consistency),
    col('Method', one => raw(one.method, 'mono cut')),
    col('Key', one => raw(one.key || '–', 'mono')),
    col('Hits', one => percent(hits(one), sum(one.reads)), 'num'),
    col('Redis', one => number(one.reads.hit || 0), 'num'),
    col('Stale', one => number(one.reads.stale || 0), 'num'),
    col('Local', one => number(one.reads.local || 0), 'num'),
    col('Misses', one => number(one.reads.miss || 0), 'num'),
    col('Failed loads', one => (one.loads.failed ? h('span.hot', null, number(one.loads.failed)) : '0'), 'num'),
    col('Worst staleness', one => (one.staleness === null ? t('none') : raw(one.staleness))),
    acts(one => [
      button('Settings', () => settingsDialog(one), {class: 'plain'}), ' ',
      has('explain') && h('a', {href: link('explain', {cluster: one.cluster, prefix: one.prefix})}, t('Explain a key')), ' ',
      can('drop') && danger('Drop…', () => dropDialog(one), {class: 'plain danger'}),
    ]),
  ];
}

function settingsDialog(one) {
  openDialog({
    title: ['Settings of', ' ', raw(one.prefix)],
    wide: true,
    view: () => table('Settings in force', [
      col('Setting', row => h('span.mono', null, row.name)),
      col('Value', row => raw(row.value, 'mono')),
      col('Source', 'source'),
    ], one.settings, {key: row => row.name}),
  });
}

const FORCED = {
  AUTO: 'The circuit breaker decides again.',
  UNAVAILABLE: 'Reads go to the loaders, and Redis is not asked, until you undo it.',
  AVAILABLE: 'Redis is read at once, also while invalidations wait: stale values are possible.',
};

const forceDialog = one => ask({
  title: [t('Force the state of'), ' ', raw(one.cluster)], danger: true,
  state: {state: one.forced ? 'AUTO' : 'UNAVAILABLE'},
  more: state => [
    field('State on this node', select(state, 'state',
      {AUTO: 'Decided by the circuit breaker', UNAVAILABLE: 'Unavailable', AVAILABLE: 'Available'})),
    h('p', null, t(FORCED[state.state]))],
  submit: 'Set the state', path: 'force', body: state => ({cluster: one.cluster, state: state.state}),
  said: t('The state is set on this node.'),
});

const dropDialog = one => ask({
  title: [t('Drop all entries of'), ' ', raw(one.prefix)], typed: one.prefix, danger: true,
  text: 'All entries of the prefix become invalid on all nodes. Each is loaded again when it is read next: expect load on the database.',
  submit: 'Drop', path: 'drop', body: () => ({cluster: one.cluster, prefix: one.prefix}),
  said: t('All entries of {prefix} are invalid.', {prefix: one.prefix}),
});

const evictDialog = (one, parts) => ask({
  title: t('Evict the entry'), danger: true,
  more: () => [h('p', null, raw(one.prefix + ' ' + parts.join(', '), 'mono')),
    h('p', null, t('The entry becomes invalid on all nodes, and is loaded again when it is read next.'))],
  submit: 'Evict', path: 'evict', body: () => ({cluster: one.cluster, prefix: one.prefix, parts}), said: t('The entry is invalid.'),
});

const COLORS = {fresh: 'good', absent: 'idle', away: 'bad', unreadable: 'bad'};

export function explain(params) {
  const wanted = {cluster: params.get('cluster'), prefix: params.get('prefix'), parts: params.getAll('part')};
  let list = null;
  let answer = null;
  return {
    title: () => t('Explain a key'),
    ready: () => list,
    async load() {
      list = await get('caches');
      if (wanted.prefix && wanted.parts.length) {
        answer = await get('explain', {cluster: wanted.cluster, prefix: wanted.prefix, part: wanted.parts});
      }
    },
    view: () => (list ? explainView(wanted, list, answer) : empty('Loading…')),
  };
}

function explainView(wanted, list, answer) {
  const known = [...new Map(list.caches.map(one => [one.cluster + ' ' + one.prefix, one])).values()];
  const one = known.find(c => c.prefix === wanted.prefix && (!wanted.cluster || c.cluster === wanted.cluster)) || known[0];
  if (!one) {
    return empty('No cached methods.');
  }
  return [
    h('div.title', null, h('h1', null, t('Explain a key'))),
    h('form.explain', {
      onsubmit: e => {
        e.preventDefault();
        const query = new URLSearchParams({cluster: one.cluster, prefix: one.prefix});
        e.target.querySelectorAll('input').forEach(input => query.append('part', input.value));
        location.hash = '#/explain?' + query;
      },
    },
    field('Prefix', h('select', {
      value: one.cluster + ' ' + one.prefix, onchange: e => {
        const chosen = known.find(c => c.cluster + ' ' + c.prefix === e.target.value);
        location.hash = link('explain', {cluster: chosen.cluster, prefix: chosen.prefix});
      },
    }, known.map(c => h('option', {value: c.cluster + ' ' + c.prefix}, c.prefix + (c.cluster === 'default' ? '' : ' · ' + c.cluster))))),
    (one.parts || ['key']).map((name, i) => h('div', {key: one.prefix + i}, field(raw(name, 'mono'), h('input', {
      type: 'text', 'data-search': i === 0, required: true, ref: input => {
        input.value = wanted.parts[i] || '';
      },
    })))),
    h('button.strong', null, t('Explain'))),
    answer && h('section', {'aria-live': 'polite'},
      h('p', null, chip(COLORS[answer.kind] || 'warn', t(answer.state))),
      h('ul.sentences', null, answer.sentences.map(text => h('li', null, visible(text)))),
      answer.fields?.length ? [h('h2', null, t('Fields in Redis')), facts(answer.fields.map(f => [h('span.mono', null, visible(f.name)), raw(f.value, 'mono')]))] : null,
      can('evict') && h('div.actions', null, danger('Evict…', () => evictDialog(one, wanted.parts)))),
  ];
}
