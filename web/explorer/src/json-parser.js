// Stands in for Prettier's JavaScript parser: the explorer formats only JSON with it, and jsonc-parser, which is part
// of the bundle anyway, can do that too. The "tree" is the text itself; json-printer.js lays it out.
export const parsers = {
  jsonc: {
    astFormat: 'json-text',
    parse: (text) => ({ text }),
    locStart: () => 0,
    locEnd: ({ text }) => text.length,
  },
};
