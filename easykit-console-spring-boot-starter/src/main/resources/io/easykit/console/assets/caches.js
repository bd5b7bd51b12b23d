// Caches, nodes, audit.

import {
  ACTIONS, ago, ask, bar, button, bytes, can, chip, dim, duration, empty, facts, failure, field, get, h, has, head, hot, isRecent, link, mono, note, number,
  openDialog, pageOf, pager, raw, section, select, since, t, table, time, visible,
} from './lib.js';
import {NODES, pauseButton, settingsTable} from './queues.js';

const CACHES = t`Caches|缓存`;
const STATE = t`State|状态`;
const NO_CACHES = t`No cached methods.|没有使用缓存的方法。`;
const CLUSTER_STATES = {available: ['good', t`Available|可用`], unavailable: ['bad', t`Unavailable|不可用`]};

/** A row for each declaration of a cache, and one for a cache without any. */
const declared = list => list.flatMap(one => (one.declarations.length ? one.declarations : [{}]).map(declaration => ({...one, ...declaration})));

export const caches = pageOf(CACHES, () => get('caches'), data => [
  head(null, CACHES, dim(t`of node ${visible(data.node)}|节点 ${visible(data.node)}`)),
  table(t`Redis clusters|Redis 集群`, [
    [t`Redis cluster|Redis 集群`, 'cluster', 'name'],
    [STATE, one => [chip(...CLUSTER_STATES[one.state]), ' ', one.forced && chip('warn', t`Forced|人工指定`)]],
    [t`Masters|主节点`, one => Object.entries(one.masters || {}).map(([name, state]) => h('div', raw(name), ' ', chip(...CLUSTER_STATES[state])))],
    [t`Undelivered|待送达`, one => hot(one.undelivered, number(one.undelivered)), 'num', '', t`Keys whose invalidation waits|等待失效的键数`],
    [t`Outbox|发件箱`, one => (one.outbox ? [number(one.outbox.waiting), one.outbox.oldestSeconds > 0 && dim(' · ', duration(1000 * one.outbox.oldestSeconds))] : '–'), 'num'],
    can('force') && [ACTIONS, one => button(t`Force…|指定状态…`, () => forceDialog(one, data.node), 'plain'), 'act'],
  ], data.clusters, {key: one => one.cluster, css: one => one.state !== 'available' && 'marked'}),
  data.caches && section(CACHES, data.caches.length ? table(CACHES, [
    [t`Prefix|前缀`, one => h('a.mono', {href: link('explain', {cluster: one.cluster, prefix: one.prefix})}, raw(one.prefix)), 'name'],
    data.clusters.length > 1 && [t`Cluster|集群`, 'cluster'],
    ['AP / CP', one => one.consistency.toUpperCase()],
    [t`Method|方法`, one => (one.source ? h('span.mono', {title: visible(one.source)}, raw(one.source.replace(/@Cacheable |([a-z]\w*\.)+(?=[A-Z])/g, '')))
      : dim(t`only invalidated here|此处仅失效`))],
    [t`Hits|命中率`, ({reads: {hit, near, stale, local, expired, miss}}) => (hit + near + stale + local + expired + miss
      ? number(100 - 100 * miss / (hit + near + stale + local + expired + miss), 1) + ' %' : '–'), 'num'],
    ...[['Redis', 'hit'], [t`Near|近端`, 'near'], [t`Stale|旧值`, 'stale'], [t`Local|本地`, 'local'], [t`Expired|过期值`, 'expired'], [t`Misses|未命中`, 'miss']]
      .filter(([, kind]) => /hit|miss/.test(kind) || data.caches.some(one => one.reads[kind])).map(([text, kind]) => [text, one => number(one.reads[kind]), 'num']),
    [t`Failed loads|加载失败`, one => hot(one.loads.failed, number(one.loads.failed)), 'num'],
    [t`Worst staleness|最大陈旧时间`, one => h('span', {title: one.staleness}, duration(1000 * one.worstStalenessSeconds)), 'num', ''],
    [ACTIONS, one => [
      button(t`Settings|设置`, () => openDialog({title: visible(one.prefix), wide: true, view: () => settingsTable(one.settings || [])}), 'plain'), ' ',
      can('drop') && button(t`Drop…|整体失效…`, () => dropDialog(one), 'plain danger')], 'act'],
  ], declared(data.caches), {key: one => `${one.cluster} ${one.prefix} ${one.source}`}) : empty(NO_CACHES)),
]);

