// Builds the component into a folder, which the Go program embeds: the script, gzipped, and the style sheet as text, which
// the server puts into the pages that it renders.
//
//   node build.mjs [folder]        the folder is dist/ unless named
//
// The same sources give the same bytes on every machine: nothing here reads a clock, a host name or an absolute path.
import * as esbuild from 'esbuild';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, 'dist'));

const common = {
  absWorkingDir: here,
  outdir: 'out',
  write: false,
  bundle: true,
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
};

// The style sheet with what it imports, such as the tokens of the look.
async function bundleStyles() {
  const { outputFiles } = await esbuild.build({ ...common, entryPoints: ['src/component.css'], target: 'es2023' });
  return outputFiles[0].text.trim();
}

// `import sheet from './component.css'` is the same text that the server embeds.
const stylesAsText = (text) => ({
  name: 'styles-as-text',
  setup(build) {
    build.onLoad({ filter: /component\.css$/ }, () => ({ contents: text, loader: 'text' }));
  },
});

// An operation without the comments and the indentation that only its readers need.
const operationAsText = {
  name: 'operation-as-text',
  setup(build) {
    build.onLoad({ filter: /\.graphql$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\s+/g, ' ').trim(),
      loader: 'text',
    }));
  },
};

// The texts without those that only the page around the element has.
const textsOfTheElement = {
  name: 'texts-of-the-element',
  setup(build) {
    build.onLoad({ filter: /texts\/[a-z]+\.json$/ }, ({ path }) => {
      const texts = Object.entries(JSON.parse(readFileSync(path, 'utf8')));
      const kept = texts.filter(([key]) => !/^(site|page|missing)\b/.test(key));
      return { contents: JSON.stringify(Object.fromEntries(kept)), loader: 'json' };
    });
  },
};

async function bundleScript(styles) {
  const { outputFiles } = await esbuild.build({
    ...common,
    entryPoints: [{ in: 'src/main.ts', out: 'talkback' }],
    // A classic script: pages of other origins load it without CORS, and it knows where it came from.
    format: 'iife',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [stylesAsText(styles), operationAsText, textsOfTheElement],
    banner: { js: licence('preact') },
  });
  return outputFiles[0].text;
}

// The licence of a package as a comment, since the script is what is handed on.
function licence(name) {
  const folder = join(here, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `/*! ${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n*/`;
}

// gzip without a time (zlib's default) and without the name of the system that made it (byte 9).
function gzip(text) {
  const packed = gzipSync(text, { level: 9 });
  packed[9] = 255;
  return packed;
}

const styles = await bundleStyles();
const script = gzip(await bundleScript(styles));
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
writeFileSync(join(target, 'component.css'), styles);
writeFileSync(join(target, 'talkback.js.gz'), script);
console.log(`talkback.js: ${script.length} bytes gzipped, component.css: ${Buffer.byteLength(styles)} bytes`);
