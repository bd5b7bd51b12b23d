// Words, numbers, times. English texts are the keys of the Chinese ones.

let words = {};
export const settings = {
  lang: stored('lang') || (navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en'),
  utc: stored('utc') === '1',
  keys: stored('keys') !== '0',
};

function stored(name) {
  try {
    return localStorage.getItem('easykit.' + name);
  } catch {
    return null;
  }
}

export function store(name, value) {
  try {
    localStorage.setItem('easykit.' + name, value);
  } catch {
    // Without storage a setting lasts as long as the page.
  }
}

export async function setLanguage(lang) {
  words = lang === 'zh-CN' ? (await import('./zh.js')).default : {};
  settings.lang = lang;
  document.documentElement.lang = lang;
}

/** The text in the language of the page, with {name} replaced. */
export function t(text, values) {
  let found = words[text] || text;
  if (values) {
    found = found.replace(/\{(\w+)\}/g, (all, name) => (name in values ? values[name] : all));
  }
  return found;
}

/** As t, for texts that hold elements: returns a list of strings and elements. */
export function mixed(text, values) {
  return t(text)
    .split(/(\{\w+\})/)
    .map(part => (part.startsWith('{') ? values[part.slice(1, -1)] : part));
}

// Control characters and those that change the direction of text would hide or reorder what is there.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text of strangers with hidden characters shown as their code. */
export function visible(text) {
  return String(text).replace(HIDDEN, c => (c === '\r' ? '' : '[U+' + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0') + ']'));
}

export function number(value, digits = 0) {
  if (value === null || value === undefined) {
    return '–';
  }
  return new Intl.NumberFormat(settings.lang, {maximumFractionDigits: digits, minimumFractionDigits: digits}).format(value);
}

export function percent(part, whole) {
  return whole ? number((100 * part) / whole, part === whole || part === 0 ? 0 : 1) + ' %' : '–';
}

export function bytes(size) {
  if (size === null || size === undefined) {
    return '–';
  }
  return size < 1024 ? size + ' B' : size < 1048576 ? number(size / 1024, 1) + ' KB' : number(size / 1048576, 1) + ' MB';
}

const UNITS = {en: [' ms', ' s', ' min', ' h', ' d'], 'zh-CN': [' 毫秒', ' 秒', ' 分', ' 小时', ' 天']};

/** A duration in one or two units: 74 s, 12 min 5 s, 2 h 10 min, 3 d 4 h. */
export function duration(ms) {
  const unit = UNITS[settings.lang] || UNITS.en;
  const s = Math.floor(Math.abs(ms) / 1000);
  if (s < 1) {
    return Math.round(Math.abs(ms)) + unit[0];
  }
  const two = (large, size, small, rest) => large + unit[size] + (small ? ' ' + small + unit[rest] : '');
  if (s < 120) {
    return s + unit[1];
  }
  if (s < 7200) {
    return two(Math.floor(s / 60), 2, s % 60, 1);
  }
  if (s < 172800) {
    return two(Math.floor(s / 3600), 3, Math.floor((s % 3600) / 60), 2);
  }
  return two(Math.floor(s / 86400), 4, Math.floor((s % 86400) / 3600), 3);
}

let told = Date.now();
let toldAt = performance.now();

/** Takes over the clock of Redis from a reply. */
export function setNow(now) {
  told = now;
  toldAt = performance.now();
}

/** The clock of Redis now. */
export function now() {
  return told + (performance.now() - toldAt);
}

export function ago(at) {
  const ms = now() - at;
  return ms < 1000 ? t('just now') : t('{d} ago', {d: duration(ms)});
}

export function until(at) {
  const ms = at - now();
  return ms > 0 ? t('in {d}', {d: duration(ms)}) : t('{d} ago', {d: duration(ms)});
}

const formats = new Map();

function format(kind, options) {
  const key = kind + settings.lang + settings.utc;
  if (!formats.has(key)) {
    formats.set(key, new Intl.DateTimeFormat(settings.lang, {
      ...options, hourCycle: 'h23', timeZone: settings.utc ? 'UTC' : undefined,
    }));
  }
  return formats.get(key);
}

const CLOCK = {hour: '2-digit', minute: '2-digit', second: '2-digit'};

/** The time of day, with the date if it is another day. */
export function clock(at) {
  const day = format('day', {year: 'numeric', month: '2-digit', day: '2-digit'});
  if (day.format(at) === day.format(now())) {
    return format('clock', CLOCK).format(at);
  }
  return format('date', {month: 'short', day: 'numeric', ...CLOCK}).format(at);
}

export function fullTime(at) {
  const millis = {fractionalSecondDigits: 3, timeZoneName: 'short'};
  return format('full', {year: 'numeric', month: 'short', day: 'numeric', ...CLOCK, ...millis}).format(at);
}

export function zone() {
  if (settings.utc) {
    return 'UTC';
  }
  const part = format('zone', {timeZoneName: 'shortOffset'}).formatToParts(Date.now()).find(p => p.type === 'timeZoneName');
  return part ? part.value : 'local';
}
