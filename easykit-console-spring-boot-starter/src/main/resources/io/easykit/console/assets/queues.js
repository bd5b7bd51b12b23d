// All topics, and one topic.

import {
  ACTIONS, ago, ask, bar, button, bytes, can, chip, clock, countdown, dim, download, duration, empty, facts, field, get, h, has, head, hot, input, isRecent, link, loading,
  mono, note, now, number, page, pageOf, pager, raw, section, select, since, spark, table, time, t, visible,
} from './lib.js';
import {bulkActions, DIED, groupTable, KEY, messageActions, KINDS, QUEUES, searchDialog, startJob, told} from './messages.js';

const DUE = t`Due|到期`;
const OLDEST = t`Oldest due|最早到期`;
const DONE = t`Done/s|完成/秒`;
const FAILED = t`Failed/s|失败/秒`;
export const NODES = t`Nodes|节点`;
const TOPICS = t`Topics|主题`;
const PAUSED = t`Paused|已暂停`;
const PARKED = t`Parked|键内排队`;
const PARKED_TITLE = t`Due messages behind another one of their ordering key|已到期、排在同一顺序键其他消息之后`;
const FREE = t`Free|放行`;
const STOPPED_KEYS = t`Stopped keys|阻塞的键`;
const WAITING_60 = t`Waiting, 60 min|等待,60 分`;

const LIMITED = t`Limited|限流中`;
const LIMITS = t`Limits|限额`;
const GROW = t`Add shards|增加分片`;

const MOST_SHARDS = 1024;

const sort = {};
const doneRate = topic => topic.rates?.acknowledged;
const failedRate = topic => topic.rates?.failed;
let filter = '';

// A filter that is not shown does not apply.
const hasFilter = topics => topics.length > 8;

export const queues = pageOf(QUEUES[0], () => get('topics'), ({redis, ...data}) => [
  h('h1.hidden', QUEUES[0]),
  alerts(data.topics),
  h('div.bar',
    hasFilter(data.topics) && h('input', {
      type: 'search', value: filter, placeholder: t`Filter topics|筛选主题`, 'aria-label': t`Filter topics|筛选主题`,
      oninput: e => {
        filter = e.target.value;
        page.paint();
      },
    }),
    dim(TOPICS, ': ', number(data.topics.length), ' · ', NODES, ': ', number(data.nodeCount), redis && ' · Redis ' + visible(redis.server))),
  redis?.warnings.map(text => note('warn', visible(text))),
  data.topics.length ? table(TOPICS, [
    [t`Topic|主题`, row => [h('a', {href: link('topic', {topic: row.topic})}, raw(row.topic)), ' ', paused(row),
      row.refused?.length > 0 && chip('bad', t`Refused|被拒绝`, row.refused.join('\n')), row.stoppedKeys > 0
        && h('a.chip.bad', {href: link('topic', {topic: row.topic, tab: 'keys'})}, STOPPED_KEYS, ' ', number(row.stoppedKeys)), ' ', limitChip(row.limits)], 'name', 'topic'],
    [KINDS.waiting, row => [number(row.waiting), row.parked > 0 && h('span.dim', {title: PARKED_TITLE}, ' · ', PARKED, ' ', number(row.parked))], 'num', 'waiting'],
    [DUE, 'due', 'num'],
    [OLDEST, row => hot(raised(row, 'lateness'), since(row.oldestDue)), 'num', row => row.oldestDue && now() - row.oldestDue],
    [KINDS['in-flight'], row => [number(row.inFlight), dim(' / ', number(row.places))], 'num', 'inFlight'],
    [KINDS.dead, row => (row.dead ? h('a', {href: link('topic', {topic: row.topic, tab: 'dead'}), class: raised(row, 'dead') && 'hot'}, number(row.dead))
      : number(row.dead)), 'num', 'dead'],
    [DONE, row => number(doneRate(row), 1), 'num', doneRate],
    [FAILED, row => number(failedRate(row), 1), 'num', failedRate],
    [NODES, ({listeningNodes: n, due}) => hot(n === 0 && due, number(n)), 'num', 'listeningNodes'],
    [WAITING_60, row => row.series && spark(row.series.waiting, WAITING_60), '', ''],
    can('pause') && [ACTIONS, row => pauseTopic(row, 'plain'), 'act', ''],
  ], data.topics.filter(row => row.topic.toLowerCase().includes(hasFilter(data.topics) ? filter.toLowerCase() : '')), {key: row => row.topic, sort, css: row => row.alerts?.length > 0 && 'marked'})
    : empty(t`No topics yet: a listener or a message declares one.|尚无主题:监听器或消息会声明主题。`),
]);

