// One topic: its lists of messages, groups of errors, settings.

import {h} from './dom.js';
import {address, can, get, has} from './api.js';
import {ago, duration, fullTime, now, number, t, visible} from './text.js';
import {
  acts, after, button, chip, col, countdown, danger, empty, facts, link, num, pager, page, preview, raw, select, Selection, spark,
  table, time,
} from './parts.js';
import {alertText, pauseButton, paused} from './queues.js';
import {cancelDialog, purgeAll, purgeDialog, redriveAll, rescheduleDialog, sendBackDialog} from './actions.js';
import {searchDialog} from './jobs.js';

const TABS = [['waiting', 'Waiting', 'waiting'], ['flight', 'In flight', 'inFlight'], ['dead', 'Dead', 'dead'],
  ['groups', 'Groups'], ['settings', 'Settings']];

export function topic(params, before) {
  const name = params.get('topic') || '';
  const tab = params.get('tab') || (has('waiting') ? 'waiting' : 'dead');
  const group = params.get('group');
  const same = before && before.topic === name ? before : null;
  const state = {
    topic: name, tab, group, order: params.get('order') || (tab === 'dead' ? 'newest' : 'oldest'), stack: [],
    selection: new Selection(), summary: same ? same.summary() : null, list: null, groups: null,
    range: same ? same.range() : '1h',
  };
  return {
    topic: name,
    title: () => name,
    ready: () => state.summary,
    summary: () => state.summary,
    range: () => state.range,
    // A list does not move while messages of it are selected.
    held: () => state.selection.size > 0,
    async load() {
      const wanted = [get('topic', {topic: name, range: has('series') ? state.range : null})];
      if (['waiting', 'flight', 'dead'].includes(tab)) {
        wanted.push(get('messages', {topic: name, place: tab, order: state.order, after: after(state), size: 50, group}));
      } else if (tab === 'groups' && (!state.groups || state.regroup || now() - state.groups.now > 30000)) {
        // Grouping reads all dead letters, so it is not repeated with each refresh.
        state.regroup = false;
        wanted.push(get('groups', {topic: name}));
      }
      const [summary, list] = await Promise.all(wanted);
      state.summary = summary;
      if (tab === 'groups') {
        state.groups = list || state.groups;
      } else {
        state.list = list;
      }
    },
    view: () => view(state),
  };
}

function view(state) {
  const s = state.summary;
  if (!s) {
    return empty('Loading…');
  }
  return [
    h('div.title', null,
      h('nav.crumbs', {'aria-label': t('Path')}, h('a', {href: '#/queues'}, t('Queues')), ' › '),
      h('h1', null, raw(state.topic)), paused(s),
      h('span.grow'),
      pauseButton({...s, topic: state.topic})),
    s.alerts?.length ? h('ul.alerts', {'aria-label': t('Alerts')}, s.alerts.map(alert =>
      h('li', {key: alert.kind}, h('span', {'aria-hidden': 'true'}, '▲ '), alertText(alert)))) : null,
    (s.refused || []).map(text => h('p.note.bad', null, visible(text))),
    charts(state, s),
    h('nav.tabs', {'aria-label': t('Lists of the topic')}, TABS.filter(([name]) => has(name)).map(([name, text, count]) =>
      h('a', {href: link('topic', {topic: state.topic, tab: name}), 'aria-current': state.tab === name ? 'page' : null},
        t(name === 'settings' && !s.settings ? 'Shards' : text), count && h('span.count', null, number(s[count]))))),
    state.tab === 'settings' ? settingsView(s)
      : state.tab === 'groups' ? groupsView(state)
        : state.list ? listView(state) : empty('Loading…'),
  ];
}

