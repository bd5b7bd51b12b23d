// All topics in one table, with what is wrong above it.

import {h} from './dom.js';
import {can, get, has} from './api.js';
import {clock, duration, fullTime, now, number, t, visible} from './text.js';
import {acts, ask, button, chip, col, empty, link, num, page, raw, spark, table} from './parts.js';

const sort = {by: null, down: false};
let filter = '';

export function queues() {
  let data = null;
  return {
    title: () => t('Queues'),
    ready: () => data,
    async load() {
      data = await get('topics');
    },
    view: () => (data ? view(data) : empty('Loading…')),
  };
}

function view(data) {
  const topics = ordered(data.topics.filter(row => row.topic.toLowerCase().includes(filter.toLowerCase())));
  return [
    h('h1.hidden', null, t('Queues')),
    alerts(data.topics),
    h('div.bar', null,
      data.topics.length > 8 && h('input', {
        type: 'search', 'data-search': true, placeholder: t('Filter topics'), 'aria-label': t('Filter topics'),
        oninput: e => {
          filter = e.target.value;
          page.paint();
        },
      }),
      h('span.dim', null, t('Topics: {n}', {n: number(topics.length)})),
      redis(data.redis)),
    data.topics.length === 0
      ? empty('No topics yet. A topic appears when a node declares it: by a listener, or by the first message.')
      : table('Topics', columns(data), topics, {key: row => row.topic, sort, css: row => (row.alerts?.length ? 'marked' : null)}),
  ];
}

const rate = value => (value ? number(value, value < 100 ? 1 : 0) : number(value));
const late = row => (row.oldestDue ? Math.max(0, now() - row.oldestDue) : 0);

function columns() {
  return [
    {head: t('Topic'), sort: 'topic', css: 'name', cell: row => [
      h('a', {href: link('topic', {topic: row.topic})}, raw(row.topic)), ' ', paused(row),
      row.refused?.length ? chip('bad', 'Refused', row.refused.join('\n')) : null]},
    num('Waiting', 'waiting'),
    num('Due', 'due'),
    {head: t('Oldest due'), sort: 'late', css: 'num', title: t('How long the oldest due message has waited'),
      cell: row => (row.oldestDue
        ? h('span', {class: alerted(row, 'LATENESS') ? 'hot' : null, title: fullTime(row.oldestDue)}, duration(late(row))) : '–')},
    num('In flight', 'inFlight',
      row => [number(row.inFlight), typeof row.places === 'number' && h('span.dim', null, ' / ' + number(row.places))]),
    num('Dead', 'dead', row => (row.dead
      ? h('a', {href: link('topic', {topic: row.topic, tab: 'dead'}), class: alerted(row, 'DEAD') ? 'hot' : null}, number(row.dead)) : '0')),
    has('rates') && num('Done/s', 'doneRate', row => rate(row.doneRate)),
    has('rates') && num('Failed/s', 'failedRate', row => rate(row.failedRate)),
    has('nodes') && num('Nodes', 'consumers', row => (row.consumers === 0
      ? h('span', {class: row.due ? 'hot' : null}, '0') : number(row.consumers))),
    has('series') && col('Waiting, 60 min', row => (row.series ? spark(row.series, t('Waiting, 60 min')) : '–'), 'chart'),
    (can('pause') || can('resume')) && acts(row => pauseButton(row, 'plain')),
  ];
}

const alerted = (row, kind) => row.alerts?.some(alert => alert.kind === kind);

function ordered(topics) {
  const value = row => (sort.by === 'late' ? late(row) : row[sort.by]);
  const list = [...topics].sort((a, b) => {
    if (!sort.by) {
      return (b.alerts?.length || 0) - (a.alerts?.length || 0) || a.topic.localeCompare(b.topic);
    }
    const x = value(a), y = value(b);
    return (typeof x === 'string' ? x.localeCompare(y) : (x || 0) - (y || 0)) * (sort.down ? -1 : 1);
  });
  return list;
}

/** What is wrong, one line each. */
function alerts(topics) {
  const list = topics.flatMap(row => (row.alerts || []).map(alert => ({row, alert})));
  return list.length ? h('ul.alerts', {'aria-label': t('Alerts')}, list.map(({row, alert}) =>
    h('li', {key: row.topic + alert.kind},
      h('span', {'aria-hidden': 'true'}, '▲ '),
      h('a', {href: link('topic', {topic: row.topic, tab: alert.kind === 'DEAD' ? 'dead' : null})}, raw(row.topic)), ' ',
      alertText(alert),
      alert.since ? h('span.dim', null, ' · ' + t('since {time}', {time: clock(alert.since)})) : null))) : null;
}

export function alertText(alert) {
  const values = {
    n: alert.kind === 'LATENESS' ? duration(alert.value) : number(alert.value),
    limit: alert.kind === 'LATENESS' ? duration(alert.limit) : number(alert.limit),
  };
  return t({
    LATENESS: 'oldest due message waits for {n} (limit {limit})', DUE: '{n} messages are due (limit {limit})',
    DEAD: '{n} dead letters (limit {limit})', WAITING: '{n} messages wait (limit {limit})',
    NO_CONSUMER: 'no node listens', FAILING: '{n} % of the runs fail (limit {limit} %)',
  }[alert.kind] || alert.kind, values);
}

function redis(state) {
  if (!state) {
    return null;
  }
  return h('span.redis', null, [state.name, state.version].filter(Boolean).join(' '), ' ',
    (state.warnings || []).length
      ? state.warnings.map(text => chip('warn', visible(text)))
      : state.checked && chip('good', 'Checked', t('Eviction policy, persistence and version are as they should be.')));
}

export function paused(row) {
  if (!row.pausedShards) {
    return null;
  }
  const who = row.paused?.by ? t('by {who} at {time}', {who: visible(row.paused.by), time: clock(row.paused.at)}) : null;
  return chip('warn', row.shards && row.pausedShards < row.shards
    ? t('Paused: {n} of {m} shards', {n: row.pausedShards, m: row.shards}) : t('Paused'), who);
}

/** Pauses or resumes a topic on all nodes. */
export const pauseDialog = (topic, stop) => ask({
  title: [t(stop ? 'Pause' : 'Resume'), ' ', raw(topic)], danger: stop,
  text: stop
    ? 'No node claims messages of this topic until somebody resumes it. Runs that have begun go on to their end. Sends are still accepted.'
    : 'All nodes claim messages of this topic again. Messages that became due meanwhile run at once.',
  submit: stop ? 'Pause on all nodes' : 'Resume on all nodes', path: stop ? 'pause' : 'resume', body: () => ({topic}),
  said: t(stop ? '{topic} is paused.' : '{topic} runs again.', {topic: visible(topic)}),
});

/** The button that pauses or resumes a topic. */
export const pauseButton = (row, css) => can(row.pausedShards ? 'resume' : 'pause') && button(
  row.pausedShards ? 'Resume…' : 'Pause…', () => pauseDialog(row.topic, !row.pausedShards),
  {class: css, 'aria-label': t(row.pausedShards ? 'Resume {topic}…' : 'Pause {topic}…', {topic: visible(row.topic)})});