const raised = (row, kind) => row.alerts?.some(alert => alert.kind === kind);

function alerts(topics, inside) {
  const list = topics.flatMap(row => (row.alerts || []).map(alert => ({...alert, topic: row.topic})));
  return list.length > 0 && h('ul.alerts', {'aria-label': t`Alerts|告警`}, list.map(({topic, kind, text}) =>
    h('li', '▲ ', !inside && h('a', {href: link('topic', {topic, tab: kind === 'dead' ? 'groups' : null})}, raw(topic)), ' ', text)));
}

const pace = (rate, [size, unit] = rate >= 1 ? [1, '/s'] : rate * 60 >= 1 ? [60, '/min'] : [3600, '/h']) => number(Math.round(rate * size * 10) / 10) + unit;

const limitText = ({perSecond, burst, maxInFlight}) => [
  perSecond && t`${pace(perSecond)}, burst ${number(burst)}|${pace(perSecond)},突发 ${number(burst)}`,
  maxInFlight && t`${number(maxInFlight)} in flight|最多 ${number(maxInFlight)} 条执行中`,
].filter(Boolean).join(' · ');

const limitChip = limits => limits && chip(limits.limited ? 'warn' : 'idle', limits.limited ? LIMITED : LIMITS, limitText(limits));

const limitFacts = ({limits, inFlight}) => (limits ? [
  [LIMITS, limitText(limits)],
  limits.perSecond && [t`Permits left|剩余许可`, [number(limits.permits), dim(' / ', number(limits.burst))]],
  limits.maxInFlight && [t`Places in use|已占名额`, [number(inFlight), dim(' / ', number(limits.maxInFlight))]],
  [t`Held by limits|因限额等待`, hot(limits.held, number(limits.held))],
] : []);

const paused = ({pausedShards, shards, pause: by}) => pausedShards > 0 && chip('warn', [PAUSED, pausedShards < shards && ` ${pausedShards} / ${shards}`],
  by && `${visible(by.by)} ${by.at ? clock(by.at) : ''}`);

/** Pauses or resumes a topic, or a listener. */
export function pauseButton(name, stop, css, body, text) {
  const verb = stop ? t`Pause|暂停` : t`Resume|恢复`;
  const title = `${verb} ${visible(name)}`;
  const path = stop ? 'pause' : 'resume';
  return can(path) && button(verb + '…', () => ask({
    title, danger: stop, more: () => text, submit: verb, path, body: () => body, said: title + ' ✓',
  }), css, {'aria-label': title + '…'});
}

// Both if only some shards are paused.
const pauseTopic = ({topic, pausedShards, shards}, css) => [
  pausedShards !== shards && pauseButton(topic, true, css, {topic},
    t`On all nodes: messages wait until the topic is resumed. Sends go on.|在所有节点:恢复之前消息一直等待。发送不受影响。`), ' ',
  pausedShards > 0 && pauseButton(topic, false, css, {topic}, t`On all nodes. Messages that became due meanwhile run at once.|在所有节点。期间到期的消息立即执行。`)];

// The topic that was shown last: another list of it keeps its numbers.
let kept = {};

