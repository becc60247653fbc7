// What the editor remembers of a visitor, in the browser's localStorage: tabs, history, panes. Headers are not among it,
// since they hold tokens, and what is stored stays for years, in clear, for every script of this origin. GraphiQL can leave
// them out of tabs, but its history keeps them, so they are taken out here, on the way to the disk.
const prefix = 'graphiql:';

// How the values are kept that may hold headers; the others are kept as they are.
const rules = {
  [`${prefix}headers`]: () => null,
  [`${prefix}shouldPersistHeaders`]: () => null, // a visitor's wish for what is not done
  [`${prefix}tabState`]: withoutHeaders,
  [`${prefix}queries`]: withoutHeaders,
  [`${prefix}favorites`]: withoutHeaders,
};

// withoutHeaders puts null in place of all headers, which GraphiQL takes for none. A text that is not JSON is of no use.
function withoutHeaders(text) {
  try {
    return JSON.stringify(JSON.parse(text, (key, value) => (key === 'headers' ? null : value)));
  } catch {
    return null;
  }
}

function setItem(key, value) {
  const kept = rules[key] ? rules[key](value) : value;
  if (kept === null) localStorage.removeItem(key);
  else localStorage.setItem(key, kept);
}

const keys = () => Object.keys(localStorage).filter((key) => key.startsWith(prefix));

export const storage = {
  getItem: (key) => localStorage.getItem(key),
  removeItem: (key) => localStorage.removeItem(key),
  setItem,
  get length() {
    return keys().length;
  },
  clear: () => keys().forEach((key) => localStorage.removeItem(key)),
};

// forgetHeaders takes away what earlier versions stored.
export function forgetHeaders() {
  for (const key of keys()) if (rules[key]) setItem(key, localStorage.getItem(key));
}
