// Dialogs that change messages. Each names the messages and the state they were seen in, so that a list which has moved
// meanwhile cannot hit others.

import {h} from './dom.js';
import {address, get, has, post} from './api.js';
import {number, t, visible} from './text.js';
import {
  ask, button, chip, failure, field, input, link, noteField, openDialog, page, paintDialog, raw, select,
} from './parts.js';

const deaths = rows => rows.map(row => ({id: row.id, diedAt: row.at}));
const targets = rows => rows.map(row => ({id: row.id, incarnation: row.incarnation}));
const counted = (rows, one, many) => (rows.length === 1 ? t(one) : t(many, {n: number(rows.length)}));

/** Says what was done, and why some messages were left out. */
const tell = (text, done) => reply => {
  const missed = reply.missed || [];
  done?.();
  page.say(t(text, {n: number(reply.moved)})
    + (missed.length ? ' ' + t('Left out: {list}.', {list: missed.slice(0, 3).map(m => visible(m.id) + ' (' + t(m.why) + ')').join(', ')
      + (missed.length > 3 ? ', …' : '')}) : ''), missed.length ? 'warn' : 'good');
};

export const sendBackDialog = (topic, rows, done) => ask({
  title: counted(rows, 'Send back 1 message', 'Send back {n} messages'), rows,
  text: 'They are due at once, with all their attempts. Errors and delivery numbers are kept.',
  submit: 'Send back', path: 'redrive', body: () => ({topic, deaths: deaths(rows)}), said: tell('Sent back: {n}.', done),
});

export const purgeDialog = (topic, rows, done) => ask({
  title: counted(rows, 'Purge 1 dead letter', 'Purge {n} dead letters'), rows, typed: topic, danger: true,
  text: 'They are removed for good. Nothing can bring them back.',
  submit: 'Purge', path: 'purge', body: () => ({topic, deaths: deaths(rows)}), said: tell('Purged: {n}.', done),
});

export const cancelDialog = (topic, rows, done) => ask({
  title: counted(rows, 'Cancel 1 message', 'Cancel {n} messages'), rows, danger: true,
  text: 'They are removed and will not run.',
  submit: counted(rows, 'Cancel the message', 'Cancel the messages'), path: 'cancel',
  body: () => ({topic, targets: targets(rows)}), said: tell('Cancelled: {n}.', done),
});

const UNITS = {s: 1000, min: 60000, h: 3600000, d: 86400000};

export const rescheduleDialog = (topic, rows, done, atOnce) => ask({
  title: t(atOnce ? 'Run now' : 'Reschedule'), rows, text: atOnce && 'They become due at once.',
  state: {amount: '10', unit: 'min'},
  more: state => !atOnce && h('div.pair', null,
    field('Due in', input(state, 'amount', {type: 'number', min: '0', 'data-first': true})),
    field('Unit', select(state, 'unit', {s: 'seconds', min: 'minutes', h: 'hours', d: 'days'}))),
  ready: state => atOnce || Number(state.amount) >= 0 && state.amount !== '',
  submit: atOnce ? 'Run now' : 'Reschedule', path: 'reschedule',
  body: state => ({topic, targets: targets(rows), delay: atOnce ? 0 : Math.round(Number(state.amount) * UNITS[state.unit])}),
  said: tell('Rescheduled: {n}.', done),
});

const scopeText = scope => (scope.error
  ? h('p', null, t('Group: '), raw(scope.error, 'mono')) : h('p', null, t('All dead letters of '), raw(scope.topic, 'mono'), '.'));

const selected = scope => (scope.group ? {group: scope.group} : {all: true});

const toJob = reply => {
  location.hash = link('job', {id: reply.id});
};

/** Purges a group or all dead letters of a topic. */
export const purgeAll = scope => ask({
  title: t('Purge {n} dead letters', {n: number(scope.total)}), typed: scope.topic, danger: true,
  more: () => [scopeText(scope), h('p', null, t('They are removed for good. Nothing can bring them back.'), ' ',
    has('export') && h('a', {href: address('export', {topic: scope.topic, place: 'dead', group: scope.group}), download: ''}, t('Export them first')))],
  submit: t('Purge {n}', {n: number(scope.total)}), path: 'jobs',
  body: () => ({topic: scope.topic, action: 'purge', select: selected(scope)}), said: toJob,
});

/**
 * Sends back a group or all dead letters of a topic. It begins with a trial: the oldest message goes first and is watched
 * until it is gone or dead again.
 */