export function topic(params) {
  const name = params.get('topic') || '';
  const tab = params.get('tab') || 'waiting';
  const group = params.get('group');
  kept = kept.topic === name ? kept : {topic: name};
  const own = kept;
  const state = {name, tab, group, order: tab === 'dead' ? 'newest' : 'oldest', stack: [], chosen: new Map()};
  return {
    title: name,
    // A list does not move while messages of it are selected.
    held: () => state.chosen.size > 0,
    load: async isRefresh => {
      // These read many messages, so they are not repeated with each refresh.
      const isKept = reply => isRefresh && isRecent(reply);
      // One after the other: a node makes two such reads at a time.
      if ((group || tab === 'groups') && !isKept(own.groups)) {
        own.groups = await get('groups', {topic: name});
      }
      const [summary, list, keys] = await Promise.all([
        get('topic', {topic: name, range: '1h'}),
        KINDS[tab] && !(group && isKept(state.list)) && get('messages', {topic: name, state: tab, order: state.order, after: state.stack.at(-1), size: 50, group}),
        tab === 'keys' && !isKept(own.keys) && get('stopped-keys', {topic: name}),
      ]);
      Object.assign(own, {summary}, keys && {keys});
      // With many shards a page is of one, and so is its total.
      if (list?.shard >= 0) {
        list.total = summary[tab] ?? summary.inFlight;
      }
      state.list = list || state.list;
    },
    view: () => (kept.summary ? view(state, kept.summary) : loading()),
  };
}

const view = (state, s) => [
  head([QUEUES], raw(state.name), paused(s), s.limits?.limited && limitChip(s.limits), h('span.grow'), pauseTopic(s)),
  alerts([s], true),
  s.refused?.map(text => note('bad', visible(text))),
  charts(s),
  h('nav.tabs', {'aria-label': visible(state.name)}, [
    ['waiting', KINDS.waiting, s.waiting], ['in-flight', KINDS['in-flight'], s.inFlight], ['dead', KINDS.dead, s.dead], ['groups', t`Errors|错误分组`],
    (s.stoppedKeys > 0 || state.tab === 'keys') && ['keys', STOPPED_KEYS, s.stoppedKeys], ['settings', t`Settings|设置`],
  ].filter(Boolean).map(([name, text, count]) => h('a', {href: link('topic', {topic: state.name, tab: name}), 'aria-current': state.tab === name && 'page'},
    text, ' ', count !== undefined && dim(number(count))))),
  state.tab === 'settings' ? settingsView(s)
    : state.tab === 'keys' ? (kept.keys ? keysView(state.name, kept.keys) : loading())
      : state.tab === 'groups' ? (kept.groups ? groupsView(state.name, kept.groups) : loading())
        : state.list ? listView(state) : loading(),
];

const charts = ({series, ...s}) => h('div.charts', facts([
  [DUE, number(s.due)], s.parked > 0 && [PARKED, h('span', {title: PARKED_TITLE}, number(s.parked))], [OLDEST, since(s.oldestDue)], [KINDS['in-flight'], [number(s.inFlight), dim(' / ', number(s.places))]],
  [NODES, hot(s.listeningNodes === 0, number(s.listeningNodes))], [DONE, number(doneRate(s), 1)], [FAILED, hot(failedRate(s) >= 0.05, number(failedRate(s), 1))],
  ...limitFacts(s),
  s.drainSeconds && [t`Backlog done in|积压清空还需`, duration(1000 * s.drainSeconds)],
  ...(series ? [[WAITING_60, series.waiting], [DONE, series.acknowledged, 'good'], [FAILED, series.failed, 'bad']].map(([label, values, css]) =>
    [label, spark(values, label, css)]) : []),
]));

const FAILURES = [t`Failures|失败次数`, ({failures, leaseExpirations: n}) => [number(failures), n > 0 && dim(t` + ${n} lost| + ${n} 次租约过期`)], 'num'];

