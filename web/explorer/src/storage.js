// The editor's storage: tabs, history and panes, in localStorage. Headers are removed before
// storing. They hold tokens, and stored values stay for years, readable by every script of this
// origin. GraphiQL can leave headers out of tabs, but not out of its history.
const prefix = 'graphiql:';

// Filters for the values that may hold headers. All others are stored unchanged.
const rules = {
  [`${prefix}headers`]: () => null,
  [`${prefix}shouldPersistHeaders`]: () => null, // the setting has no effect here
  [`${prefix}tabState`]: withoutHeaders,
  [`${prefix}queries`]: (text) => listOf('queries', withoutHeaders(text)),
  [`${prefix}favorites`]: (text) => listOf('favorites', withoutHeaders(text)),
};

// withoutHeaders replaces all headers in a JSON text by null, which GraphiQL treats as none. It
// returns null for a text that is not JSON.
function withoutHeaders(text) {
  try {
    return JSON.stringify(JSON.parse(text, (key, value) => (key === 'headers' ? null : value)));
  } catch {
    return null;
  }
}

// listOf returns a JSON text unless it lacks the list `name`. GraphiQL would fail to start with
// such a text.
function listOf(name, text) {
  const list = JSON.parse(text)?.[name];
  return Array.isArray(list) && list.every((item) => item !== null && typeof item === 'object')
    ? text
    : null;
}

// localStorage, or memory where the browser refuses storage.
const disk = (() => {
  try {
    return localStorage;
  } catch {
    return inMemory();
  }
})();

// inMemory returns a storage whose keys are own properties, as in localStorage.
function inMemory() {
  return Object.create({
    getItem(key) { return this[key] ?? null; },
    setItem(key, value) { this[key] = value; },
    removeItem(key) { delete this[key]; },
  });
}

function setItem(key, value) {
  const kept = rules[key] ? rules[key](value) : value;
  if (kept === null) disk.removeItem(key);
  else disk.setItem(key, kept);
}

const keys = () => Object.keys(disk).filter((key) => key.startsWith(prefix));

export const storage = {
  getItem: (key) => disk.getItem(key),
  removeItem: (key) => disk.removeItem(key),
  setItem,
  get length() {
    return keys().length;
  },
  clear: () => keys().forEach((key) => disk.removeItem(key)),
};

// forgetHeaders removes headers that earlier versions stored.
export function forgetHeaders() {
  for (const key of keys()) if (rules[key]) setItem(key, disk.getItem(key));
}
