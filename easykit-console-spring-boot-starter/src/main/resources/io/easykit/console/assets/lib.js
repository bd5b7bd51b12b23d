// What all pages share: elements, texts, times, calls, tables, dialogs.

// Elements are described as plain objects, and the page is brought in line with them. What stays keeps its focus and its scroll
// position. Text is set as text only, so no message can become markup.

const SVG = 'http://www.w3.org/2000/svg';

/** An element: h('td.num', {title: 'x'}, 'text', child). The attributes may be left out. */
export function h(name, props, ...children) {
  const [tag, ...css] = name.split('.');
  if (props?.constructor !== Object || props.tag) {
    children.unshift(props);
    props = {};
  }
  return {tag, key: props.key, props: {...props, class: [...css, props.class].filter(Boolean).join(' ')}, children: flat(children)};
}

const flat = children => children.flat(Infinity).filter(child => child || child === 0).map(child => (child.tag ? child : String(child)));

export function render(element, ...children) {
  const focused = document.activeElement;
  reconcile(element, flat(children));
  if (focused !== document.activeElement && element.contains(focused)) {
    focused.focus({preventScroll: true});
  }
}

function reconcile(parent, list) {
  const keyed = new Map([...parent.childNodes].map(child => [child.$key, child]));
  let next = parent.firstChild;
  for (const item of list) {
    const old = item.key === undefined ? next : keyed.get(item.key);
    const node = old && old.$tag === item.tag && old.$key === item.key ? old : create(item, parent);
    if (node === next) {
      next = next.nextSibling;
    } else {
      parent.insertBefore(node, next);
    }
    if (item.tag) {
      update(node, item);
    } else if (node.data !== item) {
      node.data = item;
    }
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

function create({tag, key}, parent) {
  const svg = tag === 'svg' || parent.namespaceURI === SVG;
  const node = !tag ? document.createTextNode('') : svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  return Object.assign(node, {$tag: tag, $key: key, $props: {}});
}

function update(element, item) {
  const before = element.$props;
  // Children first: a select takes its value only when the options are there.
  reconcile(element, item.children);
  for (const name of Object.keys({...before, ...item.props})) {
    const value = item.props[name] ?? false;
    if (['checked', 'disabled', 'indeterminate'].includes(name)) {
      element[name] = value;
    } else if (value === (before[name] ?? false) || name === 'key') {
      // The same as before, though the user may have typed another value.
    } else if (name === 'value' || name.startsWith('on')) {
      element[name] = value || (name === 'value' ? '' : null);
    } else if (value === false || value === '' && name === 'class') {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  element.$props = item.props;
}

/** Settings of this browser. Without storage they last as long as the page. */
export const storage = (() => {
  try {
    return localStorage;
  } catch {
    return {};
  }
})();

export const lang = storage.easykitLang || (/^zh/i.test(navigator.language) ? 'zh-CN' : 'en');

/** A text of ours in the language of the page: t`English|Chinese`. */
export function t(parts, ...values) {
  const out = [''];
  parts.forEach((part, i) => {
    const [text, ...other] = part.split('|');
    out[out.length - 1] += text;
    out.push(...other);
    out[out.length - 1] += values[i] ?? '';
  });
  return lang === 'en' ? out[0] : out[1];
}

// Characters that hide or reorder text.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text of strangers. Hidden characters show as their code. */
export const visible = text => String(text ?? '–').replace(HIDDEN, c => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);

export const raw = (text, css) => h('bdi', {class: css}, visible(text));

export const mono = text => raw(text, 'mono');
export const dim = (...children) => h('span.dim', children);
export const hot = (when, text) => (when ? h('span.hot', text) : text);

export const number = (value, digits = 0) => (value == null ? '–'
  : value.toLocaleString(lang, {maximumFractionDigits: digits, minimumFractionDigits: digits}));

export const bytes = size => (size == null ? '–' : size < 1024 ? size + ' B'
  : size < 1048576 ? number(size / 1024, 1) + ' KB' : number(size / 1048576, 1) + ' MB');

const UNITS = [' ms', ' s', ' min', ' h', ' d'];

/** 74 s, 12 min 5 s, 2 h 10 min, 3 d 4 h. */
export function duration(ms) {
  const s = Math.floor(ms / 1000);
  const [size, unit] = s < 7200 ? [60, 2] : s < 172800 ? [3600, 3] : [86400, 4];
  const rest = Math.floor(s % size / [, , 1, 60, 3600][unit]);
  return s < 1 ? Math.round(ms) + UNITS[0] : s < 120 ? s + UNITS[1]
    : Math.floor(s / size) + UNITS[unit] + (rest ? ' ' + rest + UNITS[unit - 1] : '');
}

// The clock of Redis, by the latest reply.
let offset = Date.now() - performance.now();

export const now = () => performance.now() + offset;
export const ago = at => (now() - at < 1000 ? t`just now|刚刚` : t`${duration(now() - at)} ago|${duration(now() - at)} 前`);
export const isRecent = reply => now() - reply?.now < 30000;
export const until = at => (at > now() ? t`in ${duration(at - now())}|${duration(at - now())} 后` : ago(at));

const CLOCK = {hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'};
const format = (at, options) => new Date(at).toLocaleString(lang, {timeZone: storage.easykitUtc ? 'UTC' : undefined, ...options});
const full = at => format(at, {dateStyle: 'medium'}) + ' ' + format(at, {...CLOCK, fractionalSecondDigits: 3, timeZoneName: 'short'});

export const clock = at => format(at, Math.abs(at - now()) < 43200000 ? CLOCK : {month: 'short', day: 'numeric', ...CLOCK});

export const zone = () => (storage.easykitUtc ? 'UTC' : new Date().toLocaleString('en', {timeZoneName: 'shortOffset'}).split(' ').pop());

const timed = (at, text, tag = 'span') => (at ? h(tag, {title: `${full(at)} · ${until(at)}`}, text(at)) : '–');
export const time = at => timed(at, clock, 'time');
export const countdown = at => timed(at, until);
export const since = at => timed(at, () => duration(Math.max(0, now() - at)));

// Calls of this node. Addresses are relative, for any proxy prefix, and without a password, which fetch refuses.

const base = new URL('api/', location.origin + location.pathname);

export const session = {actions: [], features: []};

export const can = action => session.actions.includes(action);

export const has = feature => session.features.includes(feature);

const query = params => new URLSearchParams(Object.entries(params || {}).flatMap(([name, value]) =>
  [value].flat().filter(one => one != null && one !== '').map(one => [name, one])));

export const address = (path, params) => new URL(`${path}?${query(params)}`, base);

export const link = (name, params) => `#/${name}?${query(params)}`;

export const openSession = async () => Object.assign(session, await get('session'));

export const get = (path, params) => call(address(path, params));

// Whether Spring Security takes the value of its cookie, as with csrf.spa(), and not the token of the session.
let takesCookie = false;

export async function post(path, body, repeats = 0) {
  const cookie = /(?:^|; )XSRF-TOKEN=([^;]+)/.exec(document.cookie)?.[1];
  const {header, token} = session.csrf || {};
  try {
    return await call(address(path), {method: 'POST', body: JSON.stringify(body), headers: {
      'Content-Type': 'application/json', 'X-Easykit-Console': '1', ...(header && {[header]: takesCookie && cookie || token})}});
  } catch (problem) {
    // The token may be of an older session. Spring Security masks it anew for each reply, so the text of a new one says nothing.
    if (problem.status !== 403 || problem.node || repeats > (cookie ? 1 : 0)) {
      throw problem;
    }
    takesCookie = repeats > 0;
    await openSession();
    return post(path, body, repeats + 1);
  }
}

// A problem of the console itself has the name of its node.
const fail = (status, {detail, kind, action, node}) => {
  throw Object.assign(new Error(detail), {status, kind, action, node});
};

async function call(url, options) {
  const unsure = options && t`The change may have been made: look before you repeat it.|修改可能已生效:重试前请先确认。`;
  let reply;
  let data;
  try {
    reply = await fetch(url, {redirect: 'manual', signal: AbortSignal.timeout(15000), ...options, headers: {'Accept-Language': lang, ...options?.headers}});
    data = reply.headers.get('Content-Type')?.includes('json') && await reply.json();
  } catch {
    fail(0, {kind: 'node', detail: t`This node does not answer.|节点没有响应。`, action: unsure});
  }
  if (reply.type === 'opaqueredirect' || reply.status === 401) {
    fail(401, {kind: 'login', detail: t`You are not logged in any more.|登录已失效。`});
  }
  if (!data?.node) {
    fail(reply.status, {
      detail: t`The reply is not from the console (HTTP ${reply.status}).|响应不来自控制台(HTTP ${reply.status})。`, action: reply.status >= 500 && unsure});
  } else if (!reply.ok) {
    fail(reply.status, data);
  }
  offset = data.now ? data.now - performance.now() : offset;
  return data;
}

export const failure = ({message, action}) => [message, action].filter(Boolean).join(' ');

/** paint(), load() and say(text, kind) of console.js. */
export const page = {};

/** A page of one reply. A refresh also passes the reply that is shown. */
export const pageOf = (title, read, view) => params => {
  let reply;
  return {
    title,
    load: async isRefresh => {
      reply = await read(params, isRefresh && reply);
    },
    view: () => (reply ? view(reply, params) : loading()),
  };
};

export const empty = text => h('p.empty', text);
export const loading = () => empty(t`Loading…|加载中…`);
export const chip = (kind, text, title) => h('span.chip.' + kind, {title}, text);
export const note = (kind, ...children) => h('p.note.' + kind, children);
export const button = (text, onclick, css, props) => h('button', {type: 'button', onclick, class: css, ...props}, text);
export const section = (title, ...children) => h('section', h('h2', title), children);
export const download = (text, path, params) => h('a.button', {href: address(path, params), download: ''}, text);

export const head = (path, title, ...rest) => h('div.title',
  path && h('nav.crumbs', {'aria-label': t`Path|路径`}, path.map(([text, href]) => [h('a', {href}, text), ' › '])), h('h1', title), rest);

export const bar = (...children) => flat(children).length > 0 && h('div.actions', children);

export const facts = list => h('dl.facts', list.filter(pair => pair && pair[1] != null)
  .map(([name, value]) => h('div', h('dt', name), h('dd', value))));

/** A column is [heading, cell, class, sorted by, explanation]. A cell is the name of a field or a function of the row. */
export function table(label, columns, rows, {key, sort, css, first = 0}) {
  const list = columns.filter(Boolean);
  const value = row => (typeof sort.by === 'function' ? sort.by(row) : row[sort.by]) || 0;
  const compare = (a, b) => (typeof a === 'string' ? a.localeCompare(b) : a - b) * (sort.down ? -1 : 1);
  const sorted = sort?.by ? [...rows].sort((a, b) => compare(value(a), value(b))) : rows;
  const show = (row, cell, kind) => (typeof cell === 'function' ? cell(row) : kind === 'num' ? number(row[cell]) : raw(row[cell]));
  return h('div.scroll', {role: 'region', 'aria-label': label, tabindex: 0}, h('table',
    h('thead', h('tr', list.map(column => heading(column, sort)))),
    h('tbody', sorted.map(row => h('tr', {key: key(row), class: css?.(row)}, list.map(([, cell, kind], i) => (
      i === first ? h('th', {class: kind, scope: 'row'}, show(row, cell, kind)) : h('td', {class: kind}, show(row, cell, kind)))))))));
}

function heading([text, cell, kind, by = cell, title], sort) {
  const on = sort?.by === by;
  return h('th', {class: kind, scope: 'col', title, 'aria-sort': on && (sort.down ? 'descending' : 'ascending')},
    sort && by ? button([text, on && (sort.down ? ' ▾' : ' ▴')], () => {
      sort.down = on ? !sort.down : kind === 'num';
      sort.by = by;
      page.paint();
    }, 'plain') : text);
}

export const ACTIONS = h('span.hidden', t`Actions|操作`);

/** Bars for numbers of equal steps. */
export function spark(values, label, css) {
  const top = Math.max(...values, 1);
  const bars = values.map((v, i) => (v > 0 ? `M${2 * i} 20v-${Math.max(1, 20 * v / top).toFixed(1)}h1.5V20z` : ''));
  return h('svg.spark', {
    class: css, viewBox: `0 0 ${2 * values.length} 20`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${label}: ${values.at(-1) ?? '–'}`,
  }, h('path', {d: `M0 19.5h${2 * values.length}v.5H0z` + bars.join('')}));
}

export function pager(state, next) {
  const turn = (text, stack, disabled) => button(text, () => {
    state.stack = stack;
    state.chosen?.clear();
    page.load();
  }, '', {disabled});
  return (next || state.stack.length > 0) && h('div.pager',
    turn(t`Previous|上一页`, state.stack.slice(0, -1), !state.stack.length), turn(t`Next|下一页`, [...state.stack, next], !next));
}

// One dialog at a time.

const dialog = document.getElementById('dialog');
let shown = null;

export const dialogOpen = () => dialog.open;
export const closeDialog = () => dialog.close();

export function paintDialog() {
  const {submit, ready, busy, problem, danger} = shown || {};
  render(dialog, shown && h('form', {class: shown.wide && 'large', onsubmit: run},
    h('h2', {id: 'dialog-title'}, shown.title),
    shown.view(),
    problem && h('p.bad', {role: 'alert'}, failure(problem)),
    h('div.buttons',
      button(t`Close|关闭`, closeDialog),
      submit && h('button', {class: danger ? 'danger strong' : shown.quiet?.() ? '' : 'strong', disabled: Boolean(busy || ready && !ready())},
        typeof submit === 'function' ? submit() : submit))));
}

async function run(e) {
  e.preventDefault();
  const mine = shown;
  if (!mine.submit || mine.busy) {
    return;
  }
  Object.assign(mine, {busy: true, problem: null});
  paintDialog();
  try {
    await mine.act();
    if (shown === mine) {
      closeDialog();
    }
  } catch (problem) {
    mine.problem = problem;
    if (shown !== mine) {
      page.say(`${mine.title}: ${failure(problem)}`, 'bad');
    }
  }
  mine.busy = false;
  paintDialog();
  page.load();
}

/** Opens a dialog: {title, view(), submit, act(), ready(), danger, wide, closed()}. */
export function openDialog(options) {
  shown = {...options};
  dialog.onclose = () => {
    shown = null;
    paintDialog();
    options.closed?.();
    page.paint();
  };
  paintDialog();
  dialog.showModal();
  (dialog.querySelector('[data-first]') || dialog.querySelector('input, textarea, select, .strong'))?.focus();
}

export const field = (label, control) => h('label.field', h('span', label), control);

export const input = (state, name, props, tag = 'input') => h(tag, {
  autocomplete: 'off', value: state[name] || '', ...props,
  oninput: e => {
    state[name] = e.target.value;
    paintDialog();
  },
});

export const select = (state, name, options, changed = paintDialog) => h('select', {
  value: state[name], onchange: e => {
    state[name] = e.target.value;
    changed();
  },
}, options.map(([value, text]) => h('option', {value}, text)));

export const noteField = state => field(t`Note for the audit (optional)|审计备注(可选)`, input(state, 'note', {maxlength: 200}));

/** Asks before a change: {title, rows, more(state), typed (to confirm), submit, danger, path, body(state), said}. */
export const ask = ({rows, more, typed, path, body, said, state = {}, ...rest}) => openDialog({
  ...rest,
  view: () => [
    rows && h('div.card', rows.slice(0, 5).map(row => h('div', mono(row.id))),
      rows.length > 5 && h('div', t`and ${rows.length - 5} more|另有 ${rows.length - 5} 条`)),
    [more?.(state)].flat().map(one => (typeof one === 'string' ? h('p', one) : one)),
    typed && field([t`Type to confirm: |输入以确认:`, mono(typed)], input(state, 'typed', {spellcheck: 'false', 'data-first': true})),
    noteField(state),
  ],
  ready: () => !typed || state.typed === typed,
  act: async () => {
    const reply = await post(path, {...body(state), note: state.note, confirm: state.typed});
    page.say(typeof said === 'function' ? said(reply) : said);
  },
});
