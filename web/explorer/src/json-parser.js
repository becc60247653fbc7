// Replaces Prettier's JavaScript parser, which the explorer needs for JSON only. jsonc-parser is
// bundled anyway and formats JSON too. The "tree" is the text itself; json-printer.js formats it.
export const parsers = {
  jsonc: {
    astFormat: 'json-text',
    parse: (text) => ({ text }),
    locStart: () => 0,
    locEnd: ({ text }) => text.length,
  },
};
