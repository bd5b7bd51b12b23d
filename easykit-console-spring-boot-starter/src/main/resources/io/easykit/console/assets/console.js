// Start, header, routes, refreshing, keys.

import {h, render} from './dom.js';
import {get, has, openSession, Problem, session} from './api.js';
import {clock, duration, setLanguage, settings, store, t, visible, zone} from './text.js';
import {button, closeDialog, dialogOpen, empty, failure, link, openDialog, page, paintDialog} from './parts.js';
import {queues} from './queues.js';
import {topic} from './topic.js';
import {find, message} from './message.js';
import {job, jobs} from './jobs.js';
import {caches, explain} from './caches.js';
import {audit, nodes} from './fleet.js';

const EVERY = 2000;
const ROUTES = {queues, topic, message, find, jobs, job, caches, explain, nodes, audit};
const NAV = [
  ['queues', 'Queues', 'queues'], ['caches', 'Caches', 'caches'], ['explain', 'Explain', 'explain'],
  ['jobs', 'Jobs', 'jobs'], ['nodes', 'Nodes', 'nodes'], ['audit', 'Audit', 'audit'],
];

let current = {name: '', view: () => empty('Loading…'), title: () => ''};
let live = true;
let trouble = null;
let loadedAt = 0;
let waitsSince = 0;
let loading = null;
let again = false;
let timer = 0;
let notice = null;

page.paint = paint;
page.load = load;
page.say = (text, kind = 'good') => {
  notice = {text, kind};
  document.getElementById('said').textContent = text;
  paint();
};

function home() {
  return (NAV.find(([, , feature]) => has(feature)) || NAV[0])[0];
}

function go() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const name = path || home();
  const params = new URLSearchParams(query || '');
  const make = ROUTES[name];
  const before = current;
  // The same page with other parameters keeps what it has, for example the numbers of a topic when its list changes.
  current = make
    ? make(params, before.name === name ? before : null)
    : {title: () => t('Unknown page'), view: () => empty('There is no such page.')};
  current.name = name;
  loadedAt = 0;
  notice = null;
  if (dialogOpen()) {
    closeDialog();
  }
  paint();
  if (before.name && before.name !== name) {
    document.getElementById('main').focus({preventScroll: true});
    scrollTo(0, 0);
  }
  load();
}

/** Reads what the page shows. While one reply is awaited, a second call waits for its turn. */
async function load() {
  if (loading) {
    again = true;
    return loading;
  }
  clearTimeout(timer);
  waitsSince = performance.now();
  loading = attempt();
  await loading;
  loading = null;
  waitsSince = 0;
  paint();
  if (again) {
    again = false;
    return load();
  }
  schedule();
}

async function attempt() {
  const wanted = current;
  try {
    const opened = !session.current;
    if (opened) {
      await openSession();
      if (!location.hash) {
        current = ROUTES[home()](new URLSearchParams(), null);
        current.name = home();
      }
    }
    const target = opened ? current : wanted;
    if (target.load) {
      await target.load();
    }
    if (target === current) {
      trouble = null;
      loadedAt = performance.now();
    }
  } catch (problem) {
    if (!(problem instanceof Problem)) {
      throw problem;
    }
    if (wanted === current || !session.current) {
      trouble = {problem, since: trouble && trouble.problem.kind === problem.kind ? trouble.since : performance.now()};
    }
  }
}

function schedule() {
  clearTimeout(timer);
  if (!document.hidden && live && current.live !== false) {
    timer = setTimeout(() => (dialogOpen() || current.held?.() ? schedule() : load()), EVERY);
  } else if (trouble && !document.hidden) {
    timer = setTimeout(load, EVERY);
  }
}

function paint() {
  const s = session.current;
  const stale = Boolean(trouble && loadedAt);
  document.title = (current.title() ? visible(current.title()) + ' · ' : '') + 'easykit' + (s?.label ? ' ' + s.label : '');
  document.body.className = 'mark-' + (s?.color || 'none');
  document.getElementById('skip').textContent = t('Skip to content');
  render(document.getElementById('head'), header(s));
  render(document.getElementById('notes'), notes(s, stale));
  const main = document.getElementById('main');
  main.classList.toggle('stale', stale);
  render(main, trouble && !loadedAt && !current.ready?.() ? first(trouble.problem) : current.view());
  paintDialog();
}

function header(s) {
  return [
    h('div.brand', null,
      h('a', {href: '#/' + home()}, h('img', {src: 'icon.svg', alt: '', width: '18', height: '18'}), 'easykit'),
      s?.label && h('span.label', null, visible(s.label))),
    h('nav.main', {'aria-label': t('Pages of the console')}, NAV.filter(([, , feature]) => has(feature)).map(([name, text]) =>
      h('a', {href: '#/' + name, 'aria-current': selected(name) ? 'page' : null}, t(text)))),
    has('find') && h('form.find', {
      role: 'search',
      onsubmit: e => {
        e.preventDefault();
        const id = e.target.elements.id.value.trim();
        if (id) {
          location.hash = link('find', {id});
        }
      },
    }, h('input', {type: 'search', name: 'id', placeholder: t('Find a message id'), 'aria-label': t('Find a message id'), maxlength: '200'})),
    h('div.tools', null,
      s?.links?.map(l => h('a', {href: l.href, rel: 'noreferrer'}, visible(l.label))),
      button([h('span.dot', {class: trouble ? 'off' : live ? 'on' : 'idle', 'aria-hidden': 'true'}),
        trouble ? t('No answer') : live ? t('Live') : t('Stopped')],
      () => {
        live = !live;
        paint();
        load();
      }, {class: 'plain', 'aria-pressed': String(live), title: t('Refresh every 2 s')}),
      button(zone(), () => {
        settings.utc = !settings.utc;
        store('utc', settings.utc ? '1' : '0');
        paint();
      }, {class: 'plain', 'aria-label': t('Times in {zone}. Switch between local time and UTC', {zone: zone()})}),
      button(settings.lang === 'en' ? '中文' : 'English', async () => {
        await setLanguage(settings.lang === 'en' ? 'zh-CN' : 'en');
        store('lang', settings.lang);
        paint();
      }, {class: 'plain', lang: settings.lang === 'en' ? 'zh-CN' : 'en'}),
      button('?', help, {class: 'plain', 'aria-label': t('Keys and help')})),
  ];
}

