// Start, header, routes, refreshing, keys.

import {
  button, clock, closeDialog, dialogOpen, duration, empty, failure, h, has, lang, link, note, now, openDialog, openSession, page, paintDialog, render,
  session, storage, t, visible, zone,
} from './lib.js';
import {queues, topic} from './queues.js';
import {find, job, jobs, message} from './messages.js';
import {audit, caches, explain, nodes} from './caches.js';

const EVERY = 2000;
const ROUTES = {queues, topic, message, find, jobs, job, caches, explain, nodes, audit};
const NAV = [['queues', t`Queues|队列`, 'topic message find'], ['jobs', t`Jobs|任务`, 'job'], ['caches', t`Caches|缓存`, 'explain'],
  ['nodes', t`Nodes|节点`, ''], ['audit', t`Audit|审计`, '']];
const element = id => document.getElementById(id);

let current = {};
let live = true;
let trouble = null;
let loadedAt = 0;
let asked = 0;
let again = false;
let timer = 0;
let notice = null;

Object.assign(page, {paint, load, say(text, kind = 'idle') {
  notice = {text, kind};
  element('said').textContent = text;
  paint();
}});

const home = () => (NAV.find(([name]) => has(name)) || NAV[0])[0];

function open() {
  const [name, query] = location.hash.replace(/^#\/?/, '').split('?');
  const before = current.name;
  current = {view: () => empty(t`There is no such page.|没有这个页面。`), ...ROUTES[name || home()]?.(new URLSearchParams(query)), name: name || home()};
  loadedAt = 0;
  trouble = isFinal(trouble) ? null : trouble;
  if (before !== current.name) {
    notice = null;
    element('main').focus({preventScroll: true});
    scrollTo(0, 0);
  }
  closeDialog();
  load();
  paint();
}

/** Whether the same call would be refused again. */
const isFinal = problem => problem?.kind === 'login'
  || (problem?.node && problem.status >= 400 && problem.status < 500 && problem.status !== 429);

const headline = ({kind, status}) => ({
  redis: t`Redis does not answer.|Redis 没有响应。`, node: t`No connection.|连接中断。`, login: t`Not logged in.|未登录。`, busy: t`Busy.|繁忙。`,
}[kind] || {403: t`Not permitted.|没有权限。`, 404: t`Not found.|未找到。`, undefined: t`The page failed.|页面出错。`}[status] || t`Error.|出错。`);

/** Reads what the page shows. A second call waits for the first. */
async function load(cause) {
  again = asked > 0;
  if (again) {
    return;
  }
  asked = performance.now();
  const wanted = current;
  try {
    if (!session.node) {
      await openSession();
      if (!location.hash) {
        location.replace('#/' + home());
      }
    }
    await wanted.load?.(cause === 'refresh');
    if (wanted === current) {
      trouble = null;
      loadedAt = performance.now();
    }
  } catch (problem) {
    failed(problem, wanted);
  }
  asked = 0;
  if (again) {
    return load();
  }
  schedule();
  paint();
}

function failed(problem, wanted) {
  if (problem.status === undefined) {
    console.error(problem);
  }
  trouble = wanted === current ? problem : trouble;
}

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(() => ((trouble ? !isFinal(trouble) : live) && !document.hidden && !current.held?.() && !dialogOpen()
    ? load('refresh') : schedule()), EVERY);
}

function paint() {
  document.title = [current.title && visible(current.title), 'easykit', session.label].filter(Boolean).join(' · ');
  document.body.style.setProperty('--mark', session.color || 'dimgray');
  render(element('skip'), t`Skip to content|跳到内容`);
  try {
    render(element('main'), isFinal(trouble) && !loadedAt ? h('h1', headline(trouble)) : session.node && current.view());
  } catch (bug) {
    failed(bug, current);
  }
  element('main').className = trouble && 'stale';
  render(element('head'), header());
  render(element('notes'), notes());
  paintDialog();
}

