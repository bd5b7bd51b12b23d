// Parts that several pages use: links, tables, chips, charts, dialogs.

import {h, render} from './dom.js';
import {post} from './api.js';
import {ago, bytes, clock, fullTime, number, t, until, visible} from './text.js';

/** Redraws the page; set by console.js. */
export const page = {paint() {}, load() {}, say() {}};

export function link(name, params) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params || {})) {
    if (value !== null && value !== undefined && value !== '') {
      query.set(key, value);
    }
  }
  const text = query.toString();
  return '#/' + name + (text ? '?' + text : '');
}

/** Text of strangers, apart from what stands around it. */
export const raw = (text, css) => h('bdi', {class: css}, visible(text));

export const time = at =>
  at ? h('time', {datetime: new Date(at).toISOString(), title: fullTime(at) + ' · ' + ago(at)}, clock(at)) : '–';

export const countdown = at => (at ? h('span', {title: fullTime(at)}, until(at)) : '–');

export const chip = (kind, text, title) => h('span.chip.' + kind, {title}, word(text));

/** A text of ours is translated; elements stay as they are. */
const word = text => (typeof text === 'string' ? t(text) : text);

export const button = (text, onclick, props) => h('button', {type: 'button', onclick, ...props}, word(text));

export const danger = (text, onclick, props) => button(text, onclick, {class: 'danger', ...props});

/** Says that there is nothing to show. */
export const empty = text => h('p.empty', null, word(text));

/** What a message looks like at a glance. */
export function preview(row) {
  if (row.preview === null || row.preview === undefined) {
    return h('span.dim', null, bytes(row.size), row.hidden ? ' · ' + t('hidden') : '');
  }
  return h('span.mono.cut', null, raw(row.preview));
}

export const col = (head, cell, css, more) => ({
  head: t(head), css, cell: typeof cell === 'string' ? row => raw(row[cell] ?? '–') : cell, ...more,
});

export const num = (head, name, cell, more) => col(head, cell || (row => number(row[name])), 'num', {sort: name, ...more});

/** A column of buttons. */
export const acts = cell => ({head: h('span.hidden', null, t('Actions')), css: 'act', cell});

/**
 * A table that scrolls inside itself.
 *
 * columns: {head, css, cell(row), sort}; the first is the heading of its row.
 */
export function table(label, columns, rows, options = {}) {
  const shownColumns = columns.filter(Boolean);
  return h('div.scroll', {role: 'region', 'aria-label': t(label), tabindex: '0'},
    h('table', null,
      h('caption.hidden', null, t(label)),
      h('thead', null, h('tr', null, shownColumns.map(column => heading(column, options)))),
      h('tbody', null, rows.map(row =>
        h('tr', {key: options.key(row), class: options.css ? options.css(row) : null},
          shownColumns.map((column, i) => h(
            (i === (options.first || 0) ? 'th' : 'td') + (column.css ? '.' + column.css : ''),
            i === (options.first || 0) ? {scope: 'row'} : null, column.cell(row))))))));
}

function heading(column, options) {
  const sort = options.sort;
  if (!sort || !column.sort) {
    return h('th' + (column.css ? '.' + column.css : ''), {scope: 'col', title: column.title}, column.head);
  }
  const on = sort.by === column.sort;
  return h('th' + (column.css ? '.' + column.css : ''),
    {scope: 'col', title: column.title, 'aria-sort': on ? (sort.down ? 'descending' : 'ascending') : null},
    button([column.head, h('span.arrow', {'aria-hidden': 'true'}, on ? (sort.down ? '▾' : '▴') : '')], () => {
      sort.down = on ? !sort.down : column.css === 'num';
      sort.by = column.sort;
      page.paint();
    }, {class: 'plain'}));
}

/** A line of bars for numbers of equal steps. */
export function spark(values, label, css = '') {
  const known = values.filter(v => v !== null);
  const top = Math.max(...known, 1);
  const width = values.length * 2;
  const bars = values.map((v, i) => {
    const high = v ? Math.max(1, (v / top) * 20) : 0;
    return high ? `M${i * 2} 20v${-high.toFixed(1)}h1.4v${high.toFixed(1)}z` : '';
  });
  const last = known.length ? known[known.length - 1] : 0;
  return h('svg', {
    class: 'spark ' + css, viewBox: `0 0 ${width} 20`, preserveAspectRatio: 'none', role: 'img',
    'aria-label': label + ': ' + t('now {n}, highest {m}', {n: number(last), m: number(known.length ? Math.max(...known) : 0)}),
  }, h('path', {d: `M0 19.6h${width}v.4h-${width}z` + bars.join('')}));
}

/** A list of names and values. */
export const facts = list => h('dl.facts', null, list
  .filter(pair => pair && pair[1] !== null && pair[1] !== undefined)
  .map(([name, value]) => h('div', null, h('dt', null, word(name)), h('dd', null, value))));

export function copyButton(text, label) {
  return button(label || t('Copy'), async () => {
    try {
      await navigator.clipboard.writeText(text);
      page.say(t('Copied.'));
    } catch {
      page.say(t('The browser does not allow to copy here. Select the text instead.'), 'bad');
    }
  }, {class: 'plain'});
}

/** A failure in words: what happened, and what to do. */
export function failure(problem) {
  return [t(problem.message), problem.action ? ' ' + t(problem.action) : ''].join('');
}

// Selection of rows by their key.
export class Selection {
  constructor() {
    this.rows = new Map();
  }