function selected(name) {
  return current.name === name || (name === 'queues' && ['topic', 'message', 'find'].includes(current.name))
    || (name === 'jobs' && current.name === 'job');
}

function notes(s, stale) {
  const waits = waitsSince > 0 && performance.now() - waitsSince > 2500;
  return [
    s?.openTo === 'everyone' && h('p.note.warn', {key: 'open'},
      t('This console is open to everyone who reaches this port. Add Spring Security, or set easykit.console.open-to=loopback.')),
    s?.readOnly && h('p.note', {key: 'read'}, t('Read-only: easykit.console.access is read-only.')),
    trouble && (stale || current.ready?.()) && h('p.note.bad', {key: 'trouble', role: 'alert'},
      h('strong', null, headline(trouble.problem)), ' ', failure(trouble.problem), ' ',
      stale && t('The numbers are {d} old.', {d: duration(performance.now() - loadedAt)}), ' ',
      trouble.problem.status === 401
        ? h('a', {href: location.pathname, onclick: () => setTimeout(() => location.reload())}, t('Load the page again'))
        : t('Trying again every 2 s.')),
    !trouble && waits && h('p.note.warn', {key: 'waits'},
      t('No answer for {d}.', {d: duration(performance.now() - waitsSince)})),
    notice && h('p.note', {key: 'notice', class: notice.kind},
      notice.text, button('Dismiss', () => {
        notice = null;
        paint();
      }, {class: 'plain'})),
  ];
}

function headline(problem) {
  return {redis: t('Redis does not answer.'), node: t('No connection.'), login: t('Not logged in.')}[problem.kind] || t('Not available.');
}

function first(problem) {
  return h('section.first', null, h('h1', null, headline(problem)), h('p', null, failure(problem)),
    problem.status === 401 || problem.status === 403 ? null : h('p.dim', null, t('Trying again every 2 s.')));
}

const KEYS = [
  ['/', 'Search'], ['j', 'Next row'], ['k', 'Previous row'], ['x', 'Select the row'], ['Enter', 'Open the row'],
  ['r', 'Refresh now'], ['?', 'This help'], ['Esc', 'Close a dialog'],
];

function help() {
  const s = session.current;
  openDialog({
    title: t('Keys and help'),
    view: () => [
      h('dl.keys', null, KEYS.map(([key, text]) => h('div', null, h('dt', null, h('kbd', null, key)), h('dd', null, t(text))))),
      h('label.check', null, h('input', {
        type: 'checkbox', checked: settings.keys, onchange: e => {
          settings.keys = e.target.checked;
          store('keys', settings.keys ? '1' : '0');
        },
      }), t('Keys of one letter are on')),
      s && h('p.dim', null, t('{user} on node {node}, {access}. Redis time {time}.', {
        user: visible(s.user || t('Anyone')), node: visible(s.node), time: clock(Date.now()),
        access: s.actions.length ? t('may change things') : t('may look only'),
      })),
      s && h('p.dim', null, Object.entries(s.versions || {}).map(([name, v]) => name + ' ' + v).join(' · ')),
    ],
  });
}

function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || dialogOpen() || !settings.keys) {
    return;
  }
  if (e.target.closest('input:not([type=checkbox]), textarea, select')) {
    return;
  }
  if (e.key === '/') {
    e.preventDefault();
    (document.querySelector('#main [data-search]') || document.querySelector('.find input'))?.focus();
  } else if (e.key === 'j' || e.key === 'k') {
    move(e.key === 'j' ? 1 : -1);
  } else if (e.key === 'x') {
    document.activeElement.closest('tr')?.querySelector('input[type=checkbox]')?.click();
  } else if (e.key === 'r') {
    load();
  } else if (e.key === '?') {
    help();
  }
}

function move(step) {
  const rows = [...document.querySelectorAll('#main tbody tr')].filter(row => row.querySelector('a, button, input'));
  const at = rows.indexOf(document.activeElement.closest?.('tr'));
  const row = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
  if (row) {
    (row.querySelector('a') || row.querySelector('button, input')).focus();
    row.scrollIntoView({block: 'nearest'});
  }
}

addEventListener('hashchange', go);
document.addEventListener('keydown', onKey);
document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : load()));
document.getElementById('skip').addEventListener('click', e => {
  e.preventDefault();
  document.getElementById('main').focus();
});
// Countdowns and ages go on between two refreshes.
setInterval(() => {
  if (!document.hidden) {
    paint();
  }
}, 1000);

await setLanguage(settings.lang);
go();
