// Replaces Prettier's JavaScript printer, see json-parser.js.
import { applyEdits, format } from 'jsonc-parser';

const layout = { insertSpaces: true, tabSize: 2, eol: '\n' };

export const printers = {
  'json-text': {
    print({ node: { text } }) {
      return applyEdits(text, format(text, undefined, layout));
    },
  },
};
