// The page of the shop. All text is set as text, so nothing that a customer types can become markup.

const FAULTS = {WAREHOUSE: 'warehouse is full', PRICING: 'no exchange rate', CARRIER: 'carrier does not reply'};
const STATES = {PENDING_PAYMENT: 'not paid', PAID: 'paid', CLOSED: 'closed'};

const at = id => document.getElementById(id);
const rows = new Map();
let names = new Map();
const faultBoxes = new Map();
let orders = [];
let clock = 0;
let hasConsole = false;
let hasProducts = false;

function element(name, text, classes) {
  const made = document.createElement(name);
  if (text !== undefined) {
    made.textContent = text;
  }
  if (classes) {
    made.className = classes;
  }
  return made;
}

function button(text, label, action) {
  const made = element('button', text);
  made.type = 'button';
  made.setAttribute('aria-label', label);
  made.addEventListener('click', () => busy(made, action));
  return made;
}

async function busy(control, action) {
  control.disabled = true;
  try {
    await action();
  } catch (error) {
    notice(error.message);
  } finally {
    control.disabled = false;
  }
}

function notice(text) {
  at('notice').textContent = text || '';
  at('notice').hidden = !text;
}

function badge(id, text, kind) {
  at(id).textContent = text;
  at(id).className = 'badge ' + (kind || '');
}

async function call(method, path, body) {
  let reply;
  try {
    reply = await fetch(path, {
      method,
      headers: body === undefined ? {} : {'Content-Type': 'application/json'},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error('The shop does not answer. Is it running?');
  }
  const type = reply.headers.get('Content-Type') || '';
  const data = type.includes('json') ? await reply.json() : null;
  if (!reply.ok && reply.status !== 409 || reply.status === 409 && data && data.detail) {
    throw new Error((data && data.detail) || method + ' ' + path + ' was answered with ' + reply.status + '.');
  }
  return {data, source: reply.headers.get('X-Shop-Source')};
}

// Products

function productRow(id) {
  const row = element('tr');
  const name = element('td');
  const price = element('input');
  price.type = 'number';
  price.min = '0';
  price.step = '0.01';
  const source = element('span', 'not read yet', 'badge');
  const cells = [name, element('td'), element('td'), element('td')];
  cells[1].append(price);
  cells[2].append(source);
  const known = {name, price, source, changed: false};
  price.addEventListener('input', () => { known.changed = true; });
  price.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      busy(save, () => saveProduct(id));
    }
  });
  const save = button('Save', 'Save the price of product ' + id, () => saveProduct(id));
  cells[3].append(save, ' ', button('Read', 'Read product ' + id, () => readProduct(id)));
  row.append(...cells);
  rows.set(id, known);
  return row;
}

async function readProduct(id) {
  const {data, source} = await call('GET', 'products/' + id);
  const row = rows.get(id);
  row.name.textContent = data.name;
  row.price.setAttribute('aria-label', 'Price of ' + data.name);
  if (!row.changed) {
    row.price.value = data.price.toFixed(2);
  }
  row.source.textContent = 'from ' + source;
  row.source.className = 'badge ' + (source === 'cache' ? 'good' : 'warn');
  names.set(id, data.name);
}

async function saveProduct(id) {
  const row = rows.get(id);
  await call('PUT', 'products/' + id, {name: names.get(id), price: Number(row.price.value)});
  row.changed = false;
  row.source.textContent = 'changed: read it';
  row.source.className = 'badge';
  notice('');
}

async function readAll() {
  await Promise.all([...rows.keys()].map(readProduct));
  notice('');
}

async function showProducts() {
  const {data} = await call('GET', 'products');
  at('products').replaceChildren(...data.map(productRow));
  await readAll();
  at('product').replaceChildren(...data.map(id => {
    const option = element('option', names.get(id));
    option.value = id;
    return option;
  }));
  hasProducts = true;
}

// Orders

function left(order) {
  return Math.ceil((Date.parse(order.expiresAt) - Date.now() - clock) / 1000);
}

function state(order) {
  const seconds = left(order);
  if (order.status !== 'PENDING_PAYMENT') {
    return [STATES[order.status], order.status === 'PAID' ? 'good' : ''];
  }
  if (seconds > 0) {
    return ['closes in ' + seconds + ' s', 'warn'];
  }
  return seconds > -5 ? ['is being closed', 'warn'] : ['cannot be closed', 'bad'];
}

