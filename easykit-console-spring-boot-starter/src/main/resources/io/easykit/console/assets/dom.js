// Describes elements as plain objects and brings the page in line with them. An element that stays keeps its focus,
// its selection and its scroll position. Text is set as text only, so no message can become markup.

const SVG = 'http://www.w3.org/2000/svg';
const PROPERTIES = new Set(['value', 'checked', 'disabled', 'indeterminate', 'selected']);

/** An element: h('td.num', {title: 'x'}, 'text', child). Classes may follow the name. */
export function h(name, props, ...children) {
  const [tag, ...classes] = name.split('.');
  const all = {...props};
  if (classes.length) {
    all.class = classes.concat(all.class || []).join(' ');
  }
  return {tag, key: all.key, props: all, children: flat(children)};
}

function flat(children) {
  return children
    .flat(Infinity)
    .filter(child => child !== null && child !== undefined && child !== false && child !== '')
    .map(child => (typeof child === 'object' ? child : String(child)));
}

/** Replaces the children of an element, and keeps what is the same. */
export function render(element, ...children) {
  const focused = document.activeElement;
  reconcile(element, flat(children));
  if (focused && focused !== document.activeElement && focused.isConnected && element.contains(focused)) {
    focused.focus({preventScroll: true});
  }
}

function reconcile(parent, list) {
  const keyed = new Map();
  for (const child of parent.childNodes) {
    if (child.$key !== undefined) {
      keyed.set(child.$key, child);
    }
  }
  let next = parent.firstChild;
  for (const item of list) {
    const found = match(next, item, keyed);
    if (!found) {
      parent.insertBefore(create(item, parent), next);
      continue;
    }
    if (found === next) {
      next = next.nextSibling;
    } else {
      parent.insertBefore(found, next);
    }
    if (typeof item === 'string') {
      if (found.data !== item) {
        found.data = item;
      }
    } else {
      update(found, item);
    }
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

function match(next, item, keyed) {
  if (typeof item === 'string') {
    return next && next.nodeType === 3 ? next : null;
  }
  const found = item.key === undefined ? next : keyed.get(item.key);
  return found && found.nodeType === 1 && found.$key === item.key && found.$tag === item.tag ? found : null;
}

function create(item, parent) {
  if (typeof item === 'string') {
    return document.createTextNode(item);
  }
  const svg = item.tag === 'svg' || parent.namespaceURI === SVG;
  const element = svg ? document.createElementNS(SVG, item.tag) : document.createElement(item.tag);
  element.$tag = item.tag;
  element.$key = item.key;
  element.$props = {};
  update(element, item);
  if (item.props.ref) {
    queueMicrotask(() => item.props.ref(element));
  }
  return element;
}

function update(element, item) {
  const before = element.$props;
  // Children first: a select takes its value only when the options are there.
  reconcile(element, item.children);
  for (const name of Object.keys(before)) {
    if (!(name in item.props)) {
      set(element, name, null);
    }
  }
  for (const [name, value] of Object.entries(item.props)) {
    if (PROPERTIES.has(name) || before[name] !== value) {
      set(element, name, value);
    }
  }
  element.$props = item.props;
}

function set(element, name, value) {
  if (name === 'key' || name === 'ref') {
    return;
  }
  if (name.startsWith('on')) {
    element[name] = value;
  } else if (PROPERTIES.has(name)) {
    const wanted = value === null || value === undefined ? (name === 'value' ? '' : false) : value;
    if (element[name] !== wanted) {
      element[name] = wanted;
    }
  } else if (value === null || value === undefined || value === false) {
    element.removeAttribute(name);
  } else {
    element.setAttribute(name, value === true ? '' : value);
  }
}
