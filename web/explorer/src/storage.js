// What the editor remembers of a visitor, in the browser's localStorage: tabs, history, panes. Headers are not among it,
// since they hold tokens, and what is stored stays for years, in clear, for every script of this origin. GraphiQL can leave
// them out of tabs, but its history keeps them, so they are taken out here, on the way to the disk.
const prefix = 'graphiql:';

// How the values are kept that may hold headers; the others are kept as they are.
const rules = {
  [`${prefix}headers`]: () => null,
  [`${prefix}shouldPersistHeaders`]: () => null, // a visitor's wish for what is not done
  [`${prefix}tabState`]: withoutHeaders,
  [`${prefix}queries`]: (text) => listOf('queries', withoutHeaders(text)),
  [`${prefix}favorites`]: (text) => listOf('favorites', withoutHeaders(text)),
};

// withoutHeaders puts null in place of all headers, which GraphiQL takes for none. A text that is not JSON is of no use.
function withoutHeaders(text) {
  try {
    return JSON.stringify(JSON.parse(text, (key, value) => (key === 'headers' ? null : value)));
  } catch {
    return null;
  }
}

// listOf returns a text that holds a list of a name as GraphiQL keeps it, and null for another: it would not start with that.
function listOf(name, text) {
  const list = JSON.parse(text)?.[name];
  return Array.isArray(list) && list.every((item) => item !== null && typeof item === 'object') ? text : null;
}

// Where it is kept. A browser that lets no page keep anything has it for as long as the page is open.
const disk = (() => {
  try {
    return localStorage;
  } catch {
    return inMemory();
  }
})();

// inMemory has what is kept for its own properties, as localStorage does.
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

// forgetHeaders takes away what earlier versions stored.
export function forgetHeaders() {
  for (const key of keys()) if (rules[key]) setItem(key, disk.getItem(key));
}
