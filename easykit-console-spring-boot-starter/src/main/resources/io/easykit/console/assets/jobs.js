// Long work that any node can show, stop and continue: search, groups, sending back, purging.

import {h} from './dom.js';
import {can, get, post} from './api.js';
import {ago, duration, now, number, t, visible} from './text.js';
import {button, chip, col, empty, facts, field, input, link, openDialog, page, raw, table, time} from './parts.js';

const ACTIONS = {search: 'Search', redrive: 'Send back', purge: 'Purge'};
const STATES = {running: ['good', 'Running'], stopped: ['warn', 'Stopped'], done: ['idle', 'Done'], failed: ['bad', 'Failed']};

const state = one => chip(STATES[one.state][0], t(STATES[one.state][1]));

/** How far a job is. */
export function progress(one) {
  return h('span.progress', null, state(one), ' ',
    h('progress', {max: String(one.total || 1), value: one.state === 'done' ? one.total || 1 : one.scanned, 'aria-label': t('Progress')}), ' ',
    h('span.dim', null, t('{n} of {m}', {n: number(one.scanned), m: number(one.total)}), ' · ', ago(one.endedAt || one.startedAt)));
}

export function searchDialog(topic, place) {
  const wanted = {text: '', in: ['id']};
  const box = (name, text) => h('label.check', null, h('input', {
    type: 'checkbox', checked: wanted.in.includes(name), onchange: e => {
      wanted.in = e.target.checked ? [...wanted.in, name] : wanted.in.filter(x => x !== name);
    },
  }), text);
  openDialog({
    title: ['Search in', ' ', raw(topic)],
    view: () => [
      field('Text', input(wanted, 'text', {maxlength: '200', 'data-first': true, required: true}), 'Part of the text, with exact capitals'),
      h('fieldset', null, h('legend', null, t('Where')), box('id', t('Id')), box('error', t('Error')), box('header', t('Headers')), box('body', t('Body'))),
    ],
    submit: 'Search',
    async act() {
      const reply = await post('jobs', {topic, action: 'search', place, text: wanted.text, in: wanted.in});
      location.hash = link('job', {id: reply.id});
    },
  });
}

const who = one => [raw(one.by || '–'), one.node ? h('span.dim', null, ' · ', raw(one.node)) : null];

export function jobs(params) {
  let data = null;
  return {
    title: () => t('Jobs'),
    ready: () => data,
    async load() {
      data = await get('jobs', {topic: params.get('topic')});
    },
    view: () => [
      h('div.title', null, h('h1', null, t('Jobs'))),
      !data ? empty('Loading…') : !data.jobs.length ? empty('No jobs in the last 24 hours.') : table('Jobs', [
        col('Job', one => h('a', {href: link('job', {id: one.id})}, t(ACTIONS[one.action]))),
        col('Topic', one => raw(one.topic), 'name'),
        col('State', progress),
        col('Result', result),
        col('By', who),
        col('Began', one => time(one.startedAt)),
      ], data.jobs, {key: one => one.id}),
    ],
  };
}

function result(one) {
  const text = {
    search: () => t('{n} found', {n: number(one.matches?.length ?? one.done)}),
    redrive: () => t('{n} sent back', {n: number(one.done)}),
    purge: () => t('{n} purged', {n: number(one.done)}),
  }[one.action]();
  return [text, one.diedAgain ? h('span.hot', null, ' · ' + t('{n} died again', {n: number(one.diedAgain)})) : null,
    one.missed ? h('span.dim', null, ' · ' + t('{n} left out', {n: number(one.missed)})) : null];
}

export function job(params) {
  const id = params.get('id');
  let one = null;
  const act = async verb => {
    try {
      await post('jobs/' + verb, {id});
    } catch (problem) {
      page.say(problem.message, 'bad');
    }
    page.load();
  };
  return {
    title: () => (one ? t(ACTIONS[one.action]) : t('Job')),
    ready: () => one,
    async load() {
      one = (await get('job', {id})).job;
    },
    view: () => (one ? [
      h('div.title', null,
        h('nav.crumbs', {'aria-label': t('Path')}, h('a', {href: '#/jobs'}, t('Jobs')), ' › '),
        h('h1', null, t(ACTIONS[one.action]), ' ', raw(one.topic)), h('span.grow'),
        can('jobs') && one.state === 'running' && button('Stop', () => act('stop'), {class: 'danger strong'}),
        can('jobs') && one.state === 'stopped' && button('Continue', () => act('continue'), {class: 'strong'})),
      one.why && h('p.note', {class: one.state === 'failed' ? 'bad' : 'warn'}, visible(one.why)),
      h('p', null, progress(one)),
      facts([
        ['Result', result(one)], ['By', who(one)],
        ['Began', time(one.startedAt)],
        ['Took', duration((one.endedAt || now()) - one.startedAt)],
        one.text ? ['Text', raw(one.text, 'mono')] : null,
        one.group ? ['Group', raw(one.group, 'mono')] : null,
        one.perSecond ? ['Messages a second', number(one.perSecond)] : null,
        one.stopAt ? ['Stops when so many died again', number(one.stopAt)] : null,
        one.note ? ['Note', raw(one.note)] : null,
      ]),
      one.action === 'search' && found(one),
      one.action === 'redrive' && h('p', null, h('a', {href: link('topic', {topic: one.topic, tab: 'dead'})}, t('Dead letters of the topic'))),
    ] : empty('Loading…')),
  };
}

function found(one) {
  return one.matches?.length ? table('Messages', [
    col('Id', row => h('a', {href: link('message', {topic: one.topic, id: row.id})}, raw(row.id, 'mono')), 'name'),
    col('Time', row => time(row.at)),
    col('Found in', row => t({id: 'Id', error: 'Error', header: 'Headers', body: 'Body'}[row.where] || row.where)),
  ], one.matches, {key: row => row.id}) : one.state === 'done' && empty('Nothing was found.');
}
