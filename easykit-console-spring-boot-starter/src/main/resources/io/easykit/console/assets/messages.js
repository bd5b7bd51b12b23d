// One message, its changes, jobs. A change names the messages and the state they were seen in, so that it cannot hit others.

import {
  ACTIONS, ago, ask, bar, button, bytes, can, chip, countdown, dim, download, duration, empty, facts, failure, field, get, h, has, head,
  hot, input, link, loading, mono, note, noteField, now, number, openDialog, page, pageOf, paintDialog, post, raw, section, table, time, t,
  visible,
} from './lib.js';

export const KINDS = {waiting: t`Waiting|等待`, 'in-flight': t`In flight|执行中`, dead: t`Dead|死信`};
export const QUEUES = [t`Queues|队列`, '#/queues'];
export const DIED = [t`Died|死亡时间`, row => time(row.diedAt)];
const SEND_BACK = t`Send back|重新投递`;
const PURGE = t`Purge|清除`;
const CANCEL = t`Cancel|取消`;
const RUN_NOW = t`Run now|立即执行`;
const RESCHEDULE = t`Reschedule|改期`;
export const KEY = t`Ordering key|顺序键`;
const SEARCH = t`Search|搜索`;
const HEADERS = t`Headers|消息头`;
const BODY = t`Body|消息体`;
const PER_SECOND = t`Messages a second|每秒条数`;
const STOP_AT = t`Stop when so many died again|再次死亡达此数时停止`;

export function message(params) {
  const topic = params.get('topic');
  const id = params.get('id');
  let m;
  let gone = false;
  return {
    title: id,
    held: () => gone,
    load: async () => {
      try {
        m = (await get('message', {topic, id})).message;
        gone = false;
      } catch (problem) {
        gone = problem.kind === 'gone';
        if (!gone) {
          throw problem;
        }
      }
    },
    view: () => [
      head([QUEUES, [raw(topic), link('topic', {topic, tab: m?.state})]], mono(id),
        m && !gone && chip({dead: 'bad', 'in-flight': 'good'}[m.state] || 'idle', KINDS[m.state])),
      gone && note('idle', t`The message is gone: it ran, or was cancelled or purged.|消息已不存在:已执行、被取消或清除。`),
      m ? details(m, gone) : !gone && loading(),
    ],
  };
}

const details = (m, gone) => [
  m.damage && note('bad', visible(m.damage)),
  m.readable?.ok === false && note('warn', t`The listener here cannot read it: |此处的监听器无法读取:`, visible(m.readable.text)),
  h('div.columns',
    section(t`History|历史`, history(m)),
    section(t`Facts|概要`, facts([
      [t`Failures|失败次数`, m.failures], [t`Expired leases|租约过期`, m.leaseExpirations],
      [t`Last node|最近节点`, raw(m.owner)], m.retryText && [t`Retry|重试`, raw(m.retryText)], m.key && [KEY, h('a', {href: link('topic', {topic: m.topic, tab: 'keys'})}, mono(m.key))],
      [t`Shard|分片`, m.shard],
    ]))),
  errors(m),
  section([HEADERS, dim(m.headerNames.length)], m.headerNames.length > 0 && table(HEADERS, [
    [t`Name|名称`, name => mono(name)],
    [t`Value|值`, name => (m.headers ? mono(m.headers[name]) : dim(t`hidden|已隐藏`)), 'wide'],
  ], m.headerNames, {key: name => name})),
  body(m, gone),
  !gone && bar(messageActions(m.state, m.topic, [m]), m.state === 'dead' && can('replace') && button(t`Edit and send…|编辑并投递…`, () => editDialog(m), '', {
    disabled: !m.editable, title: m.uneditable})),
];

function history(m) {
  const on = one => one.owner && [' · ', raw(one.owner)];
  const {firstError: first, lastError: last} = m;
  const steps = [
    first && first.at !== last?.at && [first.at, t`First failure|首次失败`, on(first)],
    last && [last.at, t`Last failure|最近失败`, on(last)],
    m.state !== 'waiting' && [m.due, t`Last delivery was due|最近一次到期`],
    m.state !== 'waiting' && [m.claimedAt, t`Claimed|领取`, on(m)],
  ].filter(step => step?.[0]).sort((a, b) => a[0] - b[0]);
  const [at, what] = {dead: [m.diedAt, t`Died|成为死信`], 'in-flight': [m.leaseUntil, t`Lease ends|租约到期`], waiting: [m.due, t`Due|到期`]}[m.state];
  steps.push([at, what, ' ', dim(countdown(at))]);
  return h('ol.history', steps.map(([at, ...what]) => h('li', h('span.when', time(at)), h('span', what))));
}