function header() {
  const search = t`Find a message id|查找消息 ID`;
  return [
    h('a.brand', {href: '#/' + home()}, h('img', {src: 'icon.svg', alt: '', width: 18, height: 18}), 'easykit'),
    session.label && h('span.label', visible(session.label)),
    h('nav.main', {'aria-label': t`Pages of the console|控制台页面`}, NAV.filter(([name]) => has(name)).map(([name, text, inner]) =>
      h('a', {href: '#/' + name, 'aria-current': [name, ...inner.split(' ')].includes(current.name) && 'page'}, text))),
    has('find') && h('form.find', {role: 'search', onsubmit: e => {
      e.preventDefault();
      const id = e.target.elements.id.value.trim();
      if (id) {
        location.hash = link('find', {id});
      }
    }}, h('input', {type: 'search', name: 'id', placeholder: search, 'aria-label': search, maxlength: 256})),
    h('div.tools',
      session.links?.map(one => h('a', {href: one.href, rel: 'noreferrer'}, visible(one.label))),
      button([h('span.dot', {class: trouble ? 'off' : live && 'on'}), 
        trouble ? trouble.status === 0 || trouble.status >= 500 ? t`No answer|无响应` : t`Error|出错` : live ? t`Live|实时` : t`Stopped|已停止`], () => {
        live = !live;
        load();
      }, 'plain', {title: t`Refresh every 2 s|每 2 秒刷新`}),
      button(zone(), () => {
        storage.easykitUtc = storage.easykitUtc ? '' : 'yes';
        paint();
      }, 'plain', {title: t`Local time or UTC|本地时间或 UTC`}),
      button(t`中文|English`, () => {
        storage.easykitLang = t`zh-CN|en`;
        location.reload();
      }, 'plain', {lang: t`zh-CN|en`}),
      button('?', help, 'plain', {'aria-label': t`Keys|快捷键`})),
  ];
}

function notes() {
  const waits = asked && performance.now() - asked;
  const age = duration(performance.now() - loadedAt);
  return [
    session.openTo === 'everyone' && note('warn', t`Open to everyone by easykit.console.open-to.|所有人可用:easykit.console.open-to。`),
    session.readOnly && note('idle', t`Read-only by easykit.console.access.|只读:easykit.console.access。`),
    trouble ? note('bad', h('strong', {role: 'alert'}, headline(trouble)), failure(trouble), ' ', loadedAt > 0 && t`The numbers are ${age} old. |数据是 ${age} 前的。`,
      trouble.status === 401 ? button(t`Log in|登录`, () => location.reload()) : !isFinal(trouble) && t`Trying again every 2 s.|每 2 秒重试。`)
      : waits > EVERY && note('warn', t`No answer for ${duration(waits)}.|已 ${duration(waits)} 没有响应。`),
    notice && note(notice.kind, notice.text, button('✕', () => {
      notice = null;
      paint();
    }, 'plain', {'aria-label': t`Dismiss|关闭`})),
  ];
}

const help = () => openDialog({
  title: t`Keys|快捷键`,
  view: () => [
    Object.entries(KEYS).map(([key, [text]]) => h('p', h('kbd', key), ' ', text)),
    h('label.check', h('input', {type: 'checkbox', checked: !storage.easykitNoKeys, onchange: e => {
      storage.easykitNoKeys = e.target.checked ? '' : 'yes';
    }}), t`Keys are on|启用快捷键`),
    h('p.dim', [session.user, session.node, 'Redis ' + clock(now()), ...Object.entries(session.versions || {}).map(pair => pair.join(' '))]
      .filter(Boolean).map(visible).join(' · ')),
  ],
});

const KEYS = {
  '/': [t`Search|搜索`, () => (document.querySelector('#main [type=search]') || document.querySelector('.find input'))?.focus()],
  j: [t`Next row|下一行`, () => move(1)],
  k: [t`Previous row|上一行`, () => move(-1)],
  x: [t`Select the row|选中该行`, () => document.activeElement.closest('tr')?.querySelector('[type=checkbox]')?.click()],
  r: [t`Refresh now|立即刷新`, load],
  '?': [t`This help|本帮助`, help],
};

function move(step) {
  const rows = [...document.querySelectorAll('#main tbody tr')];
  const at = rows.indexOf(document.activeElement.closest('tr')) + step;
  const row = rows[Math.min(rows.length - 1, Math.max(0, at))];
  (row?.querySelector('a') || row?.querySelector('button, input'))?.focus();
}

document.addEventListener('keydown', e => {
  const typing = e.target.closest('input:not([type=checkbox]), textarea, select');
  if (KEYS[e.key] && !storage.easykitNoKeys && !typing && !dialogOpen() && !e.ctrlKey && !e.metaKey && !e.altKey) {
    e.preventDefault();
    KEYS[e.key][1]();
  }
});
addEventListener('hashchange', open);
document.addEventListener('visibilitychange', () => document.hidden || load());
element('skip').onclick = e => {
  e.preventDefault();
  element('main').focus();
};
// Countdowns and ages go on between two refreshes.
setInterval(() => document.hidden || paint(), 1000);

document.documentElement.lang = lang;
open();