function listView(state) {
  const {list: {messages: rows, next, total, refused, ofGroup}, chosen, tab, name} = state;
  const ticks = can({dead: 'redrive', waiting: 'cancel'}[tab]);
  return [
    h('div.bar',
      state.group ? h('span', h('a', {href: link('topic', {topic: name, tab: 'groups'})}, t`All errors|全部错误`), ' › ', h('strong', raw(ofGroup?.title)), ' ',
        dim(raw(ofGroup?.frame))) : dim(t`${number(total)} in all|共 ${number(total)} 条`),
      refused?.map(text => chip('bad', visible(text))),
      tab !== 'in-flight' && h('label.inline', t`Order|顺序`, ' ', select(state, 'order',
        [['oldest', t`Oldest first|最早在前`], ['newest', t`Newest first|最新在前`]], () => {
          state.stack = [];
          chosen.clear();
          page.load();
        })),
      chosen.size > 0 && dim(t`The list stands still while messages are selected.|有选中消息时列表不刷新。`),
      h('span.grow'),
      tab === 'dead' && has('search') && button(t`Search…|搜索…`, () => searchDialog(name)),
      has('export') && rows.length > 0 && download(t`Export|导出`, 'export', {topic: name, state: tab, group: state.group})),
    rows.length ? table(t`Messages|消息`, [
      ticks && tickColumn(chosen, rows),
      ['ID', row => h('a.mono', {href: link('message', {topic: name, id: row.id})}, raw(row.id)), 'name'],
      ...{
        waiting: [[DUE, row => [time(row.due), ' ', dim(countdown(row.due))]], FAILURES],
        'in-flight': [
          [t`Node|节点`, 'owner'], [t`Running for|已执行`, row => since(row.claimedAt), 'num'], [t`Lease ends|租约到期`, row => countdown(row.leaseUntil), 'num'], FAILURES],
        dead: [DIED, FAILURES, [t`Last error|最近错误`, row => row.lastError && raw(row.lastError.text.replace(/^([a-z]\w*\.)+/, '')), 'wide']],
      }[tab],
      [t`Body|消息体`, row => (row.preview == null ? dim(bytes(row.size), row.hidden && t`, hidden|,已隐藏`) : mono(row.preview)), 'wide'],
    ], rows, {key: row => row.id, first: ticks ? 1 : 0, css: row => chosen.has(row.id) && 'selected'})
      : empty(next ? t`None on this page.|本页没有。` : t`No messages.|没有消息。`),
    pager(state, next),
    rows.length > 0 && selectionBar(state),
  ];
}

function tickColumn(chosen, rows) {
  const count = rows.filter(row => chosen.has(row.id)).length;
  const box = (label, some, checked, indeterminate) => h('input', {
    type: 'checkbox', checked, indeterminate, 'aria-label': label, onchange: e => {
      some.forEach(row => (e.target.checked ? chosen.set(row.id, row) : chosen.delete(row.id)));
      page.paint();
    },
  });
  return [box(t`Select all of this page|选择本页全部`, rows, count === rows.length, count > 0 && count < rows.length),
    row => box(t`Select ${visible(row.id)}|选择 ${visible(row.id)}`, [row], chosen.has(row.id))];
}

function selectionBar({chosen, tab, name, group, list}) {
  const rows = [...chosen.values()];
  const known = kept.groups?.groups.find(one => one.group === group);
  const buttons = [messageActions(tab, name, rows, () => chosen.clear()),
    tab === 'dead' && bulkActions({topic: name, group, title: list.ofGroup?.title, diedUntil: list.now, total: group ? !isPartial(kept.groups) && known?.count : list.total})];
  return buttons.flat(2).some(Boolean) && bar(dim(t`${rows.length} selected|已选 ${rows.length} 条`), buttons);
}

const isPartial = groups => groups?.scanned < groups?.total;

const groupsView = (topic, {scanned, total, now: at, refused, groups}) => [
  h('div.bar',
    dim(t`${number(scanned)} of ${number(total)} dead letters|${number(scanned)} / ${number(total)} 条死信`, ' · ', ago(at)),
    button(t`Group again|重新分组`, () => page.load()),
    scanned < total && can('jobs') && button(t`Group all|全部分组`, () => startJob({topic, action: 'group', select: {all: true}}))),
  refused?.map(text => note('bad', visible(text))),
  groupTable(topic, groups, at, scanned < total),
];