const confirmed = text => ({acknowledged}) => (acknowledged ? text
  : t`Redis has not confirmed it. This node delivers it when Redis answers.|Redis 未确认:Redis 恢复后由本节点送达。`);

// Behind a load balancer the change may reach another node, which refuses it.
const forceDialog = ({cluster, forced}, node) => ask({
  title: t`Force the state of ${visible(cluster)}|指定 ${visible(cluster)} 的状态`, danger: true, state: {state: forced ? 'auto' : 'unavailable'},
  more: state => field(STATE, select(state, 'state', [
    ['auto', t`By the circuit breaker|由熔断器判断`], ['unavailable', t`Unavailable: Redis is not asked|不可用:不访问 Redis`],
    ['available', t`Available: old values are possible while invalidations wait|可用:失效等待期间可能读到旧值`]])),
  submit: t`Force|指定状态`, path: 'force', body: state => ({cluster, node, state: state.state}), said: t`The state is set.|状态已设置。`,
});

const dropDialog = ({cluster, prefix}) => ask({
  title: t`Drop all entries of ${visible(prefix)}|使 ${visible(prefix)} 的全部条目失效`, typed: prefix, danger: true,
  more: () => t`They are loaded again: expect load on the database.|条目会重新加载,数据库压力上升。`,
  submit: t`Drop|整体失效`, path: 'drop', body: () => ({cluster, prefix}), said: confirmed(t`All entries are invalid.|全部条目已失效。`),
});

const EXPLAIN = t`Explain a key|解释键`;

export const explain = pageOf(EXPLAIN, async params => {
  const part = params.getAll('part');
  const wanted = {cluster: params.get('cluster'), prefix: params.get('prefix'), part};
  const [{caches = []}, answer] = await Promise.all([get('caches'), part.length > 0 && get('explain', wanted).catch(problem => {
    if (![400, 404].includes(problem.status)) {
      throw problem;
    }
    return {problem};
  })]);
  return {caches, answer, part};
}, ({caches, answer, part}, params) => {
  const cluster = params.get('cluster');
  const prefix = params.get('prefix');
  const name = one => `${one.cluster} ${one.prefix}`;
  const known = [...new Map(declared(caches).filter(one => one.parts?.length).map(one => [name(one), one])).values()];
  const one = prefix ? known.find(some => some.prefix === prefix && (!cluster || some.cluster === cluster)) : known[0];
  const open = ({cluster, prefix}, parts) => {
    location.hash = link('explain', {cluster, prefix, part: parts});
  };
  return [
    head([[CACHES, '#/caches']], EXPLAIN),
    known.length ? h('form.bar', {key: one && name(one), onsubmit: e => {
      e.preventDefault();
      open(one, [...e.target.querySelectorAll('input')].map(input => input.value));
    }},
    field(t`Prefix|前缀`, h('select', {value: one && name(one), onchange: e => open(known.find(some => name(some) === e.target.value))},
      !one && h('option', {value: ''}, visible(prefix)), known.map(some => h('option', {value: name(some)}, visible(name(some)))))),
    one?.parts.map((text, i) => field(mono(text), h('input', {type: i ? 'text' : 'search', required: true, value: part[i] || ''}))),
    one && h('button.strong', EXPLAIN)) : empty(NO_CACHES),
    answer?.problem ? note('bad', failure(answer.problem)) : answer && [
      h('p', chip({fresh: 'good', absent: 'idle', away: 'bad', unreadable: 'bad'}[answer.kind] || 'warn', visible(answer.stateText)), ' ', mono(answer.key)),
      h('ul', answer.sentences.map(text => h('li', visible(text)))),
      answer.fields?.length > 0 && section(t`Fields in Redis|Redis 中的字段`, facts(answer.fields.map(one => [mono(one.name), mono(one.meaning)]))),
      can('evict') && bar(button(t`Evict…|失效…`, () => ask({
        title: t`Evict the entry|使条目失效`, danger: true, more: () => [mono(answer.key), t`The next read loads it again.|下次读取时重新加载。`],
        submit: t`Evict|失效`, path: 'evict', body: () => ({cluster, key: answer.key}), said: confirmed(t`The entry is invalid.|该条目已失效。`),
      }), 'danger'))],
  ];
});