function errors({firstError: first, lastError: last, failures, topic, group}) {
  const one = (title, error, other) => h('div', h('h3', title, ' ', dim(time(error.at), ' · ', raw(error.owner))), trace(error.text, other));
  const same = first?.text === last?.text;
  return last && section([t`Error|错误`, group && h('a.dim', {href: link('topic', {topic, tab: 'dead', group})}, t`all like this|全部同类`)], h('div.errors', first && !same && one(t`First|首次`, first, last.text),
    one(same && failures > 1 ? t`Last, equal to the first|最近一次,与首次相同` : t`Last|最近`, last, first?.text)));
}

/** A stack trace; lines that the other one does not have are marked. */
function trace(text, other = text) {
  const known = other.split('\n').map(line => line.trim());
  return h('pre.trace', {tabindex: 0}, text.split('\n').map(line => h('span', {class: !known.includes(line.trim()) && 'differs'}, visible(line) + '\n')));
}

function body({body: b, topic, id}, gone) {
  const kind = {json: 'JSON', text: t`text|文本`, binary: t`binary|二进制`}[b?.kind];
  return section([BODY, dim(b ? bytes(b.size) : t`gone|已删除`, ' ', kind), h('span.grow'), b?.text != null && has('body') && !gone && download(t`Raw|原文`, 'body', {topic, id})],
  b?.masked && h('p.dim', t`Some values are masked.|部分值已脱敏。`),
  b?.cut && h('p.dim', t`Only the first ${bytes(b.shown)} are shown.|只显示前 ${bytes(b.shown)}。`),
  b && (b.text == null ? h('p.dim', b.hidden === 'role' ? t`Only operators see bodies.|仅操作员可查看消息体。` : t`hidden|已隐藏`)
    : h('pre', {tabindex: 0, dir: b.kind === 'json' ? 'ltr' : 'auto'}, visible(b.text))));
}

// It reads all topics, so it is not repeated with each refresh.
export const find = pageOf(t`Find|查找`, async (params, shown) => {
  const {hash} = location;
  const found = shown || (await get('find', {id: params.get('id')})).messages;
  if (found.length === 1 && location.hash === hash) {
    location.replace(link('message', {topic: found[0].topic, id: params.get('id')}));
  }
  return found;
}, (found, params) => [
  head(null, [t`Find|查找`, ' ', mono(params.get('id'))]),
  found.length ? table(t`Messages|消息`, [
    [t`Topic|主题`, row => h('a', {href: link('message', {topic: row.topic, id: params.get('id')})}, raw(row.topic))],
    [t`State|状态`, row => KINDS[row.state]],
  ], found, {key: row => row.topic})
    : empty(t`No topic has this message: it ran, or was cancelled or purged.|没有此消息:已执行、被取消或清除。`),
]);

// Changes of messages that were selected.

const deaths = rows => rows.map(row => ({id: row.id, diedAt: row.diedAt}));
const FOR_GOOD = t`They are removed for good.|消息将被永久删除。`;

export const told = (verb, done) => ({moved, leftOut}) => {
  done?.();
  return `${verb}: ${moved}. ` + (leftOut.length ? t`Left out: |未处理:` + leftOut.slice(0, 3).map(({id, why}) =>
    `${visible(id)} (${why})`).join(', ') : '');
};

export function messageActions(kind, topic, rows, done) {
  const change = (path, verb, css, rest, text) => can(path) && button(verb + '…', () => ask({
    title: `${verb}: ${rows.length}`, rows, submit: verb, path, said: told(verb, done), danger: css === 'danger', more: () => text,
    body: state => (kind === 'dead' ? {topic, deaths: deaths(rows)}
      : {topic, targets: rows.map(row => ({id: row.id, incarnation: row.incarnation})), delay: `${Math.round(state.minutes * 60000) || 0}ms`}), ...rest,
  }), css, {disabled: !rows.length});
  return {
    dead: [
      change('redrive', SEND_BACK, rows.length > 0 && 'strong', {}, t`They are due at once, with all attempts. Their errors are kept.|消息立即到期,重试次数重新计算,错误记录保留。`),
      change('purge', PURGE, 'danger', {typed: topic}, FOR_GOOD)],
    waiting: [
      change('reschedule', RUN_NOW, '', {}, t`They become due at once.|消息立即到期。`),
      change('reschedule', RESCHEDULE, '', {state: {minutes: '10'}, more: state =>
        field(t`Due in minutes|多少分钟后到期`, input(state, 'minutes', {type: 'number', min: 0, step: 'any', required: true}))}),
      change('cancel', CANCEL, 'danger', {}, FOR_GOOD)],
  }[kind] || [];
}

