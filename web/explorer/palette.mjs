// The colours of all pages, web/look/tokens.css, in the two forms that GraphiQL and its editor want: its style sheets take
// hue, saturation and lightness, for they add an alpha; Monaco takes hexadecimal numbers.
import { readFileSync } from 'node:fs';

// readPalette returns the colours by their names without prefix: { light: { text: '#24211d', … }, dark: { … } }.
export function readPalette(path) {
  const palette = { light: {}, dark: {} };
  const form = /--talkback-([a-z-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)/g;
  for (const [, name, light, dark] of readFileSync(path, 'utf8').matchAll(form)) {
    palette.light[name] = light;
    palette.dark[name] = dark;
  }
  return palette;
}

// GraphiQL's colours by ours.
const names = {
  primary: 'accent',
  secondary: 'mark',
  tertiary: 'mark',
  info: 'quiet',
  success: 'mark',
  warning: 'accent',
  error: 'danger',
  neutral: 'text',
  base: 'panel',
};

// Where GraphiQL sets its colours.
const parts = ':is(.graphiql-container, .graphiql-dialog, .graphiql-dialog-overlay, .graphiql-tooltip, [data-radix-popper-content-wrapper])';

// styleSheet returns the rules that give GraphiQL these colours: as the system has it, unless the visitor chose.
export function styleSheet({ light, dark }) {
  const rules = (colours) => Object.entries(names).map(([theirs, ours]) => `--color-${theirs}: ${hsl(ours, colours[ours])};`).join(' ');
  return [
    `:root body ${parts} { ${rules(light)} }`,
    `@media (prefers-color-scheme: dark) { :root body:not(.graphiql-light) ${parts} { ${rules(dark)} } }`,
    `:root body.graphiql-dark ${parts} { ${rules(dark)} }`,
  ].join('\n');
}

function hsl(name, hex) {
  if (!hex) throw new Error(`web/look/tokens.css has no colour --talkback-${name}`);
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const [lightness, chroma] = [(most + least) / 2, most - least];
  const saturation = chroma && chroma / (1 - Math.abs(2 * lightness - 1));
  return [hue(r, g, b, most, chroma).toFixed(1), ...[saturation, lightness].map((part) => `${(part * 100).toFixed(1)}%`)].join(', ');
}

// hue is in degrees; that of a grey is 0.
function hue(r, g, b, most, chroma) {
  if (chroma === 0) return 0;
  const sixths = most === r ? (g - b) / chroma : most === g ? (b - r) / chroma + 2 : (r - g) / chroma + 4;
  return (sixths * 60 + 360) % 360;
}