export function redriveAll(scope) {
  const state = {perSecond: '50', stopAt: '20', trial: null, watching: false, open: true};
  const rest = () => scope.total - (state.trial ? 1 : 0);
  openDialog({
    title: t('Send back {n} dead letters', {n: number(scope.total)}),
    wide: true,
    view: () => [
      scopeText(scope),
      h('section.step', null, h('h3', null, t('1. Trial')),
        h('p', null, t('Sends back the oldest one and watches it, before the others follow.')),
        state.trial ? trialView(state.trial)
          : button('Send the oldest one', () => trial(scope, state), {class: 'strong', disabled: state.watching, 'data-first': true}),
        state.say && h('p.bad', {role: 'alert'}, state.say)),
      h('section.step', null, h('h3', null, t('2. The others')),
        h('div.pair', null,
          field('Messages a second', input(state, 'perSecond', {type: 'number', min: '1', max: '10000'})),
          field('Stop when so many have died again', input(state, 'stopAt', {type: 'number', min: '1'}))),
        noteField(state)),
    ],
    ready: () => state.perSecond >= 1 && state.stopAt >= 1 && rest() > 0 && !state.watching,
    get submit() {
      return state.trial ? t('Send the other {n}', {n: number(rest())}) : t('Send {n} without a trial', {n: number(scope.total)});
    },
    act: async () => toJob(await post('jobs', {
      topic: scope.topic, action: 'redrive', select: selected(scope), note: state.note,
      perSecond: Number(state.perSecond), stopAt: Number(state.stopAt), diedUntil: state.diedUntil,
    })),
    closed: () => {
      state.open = false;
    },
  });
}

const TRIAL = {
  watch: ['idle', 'Waiting for its run…'], run: ['idle', 'Running…'], gone: ['good', 'Ran, and is gone'],
  dead: ['bad', 'Failed again'], retry: ['warn', 'Failed, and waits for a retry'],
};

function trialView(one) {
  return h('div.trial', {role: 'status'},
    h('p', null, h('a', {href: link('message', {topic: one.topic, id: one.id}), target: '_blank'}, raw(one.id, 'mono')), ' ', chip(...TRIAL[one.state])),
    one.error && h('div.errors', null,
      h('div', null, h('h4', null, t('Before')), h('pre', null, visible(one.before || '–'))),
      h('div', null, h('h4', null, t('Now')), h('pre', null, visible(one.error)))));
}

async function trial(scope, state) {
  state.watching = true;
  state.say = null;
  paintDialog();
  try {
    const list = await get('messages', {topic: scope.topic, place: 'dead', order: 'oldest', size: 1, group: scope.group});
    const first = list.rows[0];
    // The others are those that are dead now: what dies from here on is not sent back a second time.
    state.diedUntil = list.now;
    const reply = first && await post('redrive', {topic: scope.topic, deaths: deaths([first]), note: state.note});
    if (!reply?.moved) {
      state.say = t(first ? 'The oldest one was sent back by somebody else. Try again.' : 'There is no dead letter any more.');
      return;
    }
    state.trial = {topic: scope.topic, id: first.id, before: first.error?.line, state: 'watch'};
    paintDialog();
    await watch(state);
  } catch (problem) {
    state.say = failure(problem);
  } finally {
    state.watching = false;
    paintDialog();
  }
}

async function watch(state) {
  const one = state.trial;
  while (state.open && !['gone', 'dead', 'retry'].includes(one.state)) {
    await new Promise(resolve => setTimeout(resolve, 1000));
    try {
      const {message: m} = await get('message', {topic: one.topic, id: one.id});
      one.state = m.place === 'dead' ? 'dead' : m.place === 'flight' ? 'run' : m.failures > 0 ? 'retry' : 'watch';
      one.error = ['dead', 'retry'].includes(one.state) ? m.lastError?.text : null;
    } catch (problem) {
      if (problem.status !== 404) {
        throw problem;
      }
      one.state = 'gone';
    }
    paintDialog();
  }
}

/** Edits the headers and the body of a dead letter and sends it back. */
export const editDialog = m => ask({
  title: [t('Edit and send back'), ' ', raw(m.id)], wide: true,
  state: {body: m.body.text, headers: m.headers.map(x => ({...x}))},
  text: 'The dead letter is replaced under the same id and is due at once. The audit keeps the old one.',
  more: state => [
    h('h3', null, t('Headers')),
    state.headers.map((one, i) => h('div.pair.header', {key: 'h' + i},
      input(one, 'name', {'aria-label': t('Name of header {n}', {n: i + 1})}),
      input(one, 'value', {'aria-label': t('Value of header {n}', {n: i + 1})}),
      button('Remove', () => {
        state.headers.splice(i, 1);
        paintDialog();
      }, {class: 'plain', 'aria-label': t('Remove header {n}', {n: i + 1})}))),
    button('Add a header', () => {
      state.headers.push({name: '', value: ''});
      paintDialog();
    }, {class: 'plain'}),
    h('h3', {id: 'edit-body'}, t('Body')),
    input(state, 'body', {class: 'mono', rows: '14', spellcheck: 'false', 'aria-labelledby': 'edit-body', 'data-first': true}, 'textarea')],
  submit: 'Replace and send back', path: 'replace',
  body: state => ({
    topic: m.topic, id: m.id, diedAt: m.at, body: state.body,
    headers: Object.fromEntries(state.headers.filter(x => x.name).map(x => [x.name, x.value])),
  }),
  said: () => page.say(t('Replaced and sent back.')),
});
