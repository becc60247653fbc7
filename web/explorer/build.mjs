// Builds the explorer into a folder of gzipped files, which the Go program embeds and serves as
// they are.
//
//   node build.mjs [folder]        the default folder is dist/
//
// The same sources give the same bytes on every machine: nothing here reads a clock, a host name or
// an absolute path.
import * as esbuild from 'esbuild';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { readPalette, styleSheet } from './palette.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, 'dist'));

// The path of all files. The Go handlers have it too.
const publicPath = '/playground';

const tokens = join(here, '../look/tokens.css');

// Modules to replace by smaller ones, by the end of their import path.
const replacements = [
  // All of Monaco's features. Ours has those that the explorer needs.
  { filter: /\/edcore\.main\.js$/, path: join(here, 'src/editor.js') },
  // Prettier's JavaScript half. GraphiQL uses it only to format the JSON of variables and headers.
  { filter: /^prettier\/plugins\/estree$/, path: join(here, 'src/json-printer.js') },
  { filter: /^prettier\/parser-babel$/, path: join(here, 'src/json-parser.js') },
  // A second copy of the GraphQL plugin under its old name.
  {
    filter: /^prettier\/parser-graphql$/,
    path: join(here, 'node_modules/prettier/plugins/graphql.mjs'),
  },
];

const replace = {
  name: 'replace',
  setup(build) {
    for (const { filter, path } of replacements) build.onResolve({ filter }, () => ({ path }));
  },
};

// Modules generated from other files. made:examples is the sorted list of the queries in examples/.
// made:palette and made:palette.css are the colours of web/look.
const makers = {
  examples: () => ({
    contents: JSON.stringify(readExamples(join(here, 'examples'))),
    loader: 'json',
  }),
  palette: () => ({ contents: JSON.stringify(readPalette(tokens)), loader: 'json' }),
  'palette.css': () => ({ contents: styleSheet(readPalette(tokens)), loader: 'css' }),
};

const made = {
  name: 'made',
  setup(build) {
    build.onResolve({ filter: /^made:/ }, ({ path }) => ({
      path: path.slice('made:'.length),
      namespace: 'made',
    }));
    build.onLoad({ filter: /.*/, namespace: 'made' }, ({ path }) => makers[path]());
  },
};

function readExamples(folder) {
  const names = readdirSync(folder).sort();
  return names.filter((name) => name.endsWith('.graphql')).map((name) => {
    const query = readFileSync(join(folder, name), 'utf8');
    const heading = /^# (?<title>[^:\n]+): (?<description>[^\n]+)\n/.exec(query);
    if (!heading) throw new Error(`${name}: wanted "# Title: what it shows." as its first line`);
    const beside = name.replace(/\.graphql$/, '.json');
    const variables = names.includes(beside) ? readFileSync(join(folder, beside), 'utf8') : '';
    return { ...heading.groups, query, variables };
  });
}

function bundle() {
  return esbuild.build({
    absWorkingDir: here,
    entryPoints: [
      { in: 'src/app.jsx', out: 'app' },
      { in: 'monaco-editor/esm/vs/editor/editor.worker.js', out: 'editor-worker' },
      { in: 'monaco-editor/esm/vs/language/json/json.worker.js', out: 'json-worker' },
      { in: 'monaco-graphql/esm/graphql.worker.js', out: 'graphql-worker' },
    ],
    outdir: 'out',
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    jsx: 'automatic',
    // Splitting lets the page and its workers share chunks, and loads the formatter on demand.
    format: 'esm',
    splitting: true,
    target: 'es2022',
    entryNames: '[name]-[hash]',
    chunkNames: 'chunk-[hash]',
    assetNames: '[name]-[hash]',
    publicPath,
    loader: { '.ttf': 'file' },
    define: { 'process.env.NODE_ENV': '"production"' },
    // The licences go into a file of their own, see licences().
    legalComments: 'none',
    plugins: [replace, made],
    logLevel: 'warning',
  });
}

// Returns the hashed names of the outputs by entry point.
function namesOf(metafile) {
  const names = {};
  for (const [path, output] of Object.entries(metafile.outputs)) {
    if (output.entryPoint) names[basename(output.entryPoint)] = basename(path);
    if (output.entryPoint === 'src/app.jsx') names['app.css'] = basename(output.cssBundle);
  }
  return names;
}

function page(names) {
  return readFileSync(join(here, 'src/index.html'), 'utf8').replaceAll(
    /\{\{(.+?)\}\}/g,
    (_, name) => {
      if (!names[name]) throw new Error(`src/index.html: no output for ${name}`);
      return `${publicPath}/${names[name]}`;
    },
  );
}

// Packages published without a licence text, and a package of the same authors that includes it.
const textsElsewhere = {
  '@graphiql/plugin-doc-explorer': '@graphiql/react',
  '@graphiql/plugin-explorer': '@graphiql/react',
  '@graphiql/plugin-history': '@graphiql/react',
  'react-compiler-runtime': 'react',
  'react-remove-scroll-bar': 'react-remove-scroll',
};

// Returns the licences and notices of all bundled packages. Each licence requires its text to be
// included.
function licences(metafile) {
  const folders = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const found = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input);
    if (found) folders.add(found[0]);
  }
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(here, folder, 'package.json'), 'utf8'),
    );
    const other = textsElsewhere[name];
    const from = join(here, other ? join('node_modules', other) : folder);
    const files = readdirSync(from)
      .filter((entry) => /^(licen[cs]e|notice|third-?party-?notices|copyrightnotice)/i.test(entry))
      .sort();
    if (files.length === 0) {
      throw new Error(
        `${name} ${version} comes without the text of its licence, ${license}: ` +
          'name a package that has it in textsElsewhere',
      );
    }
    const own = files.map((file) =>
      readFileSync(join(from, file), 'utf8').replaceAll('\r\n', '\n').trim(),
    );
    const origin = other ? ` (${license}), by the authors of ${other}` : '';
    return `${name} ${version}${origin}\n\n${own.join('\n\n')}\n`;
  });
  return texts.sort().join(`\n${'-'.repeat(80)}\n\n`);
}

// Compresses without a time (zlib's default) and without the name of the operating system (byte 9).
function gzip(bytes) {
  const packed = gzipSync(bytes, { level: 9 });
  packed[9] = 255;
  return packed;
}

const { metafile, outputFiles } = await bundle();
const names = namesOf(metafile);
const files = outputFiles
  .map(({ path, contents }) => ({ name: basename(path), contents }))
  // Chunks loaded on demand repeat the styles of app.css. Nothing requests these copies.
  .filter(({ name }) => !name.endsWith('.css') || name === names['app.css']);
files.push({ name: 'index.html', contents: page(names) });
files.push({ name: 'licences.txt', contents: licences(metafile) });

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
let total = 0;
for (const { name, contents } of files) {
  const packed = gzip(contents);
  total += packed.length;
  writeFileSync(join(target, `${name}.gz`), packed);
}
console.log(`${files.length} files, ${total} bytes`);