  column(rows, key, name) {
    const all = rows.length > 0 && rows.every(row => this.rows.has(key(row)));
    const some = rows.some(row => this.rows.has(key(row)));
    return {
      css: 'tick',
      head: h('input', {
        type: 'checkbox', checked: all, indeterminate: some && !all, 'aria-label': t('Select all of this page'),
        onchange: e => {
          rows.forEach(row => (e.target.checked ? this.rows.set(key(row), row) : this.rows.delete(key(row))));
          page.paint();
        },
      }),
      cell: row => h('input', {
        type: 'checkbox', checked: this.rows.has(key(row)), 'aria-label': t('Select {id}', {id: visible(name(row))}),
        onchange: e => {
          if (e.target.checked) {
            this.rows.set(key(row), row);
          } else {
            this.rows.delete(key(row));
          }
          page.paint();
        },
      }),
    };
  }

  get size() {
    return this.rows.size;
  }

  list() {
    return [...this.rows.values()];
  }

  clear() {
    this.rows.clear();
  }
}

// One dialog at a time.
let shown = null;

export const dialogOpen = () => shown !== null;

export function paintDialog() {
  const element = document.getElementById('dialog');
  if (shown) {
    render(element, h('form', {
      key: shown.id, class: shown.wide ? 'large' : null,
      onsubmit: e => {
        e.preventDefault();
        run(shown);
      },
    },
    h('h2', {id: 'dialog-title'}, shown.title),
    h('div.body', null, shown.view()),
    shown.problem && h('p.bad', {role: 'alert'}, failure(shown.problem)),
    h('div.buttons', null,
      button(shown.submit ? t('Cancel') : t('Close'), closeDialog, {disabled: shown.busy && !shown.leave}),
      shown.submit && h('button', {
        class: shown.danger ? 'danger strong' : 'strong', disabled: shown.busy || (shown.ready && !shown.ready()),
      }, shown.busy ? t('Working…') : word(shown.submit)))));
  }
}

async function run(dialog) {
  if (!dialog.submit || dialog.busy || (dialog.ready && !dialog.ready())) {
    return;
  }
  dialog.busy = true;
  dialog.problem = null;
  paintDialog();
  try {
    if ((await dialog.act()) !== false && shown === dialog) {
      closeDialog();
    }
  } catch (problem) {
    dialog.problem = problem;
  }
  dialog.busy = false;
  paintDialog();
  page.load();
}

let count = 0;

/**
 * Opens a dialog: {title, view(), submit, act(), ready(), danger, wide, closed()}. act returns false to stay open.
 */
export function openDialog(dialog) {
  const element = document.getElementById('dialog');
  shown = Object.assign(dialog, {id: ++count});
  element.onclose = () => {
    const before = shown;
    shown = null;
    render(element);
    if (before && before.closed) {
      before.closed();
    }
    page.paint();
  };
  paintDialog();
  element.showModal();
  const first = element.querySelector('[data-first]') || element.querySelector('input, textarea, select');
  if (first) {
    first.focus();
  }
}

export function closeDialog() {
  document.getElementById('dialog').close();
}

/** An input with its label. */
export function field(label, control, hint) {
  return h('label.field', null, h('span', null, word(label)), control, hint && h('small', null, t(hint)));
}

/** An input that keeps its text in a state. */
export const input = (state, name, props, tag = 'input') => h(tag, {
  type: tag === 'input' ? 'text' : null, autocomplete: 'off', value: state[name] || '', ...props,
  oninput: e => {
    state[name] = e.target.value;
    paintDialog();
  },
});

/** A choice that is kept in a state. */
export const select = (state, name, options, changed = paintDialog, props) => h('select', {
  ...props, value: state[name], onchange: e => {
    state[name] = e.target.value;
    changed();
  },
}, Object.entries(options).map(([value, text]) => h('option', {value}, t(text))));

/** A field for the reason, which the audit keeps. */
export const noteField = state => field('Note for the audit (optional)', input(state, 'note', {maxlength: '200'}));

/**
 * Asks before a change: {title, rows, text, more(state), typed, submit, danger, path, body(state), said}. The name in
 * "typed" must be typed to confirm.
 */
export function ask(o) {
  const state = o.state || {};
  openDialog({
    ...o,
    view: () => [
      o.rows && h('ul.ids', null,
        o.rows.slice(0, 5).map(row => h('li', {key: row.id}, raw(row.id, 'mono'))),
        o.rows.length > 5 && h('li.dim', null, t('and {n} more', {n: number(o.rows.length - 5)}))),
      o.text && h('p', null, word(o.text)),
      o.more?.(state),
      o.typed && field(h('span', null, t('Type the name to confirm: '), raw(o.typed, 'mono')),
        input(state, 'typed', {spellcheck: 'false', 'data-first': true})),
      noteField(state),
    ],
    ready: () => (!o.typed || state.typed === o.typed) && (!o.ready || o.ready(state)),
    async act() {
      const reply = await post(o.path, {...o.body(state), note: state.note, confirm: state.typed});
      if (typeof o.said === 'string') {
        page.say(o.said);
      } else {
        o.said(reply);
      }
    },
  });
}

/** Newer and older, by cursors. */
export function pager(state, next) {
  return h('nav.pager', {'aria-label': t('Pages')},
    button('First', () => turn(state, []), {disabled: !state.stack.length}),
    button('Previous', () => turn(state, state.stack.slice(0, -1)), {disabled: !state.stack.length}),
    button('Next', () => turn(state, [...state.stack, next]), {disabled: !next}));
}

function turn(state, stack) {
  state.stack = stack;
  state.selection?.clear();
  page.load();
}

export const after = state => state.stack[state.stack.length - 1];