function charts(state, s) {
  const rates = s.series || {};
  const chart = (label, values, css) => h('figure', null,
    h('figcaption', null, label, ' ', h('strong', null, number(values.length ? values[values.length - 1] : null))),
    spark(values, label, css));
  return h('div.charts', null,
    facts([
      ['Waiting', number(s.waiting)],
      ['Due', number(s.due)],
      ['Oldest due', s.oldestDue ? h('span', {title: fullTime(s.oldestDue)}, duration(Math.max(0, now() - s.oldestDue))) : '–'],
      ['In flight', s.places ? [number(s.inFlight), h('span.dim', null, ' / ' + number(s.places))] : number(s.inFlight)],
      ['Dead', number(s.dead)],
      has('nodes') ? ['Nodes', number(s.consumers)] : null,
      s.drain ? ['Done with the backlog', t('in {d}', {d: duration(s.drain)})] : null,
    ]),
    has('series') && rates.waiting && [
      chart(t('Waiting'), rates.waiting), chart(t('Done'), rates.done, 'good'), chart(t('Failed'), rates.failed, 'bad'),
      h('div.range', {role: 'group', 'aria-label': t('Range of the charts')}, ['1h', '24h'].map(range =>
        button(range === '1h' ? t('60 min') : t('24 h'), () => {
          state.range = range;
          page.load();
        }, {'aria-pressed': String(state.range === range)}))),
    ]);
}

const key = row => row.id;

function listView(state) {
  const {list, selection, tab} = state;
  const rows = list.rows;
  const acts = {dead: ['redrive', 'purge'], waiting: ['cancel', 'reschedule'], flight: []}[tab].some(can);
  const columns = [
    acts && selection.column(rows, key, row => row.id),
    col('Id', row => h('a', {href: link('message', {topic: state.topic, id: row.id}), class: 'mono'}, raw(row.id)), 'name'),
    ...COLUMNS[tab](),
    col('Body', preview, 'wide'),
  ];
  return [
    h('div.bar', null,
      state.group ? groupTitle(state) : h('span.dim', null, t('{n} in all', {n: number(list.total)})),
      list.refused?.map(text => chip('bad', visible(text))),
      tab !== 'flight' && h('label.inline', null, t('Order'), select(state, 'order',
      tab === 'dead' ? {oldest: 'Oldest first', newest: 'Newest first'} : {oldest: 'Soonest first', newest: 'Latest first'}, () => {
        state.stack = [];
        selection.clear();
        page.load();
      })),
      selection.size > 0 && h('span.dim', null, t('The list stands still while messages are selected.')),
      h('span.grow'),
      has('search') && button('Search…', () => searchDialog(state.topic, tab)),
      tab === 'dead' && has('export') && h('a.button', {
        href: address('export', {topic: state.topic, place: 'dead', group: state.group}), download: '',
      }, t('Export as NDJSON'))),
    rows.length
      ? table('Messages', columns, rows, {key, first: acts ? 1 : 0, css: row => (selection.rows.has(row.id) ? 'selected' : null)})
      : empty(t({waiting: 'No message waits.', flight: 'No message is in flight.', dead: 'No dead letters.'}[tab])),
    (state.stack.length || list.next) ? pager(state, list.next) : null,
    rows.length ? actions(state) : null,
  ];
}

const COLUMNS = {
  waiting: () => [
    col('Due', row => [time(row.due), ' ', h('span.dim', null, countdown(row.due))]),
    col('Failures', attempts, 'num'),
  ],
  flight: () => [
    col('Node', 'owner'),
    col('Running for', row => (row.since ? h('span', {title: fullTime(row.since)}, duration(now() - row.since)) : '–'), 'num'),
    col('Lease ends', row => countdown(row.at), 'num'),
    col('Failures', attempts, 'num'),
  ],
  dead: () => [
    col('Died', row => time(row.at)),
    col('Failures', attempts, 'num'),
    col('Last error', row => (row.error ? raw(row.error.line, 'cut') : '–'), 'wide'),
  ],
};

function attempts(row) {
  return [number(row.failures), row.lost ? h('span.dim', null, ' + ' + t('{n} lost', {n: number(row.lost)})) : null];
}

function groupTitle(state) {
  const one = state.list.group;
  return h('span.group', null, h('a', {href: link('topic', {topic: state.topic, tab: 'groups'})}, t('All groups')), ' › ',
    h('strong', null, one ? raw(one.error) : t('Group')), one?.frame && h('span.dim', null, ' ', raw(one.frame)),
    h('span.dim', null, one?.count && ' · ' + t('{n} in all', {n: number(one.count)})));
}