const keysView = (topic, {keys}) => [
  h('p.dim', t`A dead letter stops its ordering key: the messages behind it wait until it is done, purged, or its key is freed.|死信会阻塞其顺序键:后面的消息一直等待,直到它完成、被清除,或该键被放行。`),
  keys.length ? table(STOPPED_KEYS, [
    [KEY, row => mono(row.key), 'name'],
    [KINDS.dead, row => h('a.mono', {href: link('message', {topic, id: row.id})}, raw(row.id)), 'name'],
    [DIED[0], row => time(row.diedAt)],
    [PARKED, 'parked', 'num', '', PARKED_TITLE],
    can('free-key') && [ACTIONS, row => button(FREE + '…', () => ask({
      title: t`Free the key ${visible(row.key)}|放行键 ${visible(row.key)}`, rows: [row], submit: FREE, danger: true, path: 'free-key',
      more: () => t`Its next message runs, although this one has not. The dead letter stays, and takes its turn later if it is sent back.|该键的下一条消息将执行,即使此消息尚未完成。死信保留,重新投递时排在其后。`,
      body: () => ({topic, id: row.id}), said: told(FREE),
    }), 'plain danger', {'aria-label': `${FREE} ${visible(row.key)}…`}), 'act'],
  ], keys, {key: row => row.id}) : empty(t`No key is stopped.|没有阻塞的键。`),
];

const growButton = ({topic, shards, limits}) => can('grow') && shards < MOST_SHARDS && button(GROW + '…', () => ask({
  title: `${GROW}: ${visible(topic)}`, danger: true, typed: topic, submit: GROW, path: 'grow', state: {shards: 2 * shards},
  more: state => [
    t`For good: shards cannot be taken away. The new ones get messages in two minutes. Own ids and ordering keys stay in the first shards.|不可撤销:分片只能增加。两分钟后新分片开始接收消息。自定义 ID 和顺序键留在最初的分片中。`,
    limits && t`Each shard has a share of the limits: ${limitText(limits)}. More shards have smaller ones. The listeners start again.|限额按分片平分:${limitText(limits)}。分片越多,每份越小。监听器会重启。`,
    field(t`Number of shards, now ${shards}|分片数,现为 ${shards}`, input(state, 'shards', {type: 'number', min: shards + 1, max: MOST_SHARDS, required: true})),
  ],
  body: state => ({topic, shards: Number(state.shards)}), said: reply => t`Shards: ${reply.shardsBefore} → ${reply.shards}|分片:${reply.shardsBefore} → ${reply.shards}`,
}));

const settingsView = s => [
  s.settings && section(t`Settings of this node|本节点的设置`, settingsTable(s.settings)),
  section([t`Shards|分片`, h('span.grow'), growButton(s)], table(t`Shards|分片`, [
    [t`Shard|分片`, row => [row.shard, ' ', row.pause && chip('warn', PAUSED)]],
    [KINDS.waiting, 'waiting', 'num'], [DUE, 'due', 'num'], s.parked > 0 && [PARKED, 'parked', 'num', '', PARKED_TITLE], [KINDS['in-flight'], 'inFlight', 'num'], [KINDS.dead, 'dead', 'num'],
    [t`Balance|差额`, row => hot(row.imbalance, number(row.imbalance)), 'num'],
  ], s.shardList || [], {key: row => row.shard})),
];

export const settingsTable = rows => table(t`Settings|设置`, [
  rows[0]?.listener && [t`Listener|监听器`, row => mono(row.listener)],
  [t`Setting|设置项`, row => mono(row.name)], [t`Value|值`, row => mono(row.value)], [t`Source|来源`, 'source'],
], rows, {key: row => row.listener + row.name});