/** A field makes each line end of its text a \n. This gives the lines their old ends back. */
function withLineEnds(text, old) {
  const ends = old.match(/\r\n?|\n/g) || [];
  const before = old.split(/\r\n?|\n/);
  const lines = text.split('\n');
  const touched = lines.findIndex((line, i) => line !== before[i]);
  return text === old ? old : lines.reduce((all, line, i) => all
    + ((touched < 0 || i <= touched ? ends[i - 1] : ends.at(i - lines.length)) ?? ends[0] ?? '\n') + line);
}

const editDialog = m => ask({
  title: t`Edit and send back|编辑并重新投递`, rows: [m], wide: true, state: {body: m.body.text, headers: m.headerNames.map(name => ({name, value: m.headers[name]}))},
  more: state => [
    h('h3', HEADERS),
    state.headers.map((one, i) => h('div.pair.header',
      input(one, 'name', {'aria-label': t`Name ${i + 1}|名称 ${i + 1}`}), input(one, 'value', {'aria-label': t`Value ${i + 1}|值 ${i + 1}`}),
      button('✕', () => {
        state.headers.splice(i, 1);
        paintDialog();
      }, 'plain', {'aria-label': t`Remove ${i + 1}|移除 ${i + 1}`}))),
    button(t`Add a header|添加消息头`, () => {
      state.headers.push({});
      paintDialog();
    }),
    field(BODY, input(state, 'body', {class: 'mono', rows: 14, spellcheck: 'false', 'data-first': true}, 'textarea')),
    t`It keeps its id and is due at once. The audit has the old body.|ID 不变并立即到期,审计记录保留原消息体。`],
  submit: SEND_BACK, path: 'replace', said: told(SEND_BACK),
  // JSON is shown indented, so a text that was not edited is not sent.
  body: state => ({
    topic: m.topic, id: m.id, diedAt: m.diedAt, incarnation: m.incarnation, body: state.body === m.body.text ? undefined : withLineEnds(state.body, m.body.text),
    headers: Object.fromEntries(state.headers.filter(one => one.name).map(one => [one.name, one.value || ''])),
  }),
});

// Changes of many messages: jobs, which any node shows, stops and continues.

const toJob = ({job: {id}}) => {
  location.hash = link('job', {id});
};

export const startJob = async job => toJob(await post('jobs', job));

export function searchDialog(topic) {
  const state = {};
  openDialog({
    title: t`Search the dead letters of ${visible(topic)}|搜索 ${visible(topic)} 的死信`,
    view: () => field(t`Part of an id, error, header value or body (first 8 KB)|ID、错误、消息头或消息体(前 8 KB)的片段`,
      input(state, 'text', {maxlength: 200, required: true})),
    submit: SEARCH, act: () => startJob({topic, action: 'search', select: state}),
  });
}

const selection = ({topic, group, text, diedUntil}) => ({topic, select: group || text ? {group, text} : {all: true}, diedUntil});

const scopeText = ({topic, title, text}) => h('p', raw(topic), ' › ', text ? mono(`"${text}"`) : title ? mono(title) : t`all dead letters|全部死信`);

const many = (verb, total) => verb + (total > 0 ? ` (${number(total)})` : '');

/** For all dead letters of a topic, of a group, or with a text. What has died after diedUntil, the time of what is shown, is left out. */
export const bulkActions = (scope, css = '') => can('jobs') && [
  button(many(t`Send back all|全部重新投递`, scope.total) + '…', () => redriveAll(scope), css), ' ',
  button(many(t`Purge all|全部清除`, scope.total) + '…', () => purgeAll(scope), css + ' danger')];

const purgeAll = scope => ask({
  title: t`Purge dead letters|清除死信`, typed: scope.topic, danger: true,
  more: () => [scopeText(scope), FOR_GOOD, has('export') && !scope.text
    && download(t`Save them as NDJSON first|先导出为 NDJSON`, 'export', {topic: scope.topic, state: 'dead', group: scope.group})],
  submit: many(PURGE, scope.total), path: 'jobs', said: toJob, body: () => ({action: 'purge', ...selection(scope)}),
});