function orderRow(order) {
  const row = element('tr');
  const [text, kind] = state(order);
  const shown = element('td');
  shown.append(element('span', text, 'badge ' + kind));
  if (order.fault) {
    shown.append(' ', element('span', 'fails: ' + FAULTS[order.fault], 'dim'));
  }
  const actions = element('td');
  if (order.status === 'PENDING_PAYMENT' && order.fault && left(order) <= 0 && hasConsole) {
    const link = element('a', 'its message');
    link.href = 'easykit/#/message?' + new URLSearchParams({topic: 'order-close', id: order.id});
    actions.append(link, ' ');
  }
  if (order.status === 'PENDING_PAYMENT') {
    actions.append(button('Pay', 'Pay order ' + order.id.slice(0, 8), async () => {
      await call('POST', 'orders/' + order.id + '/pay');
      await refresh();
    }));
  }
  const id = element('td', order.id.slice(0, 8), 'id');
  id.title = order.id;
  row.append(id, element('td', order.quantity + ' × ' + (names.get(order.productId) || order.productId)), shown, actions);
  return row;
}

let shownOrders = '';

/** Rows are made anew only if a text has changed, so that the focus stays where it is. */
function showOrders() {
  const wanted = JSON.stringify([orders.map(order => [order.id, ...state(order)]), [...names], hasConsole]);
  if (wanted === shownOrders) {
    return;
  }
  shownOrders = wanted;
  const focused = [...at('orders').querySelectorAll('a, button')].indexOf(document.activeElement);
  const rowsNow = orders.map(orderRow);
  if (!rowsNow.length) {
    const row = element('tr');
    const cell = element('td', 'No order yet.', 'dim');
    cell.colSpan = 4;
    row.append(cell);
    rowsNow.push(row);
  }
  at('orders').replaceChildren(...rowsNow);
  if (focused >= 0) {
    at('orders').querySelectorAll('a, button')[focused]?.focus();
  }
}

/** Places orders with the values that the form has now. */
async function place(times) {
  const order = {
    productId: Number(at('product').value),
    quantity: Number(at('quantity').value),
    fault: at('fault').value || null,
  };
  for (let i = 0; i < times; i++) {
    await call('POST', 'orders', order);
  }
  notice('');
  await refresh();
}

function faultBox(fault) {
  const label = element('label');
  const box = element('input');
  box.type = 'checkbox';
  box.addEventListener('change', () =>
    busy(box, async () => { await call('PUT', 'faults/' + fault, {broken: box.checked}); }));
  label.append(box, ' ' + FAULTS[fault]);
  at('faults').append(label);
  return box;
}

/** Other pages change the faults, too. A box whose change is on its way stays as it is. */
function showFaults(all) {
  for (const [fault, broken] of Object.entries(all)) {
    if (!faultBoxes.has(fault)) {
      faultBoxes.set(fault, faultBox(fault));
    }
    const box = faultBoxes.get(fault);
    box.checked = box.disabled ? box.checked : broken;
  }
}

// State

async function refresh() {
  const [redis, now, latest, faults] = await Promise.all(['redis', 'state', 'orders', 'faults'].map(path => call('GET', path)));
  const {cache, queue, reads} = now.data;
  clock = Date.parse(now.data.now) - Date.now();
  const {embedded, running} = redis.data;
  badge('redis', !embedded ? 'not embedded' : running ? 'on' : 'off', embedded && (running ? 'good' : 'bad'));
  at('redis-switch').hidden = !embedded;
  at('redis-elsewhere').hidden = embedded;
  at('redis-switch').textContent = running ? 'Turn off' : 'Turn on';
  badge('cache', cache.state.toLowerCase(), cache.state === 'AVAILABLE' ? 'good' : 'warn');
  at('loads').textContent = reads.productLoads;
  at('undelivered').textContent = cache.undelivered;
  badge('queue', queue ? 'available' : 'unavailable', queue ? 'good' : 'bad');
  at('waiting').textContent = queue ? queue.waiting : '?';
  at('flight').textContent = queue ? queue.inFlight : '?';
  at('dead').textContent = queue ? queue.dead : '?';
  showFaults(faults.data);
  orders = latest.data;
  showOrders();
}

let failed = false;

async function poll() {
  if (!document.hidden) {
    try {
      await refresh();
      if (!hasProducts) {
        await showProducts();
      }
      if (failed) {
        notice('');
      }
      failed = false;
    } catch (error) {
      failed = true;
      notice(error.message);
    }
  }
  setTimeout(poll, 2000);
}

async function findConsole() {
  try {
    hasConsole = (await fetch('easykit/', {method: 'GET'})).ok;
  } catch {
    hasConsole = false;
  }
  at('console').hidden = !hasConsole;
}

at('read-all').addEventListener('click', event => busy(event.currentTarget, readAll));
at('redis-switch').addEventListener('click', event => {
  const control = event.currentTarget;
  busy(control, async () => {
    await call('PUT', 'redis', {running: control.textContent === 'Turn on'});
    await refresh();
  });
});
at('order').addEventListener('submit', event => {
  event.preventDefault();
  busy(event.submitter || at('order-ten'), () => place(1));
});
at('order-ten').addEventListener('click', event => busy(event.currentTarget, () => place(10)));

await findConsole();
setInterval(showOrders, 1000);
poll();