function actions(state) {
  const {selection, tab, topic: name} = state;
  const chosen = selection.list();
  const done = () => selection.clear();
  const none = {disabled: !chosen.length};
  const total = state.group ? state.list.group?.count : state.list.total;
  const all = {topic: name, group: state.group, error: state.list.group?.error, total};
  const list = tab === 'dead' ? [
    can('redrive') && button('Send back…', () => sendBackDialog(name, chosen, done), {...none, class: chosen.length ? 'strong' : null}),
    can('purge') && danger('Purge…', () => purgeDialog(name, chosen, done), none),
    has('jobs') && can('redrive') && total > 0 && button(t('Send back all {n}…', {n: number(total)}), () => redriveAll(all)),
    has('jobs') && can('purge') && total > 0 && danger(t('Purge all {n}…', {n: number(total)}), () => purgeAll(all)),
  ] : tab === 'waiting' ? [
    can('reschedule') && button('Run now', () => rescheduleDialog(name, chosen, done, true), none),
    can('reschedule') && button('Reschedule…', () => rescheduleDialog(name, chosen, done), none),
    can('cancel') && danger('Cancel…', () => cancelDialog(name, chosen, done), none),
  ] : [];
  return list.some(Boolean) && h('div.actions', {role: 'group', 'aria-label': t('Actions')},
    h('span', null, t('{n} selected', {n: number(chosen.length)})),
    chosen.length ? button('Clear', () => {
      selection.clear();
      page.paint();
      page.load();
    }, {class: 'plain'}) : null,
    list);
}

function groupsView(state) {
  const one = state.groups;
  return !one ? empty('Loading…') : [
    h('div.bar', null,
      h('span.dim', null, t(one.scanned < one.total ? 'The oldest {n} of {m} dead letters' : 'All {m} dead letters',
        {n: number(one.scanned), m: number(one.total)}), ' · ', ago(one.now)),
      button('Group again', () => {
        state.regroup = true;
        page.load();
      })),
    (one.refused || []).map(text => h('p.note.bad', null, visible(text))),
    one.groups.length ? table('Groups of errors', [
      col('Error', g => h('a', {href: link('topic', {topic: state.topic, tab: 'dead', group: g.group})}, raw(g.error)), 'wide'),
      num('Count', 'count'),
      col('Where', g => (g.frame ? raw(g.frame, 'mono') : '–')),
      col('First died', g => time(g.firstAt)),
      col('Last died', g => time(g.lastAt)),
      has('jobs') && (can('redrive') || can('purge')) && acts(g => [
        can('redrive') && button('Send back…', () => redriveAll({...g, topic: state.topic, total: g.count}), {class: 'plain'}), ' ',
        can('purge') && danger('Purge…', () => purgeAll({...g, topic: state.topic, total: g.count}), {class: 'plain danger'}),
      ]),
    ], one.groups, {key: g => g.group}) : empty('No dead letters.'),
  ];
}

function settingsView(s) {
  return h('div.columns', null,
    s.settings && h('section', null, h('h2', null, t('Settings in force')), table('Settings in force', [
      col('Setting', row => h('span.mono', null, row.name)),
      col('Value', row => raw(row.value, 'mono')),
      col('Source', row => (row.source ? raw(row.source) : '–')),
    ], s.settings, {key: row => row.name})),
    h('section', null, h('h2', null, t('Shards')), table('Shards', [
      col('Shard', row => [row.shard, ' ', row.paused && chip('warn', 'Paused')], 'num'),
      num('Waiting', 'waiting'),
      num('Due', 'due'),
      num('In flight', 'inFlight'),
      num('Dead', 'dead'),
      num('Balance', '', row => (row.imbalance ? h('span.hot', null, number(row.imbalance)) : number(row.imbalance)),
        {title: t('Messages sent, less those ended and those present. 0 unless keys were changed by hand.')}),
    ], s.shardList || [], {key: row => String(row.shard)})),
    s.counters && h('section', null, h('h2', null, t('Since the topic exists')), facts([
      ['Sent', number(s.counters.sent)], ['Done', number(s.counters.acknowledged)],
      ['Failed runs', number(s.counters.failed)], ['Expired leases', number(s.counters.lost)],
      ['Died', number(s.counters.dead)], ['Sent back', number(s.counters.redriven)],
      ['Cancelled', number(s.counters.cancelled)], ['Purged', number(s.counters.purged)],
    ])));
}