/** It begins with a trial: one message goes first and is watched until it is gone or dead again. */
function redriveAll(scope) {
  const {total} = scope;
  const state = {perSecond: '50', stopAt: '20', open: true, tries: 0};
  openDialog({
    title: t`Send back dead letters|重新投递死信`, wide: true, quiet: () => !state.trial || isFailed(state.trial),
    view: () => [
      scopeText(scope),
      h('section.card', h('h3', t`1. Trial: one goes first and is watched.|1. 试投:先投递一条并观察。`),
        state.trial && trialView(state.trial),
        (!state.trial || isFailed(state.trial) && total !== 1) && button(state.trial ? t`Send another one|再投递一条` : t`Send one|投递一条`,
          () => trial(scope, state), 'strong', {disabled: state.busy, 'data-first': true}),
        state.problem && h('p.bad', {role: 'alert'}, state.problem)),
      h('section.card', h('h3', t`2. The others|2. 其余消息`), h('div.pair',
        field(PER_SECOND, input(state, 'perSecond', {type: 'number', min: 1, required: true})),
        field(STOP_AT, input(state, 'stopAt', {type: 'number', min: 1, required: true}))),
      noteField(state)),
    ],
    ready: () => !state.busy && !(state.trial && total === 1),
    submit: () => (state.trial ? many(t`Send the others|投递其余`, total && total - 1) : many(t`Send without a trial|不试投,直接投递`, total)),
    act: () => startJob({
      action: 'redrive', ...selection(scope), note: state.note, perSecond: +state.perSecond, stopAt: +state.stopAt}),
    closed: () => {
      state.open = false;
    },
  });
}

const TRIAL = {
  waiting: ['idle', t`Waiting for its run…|等待执行…`], 'in-flight': ['idle', t`Running…|执行中…`], 
  gone: ['good', t`Gone: it ran, or was removed|已不存在:已执行或被移除`],
  dead: ['bad', t`Failed again|再次失败`], retry: ['bad', t`Failed again, and waits for a retry|再次失败,等待重试`],
};

const isFailed = one => TRIAL[one.state][0] === 'bad';

const trialView = ({topic, id, state, before, error}) => [
  h('p', {role: 'status'}, h('a', {href: link('message', {topic, id}), target: '_blank'}, mono(id)), ' ', chip(...TRIAL[state])),
  error && h('div.errors', h('div', h('h4', t`Before|之前`), h('pre', visible(before))), h('div', h('h4', t`Now|现在`), h('pre', visible(error)))),
];

async function trial({topic, group, text, matches, diedUntil}, state) {
  Object.assign(state, {busy: true, problem: null});
  paintDialog();
  try {
    let one = matches?.[state.tries++];
    let after = text || matches ? null : '';
    // A call reads at most 20 pages of this size, and may find no message of the group.
    while (after != null && !one && state.open) {
      const list = await get('messages', {topic, state: 'dead', order: 'oldest', size: 100, group, after});
      one = list.messages.find(row => row.diedAt <= diedUntil);
      after = list.next;
    }
    if (!state.open) {
      return;
    }
    if (!one || !(await post('redrive', {topic, deaths: deaths([one]), note: state.note})).moved) {
      throw new Error(t`It is not dead any more. Try again.|该消息已不是死信,请重试。`);
    }
    state.trial = {topic, id: one.id, before: one.lastError?.text, state: 'waiting'};
    await watch(state);
  } catch (problem) {
    state.problem = failure(problem);
  }
  state.busy = false;
  paintDialog();
}

async function watch(state) {
  const one = state.trial;
  while (state.open && ['waiting', 'in-flight'].includes(one.state)) {
    paintDialog();
    await new Promise(resolve => setTimeout(resolve, 1000));
    try {
      const {message: m} = await get('message', {topic: one.topic, id: one.id});
      one.state = m.state === 'waiting' && m.failures > 0 ? 'retry' : m.state;
      one.error = isFailed(one) && m.lastError?.text.split('\n')[0];
      state.problem = null;
    } catch (problem) {
      const gone = problem.kind === 'gone';
      one.state = gone ? 'gone' : one.state;
      state.problem = gone ? null : failure(problem);
    }
  }
}

/** The counts are too low if only a part of the dead letters was read. */
export const groupTable = (topic, groups, diedUntil, isPart) => (groups.length ? table(t`Errors|错误分组`, [
  [t`Error|错误`, one => h('a', {href: link('topic', {topic, tab: 'dead', group: one.group})}, raw(one.title)), 'wide'],
  [t`Count|数量`, 'count', 'num'],
  [t`Where|位置`, one => mono(one.frame)],
  [t`First died|最早`, one => time(one.firstAt)],
  [t`Last died|最近`, one => time(one.lastAt)],
  can('jobs') && [ACTIONS, one => bulkActions({topic, group: one.group, title: one.title, diedUntil, total: isPart ? null : one.count}, 'plain'), 'act'],
], groups, {key: one => one.group}) : empty(t`No dead letters.|没有死信。`));

