// Reads the colours of all pages from web/look/tokens.css, for GraphiQL and its editor. GraphiQL's
// style sheets need hue, saturation and lightness, to which they add an alpha value. Monaco needs
// hexadecimal numbers.
import { readFileSync } from 'node:fs';

// readPalette returns the colours by name without prefix:
// { light: { text: '#24211d', … }, dark: { … } }.
export function readPalette(path) {
  const palette = { light: {}, dark: {} };
  const form = /--talkback-([a-z-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)/g;
  for (const [, name, light, dark] of readFileSync(path, 'utf8').matchAll(form)) {
    palette.light[name] = light;
    palette.dark[name] = dark;
  }
  return palette;
}

// The names of our colours by GraphiQL's names.
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

// The selectors under which GraphiQL defines its colours.
const parts =
  ':is(.graphiql-container, .graphiql-dialog, .graphiql-dialog-overlay, .graphiql-tooltip, ' +
  '[data-radix-popper-content-wrapper])';

// styleSheet returns the rules that set GraphiQL's colours: light or dark as the visitor chose, or
// else as the system.
export function styleSheet({ light, dark }) {
  const rules = (colours) =>
    Object.entries(names)
      .map(([theirs, ours]) => `--color-${theirs}: ${hsl(ours, colours[ours])};`)
      .join(' ');
  const unlessChosen = `:root body:not(.graphiql-light) ${parts} { ${rules(dark)} }`;
  return [
    `:root body ${parts} { ${rules(light)} }`,
    `@media (prefers-color-scheme: dark) { ${unlessChosen} }`,
    `:root body.graphiql-dark ${parts} { ${rules(dark)} }`,
  ].join('\n');
}

function hsl(name, hex) {
  if (!hex) throw new Error(`web/look/tokens.css has no colour --talkback-${name}`);
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const [lightness, chroma] = [(most + least) / 2, most - least];
  const saturation = chroma && chroma / (1 - Math.abs(2 * lightness - 1));
  return [
    hue(r, g, b, most, chroma).toFixed(1),
    ...[saturation, lightness].map((part) => `${(part * 100).toFixed(1)}%`),
  ].join(', ');
}

// hue returns degrees; 0 for a grey.
function hue(r, g, b, most, chroma) {
  if (chroma === 0) return 0;
  const sixths =
    most === r ? (g - b) / chroma : most === g ? (b - r) / chroma + 2 : (r - g) / chroma + 4;
  return (sixths * 60 + 360) % 360;
}