export const nodes = pageOf(NODES, () => get('nodes'), data => [
  head(null, NODES),
  data.nodes.length ? h('div.columns', data.nodes.map(node => h('div.card', {key: node.node},
    h('h2', raw(node.node), node.self && chip('idle', t`this node|当前节点`)),
    facts([
      [t`Application|应用`, raw(node.application)], [t`Host|主机`, raw(node.host)],
      [t`Version|版本`, Object.entries(node.versions || {}).map(pair => visible(pair.join(' '))).join(' · ')],
      [t`Up for|运行时间`, since(node.startedAt)], [t`Last report|最近上报`, ago(node.seenAt)],
    ]),
    node.listeners?.length ? table(visible(node.node), [
      [t`Listener|监听器`, one => mono(one.listener), 'name'],
      [t`Topic|主题`, one => h('a', {href: link('topic', {topic: one.topic})}, raw(one.topic))],
      [t`Busy|占用`, one => [number(one.busy), dim(' / ', number(one.places))], 'num'],
      [t`Longest run|最长执行`, one => (one.oldestRunSeconds ? duration(1000 * one.oldestRunSeconds) : '–'), 'num'],
      [STATE, one => (one.pause ? chip('warn', [t`Paused here|在此暂停`, one.pause.by && ' · ' + visible(one.pause.by)]) : chip('good', t`Runs|运行中`))],
      can('pause') && [ACTIONS, one => one.listener && pauseButton(one.listener, !one.pause, 'plain', {node: node.node, listener: one.listener},
        t`Only on node ${visible(node.node)}, within 10 seconds.|仅限节点 ${visible(node.node)},10 秒内生效。`), 'act'],
    ], node.listeners, {key: one => one.listener}) : dim(t`No listeners.|没有监听器。`))))
    : empty(t`No nodes.|没有节点。`),
]);

const AUDIT = t`Audit|审计`;
const OUTCOMES = {done: ['good', t`Done|完成`], refused: ['bad', t`Refused|被拒绝`], failed: ['bad', t`Failed|失败`], unknown: ['warn', t`Unknown|未知`], begun: ['idle', t`Begun|已开始`]};

const oldMessage = ({headers, body, sha256, size}) => visible([
  ...Object.entries(headers || {}).map(pair => pair.join(': ')), '', body ?? (sha256 ? `SHA-256 ${sha256}, ` : '') + bytes(size)].join('\n').trim());

export function audit() {
  const state = {stack: []};
  // It has old messages, so it is not read with each refresh.
  return pageOf(AUDIT, (params, shown) => (isRecent(shown) ? shown : get('audit', {after: state.stack.at(-1), size: 50})), data => [
    head(null, AUDIT, data.shared === false && chip(data.why ? 'warn' : 'idle', [t`Only changes through this node|仅本节点的修改`, data.why && ': ' + visible(data.why)])),
    data.entries.length ? table(AUDIT, [
      [t`Time|时间`, one => time(one.at)],
      [t`Who|操作人`, 'who', 'name'],
      [t`Action|操作`, one => mono(one.action)],
      [t`Target|对象`, one => [one.topic && raw(one.topic), one.filter && dim(' ', mono(one.filter)), one.ids?.length > 0 && h('details',
        h('summary', 'ID: ', number(one.count)), one.ids.map(id => h('div', mono(id)))),
      one.old && h('details', h('summary', t`Old message|原消息`), h('pre', oldMessage(one.old)))], 'wide'],
      [t`Outcome|结果`, one => chip(...OUTCOMES[one.outcome] || ['idle', visible(one.outcome)])],
      [t`Note|备注`, one => [one.note && raw(one.note), one.why && dim(' ', raw(one.why))], 'wide'],
      [t`From|来源`, one => [mono(one.from), dim(' → ', raw(one.node))]],
    ], data.entries, {key: one => one.id}) : empty(t`No changes.|没有修改。`),
    pager(state, data.next),
  ])();
}