const VERBS = {search: SEARCH, redrive: SEND_BACK, purge: PURGE, group: t`Group|分组`};
const STATES = {
  running: ['good', t`Running|进行中`], stopped: ['warn', t`Stopped|已停止`], 'limit-reached': ['warn', t`Stopped: too many died again|已停止:再次死亡过多`],
  done: ['idle', t`Done|完成`], failed: ['bad', t`Failed|失败`]};

// A job has no node until it has run. One redrive or purge of a topic runs at a time.
const jobState = ({state, node}) => (state === 'running' && !node ? TRIAL.waiting : STATES[state]);

const progress = one => [chip(...jobState(one)), ' ',
  h('progress', {max: one.total || 1, value: one.state === 'done' && !one.capped ? one.total || 1 : one.scanned, 'aria-label': t`Progress|进度`}), ' ',
  dim(t`${number(one.scanned)} of ${number(one.total)} dead letters read|已读取 ${number(one.scanned)} / ${number(one.total)} 条死信`, ' · ', ago(one.endedAt || one.createdAt))];

const result = ({action, done, matched, deaths, missed, capped}) => [
  number({redrive: done, purge: done}[action] ?? matched), capped && t` and more: the search stopped here| 条以上:搜索到此为止`, deaths > 0 && hot(true, t`, ${deaths} died again|,${deaths} 条再次死亡`),
  missed > 0 && dim(t`, ${missed} left out|,${missed} 条未处理`)];

const who = one => [raw(one.by), one.node && dim(' · ', raw(one.node))];
const JOBS = t`Jobs|任务`;
const RESULT = t`Messages|消息数`;
const BY = t`By|操作人`;
const BEGAN = t`Began|开始`;

export const jobs = pageOf(JOBS, () => get('jobs'), data => [
  head(null, JOBS),
  data.jobs.length ? table(JOBS, [
    [t`Job|任务`, one => h('a', {href: link('job', {id: one.id})}, VERBS[one.action])],
    [t`Topic|主题`, 'topic', 'name'],
    [t`State|状态`, progress],
    [RESULT, result],
    [BY, who],
    [BEGAN, one => time(one.createdAt)],
  ], data.jobs, {key: one => one.id}) : empty(t`No jobs.|没有任务。`),
]);

export const job = pageOf(JOBS, async params => (await get('job', {id: params.get('id')})).job, one => {
  const {id, topic, action, group, text, state, matches, groups, matched, capped, endedAt, createdAt} = one;
  const act = (verb, label, css) => can('jobs') && button(label, () => post('jobs/' + verb, {id}).catch(problem => page.say(failure(problem), 'bad')).then(() => page.load()), css);
  return [
    head([[JOBS, '#/jobs']], [VERBS[action], ' ', raw(topic)], h('span.grow'),
      state === 'running' ? act('stop', t`Stop|停止`, 'danger strong') : state !== 'done' && act('continue', t`Continue|继续`, 'strong')),
    one.problem && note('warn', visible(one.problem)),
    h('p', progress(one)),
    facts([
      [{redrive: t`Sent back|已重新投递`, purge: t`Purged|已清除`}[action] || t`Found|找到`, result(one)], [BY, who(one)], [BEGAN, time(createdAt)], [t`Took|耗时`, duration((endedAt || now()) - createdAt)],
      text && [t`Text|文本`, mono(text)], one.perSecond && [PER_SECOND, number(one.perSecond)],
      one.stopAt && [STOP_AT, number(one.stopAt)], one.note && [t`Note|备注`, raw(one.note)],
    ]),
    groups?.length > 0 && groupTable(topic, groups, createdAt),
    action === 'search' && state === 'done' && matched > 0 && h('div.bar', bulkActions({topic, text, diedUntil: createdAt, total: capped ? null : matched, matches})),
    matches?.length > 0 && table(t`Messages|消息`, [
      ['ID', row => h('a', {href: link('message', {topic, id: row.id})}, mono(row.id)), 'name'], DIED], matches, {key: row => row.id}),
    h('p', h('a', {href: link('topic', {topic, tab: 'dead', group})}, group ? t`Dead letters left of this error|该错误剩余的死信` : t`Dead letters of the topic|该主题的死信`)),
  ];
});
