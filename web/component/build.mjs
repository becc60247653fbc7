// Builds the component into a folder that the Go program embeds:
//   - three gzipped scripts: the element, the inside of the plan drawer, and the live connection,
//   - the style sheet as text, which the server puts into the pages it renders,
//   - the manifest of the operations that pages of this server send.
//
//   node build.mjs [folder]        the default folder is dist/
//
// The same sources give the same bytes on every machine: nothing here reads a clock, a host name or
// an absolute path.
import * as esbuild from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import zopfli from '@gfx/zopfli';

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, 'dist'));

const common = {
  absWorkingDir: here,
  outdir: 'out',
  write: false,
  bundle: true,
  minify: true,
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'warning',
};

// Bundles a style sheet with its imports, such as the tokens of the look. esbuild keeps the spaces
// in values of custom properties; most of them are not needed.
async function bundleStyles(entry) {
  const { outputFiles } = await esbuild.build({
    ...common,
    entryPoints: [entry],
    target: 'es2023',
  });
  return outputFiles[0].text
    .trim()
    .replaceAll(/(?<=--[\w-]+:|,) | (?=\* [\d(.v-])|(?<= \*) (?=[\d(.v-])/g, '');
}

// Makes `import sheet from './component.css'` return the same text that the server embeds.
const stylesAsText = (text) => ({
  name: 'styles-as-text',
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, () => ({ contents: text, loader: 'text' }));
  },
});

// Imports an operation as text, without its comments and unnecessary white space.
const operationAsText = {
  name: 'operation-as-text',
  setup(build) {
    build.onLoad({ filter: /\.graphql$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replaceAll(/^\s*#.*\n/gm, '')
        .replaceAll(/,?\s+/g, ' ')
        .replaceAll(/ ?([^\w ]) ?/g, '$1')
        .trim(),
      loader: 'text',
    }));
  },
};

// Selects the English texts of a script. The element's script leaves out the texts of the page
// around it. The texts of the plan drawer are only in the drawer's script.
const ofThePage = /^(site|page|missing|reason)\b/;
const ofThePlan = /^plan\.(?!cost|units|waves)/;
const textsThat = (wanted) => ({
  name: 'texts',
  setup(build) {
    build.onLoad({ filter: /texts\/en\.json$/ }, ({ path }) => {
      const texts = JSON.parse(readFileSync(path, 'utf8'));
      return { contents: JSON.stringify(texts, Object.keys(texts).filter(wanted)), loader: 'json' };
    });
  },
});

// Bundles only the tags of the languages that the server names. The browser supplies the names. For
// the most-read languages, both have the same names; a test compares them.
const tagsOfLanguages = {
  name: 'tags-of-languages',
  setup(build) {
    build.onLoad({ filter: /texts\/languages\.json$/ }, ({ path }) => {
      const tags = Object.keys(JSON.parse(readFileSync(path, 'utf8'))).join();
      return {
        contents: `export default Object.fromEntries('${tags}'.split(',').map((tag) => [tag]));`,
        loader: 'js',
      };
    });
  },
};

// Properties that only the element's own scripts use. The build gives each the same short name in
// every script. None of them is an attribute, a field of an answer or an event, or part of a
// browser API.
const internal = (
  'say shown choice texts view desk busy fresh more problem failed settings keyFor signedIn ' +
  'visits draft written seen amend loadMore pageSize foreign said typed client service theirs place'
).split(' ');
const mangled = {
  mangleProps: new RegExp(`^(${internal.join('|')})$`),
  mangleCache: Object.fromEntries(
    internal.map((name, i) => [name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ$_'[i]]),
  ),
};

const scripts = { ...common, ...mangled, target: 'es2023' };

// Compiles JSX to calls of Preact's h with children as arguments. The calls of the newer JSX
// runtime are longer.
const withJSX = {
  ...scripts,
  tsconfigRaw: {},
  jsxFactory: 'h',
  jsxFragment: 'Fragment',
  inject: ['src/jsx.ts'],
};

async function bundleScript(styles, names) {
  const { outputFiles } = await esbuild.build({
    ...withJSX,
    entryPoints: [{ in: 'src/main.ts', out: 'talkback' }],
    // A classic script: pages of other origins load it without CORS, and it knows its own address.
    format: 'iife',
    define: { PLAN_SCRIPT: JSON.stringify(names.plan), LIVE_SCRIPT: JSON.stringify(names.live) },
    plugins: [
      stylesAsText(styles),
      operationAsText,
      textsThat((key) => !ofThePage.test(key) && !ofThePlan.test(key)),
      tagsOfLanguages,
    ],
    banner: { js: licence('preact') },
  });
  return outputFiles[0].text;
}

// Replaces the imports of Preact in the drawer's script: the element passes in its own copy.
const preactOfTheElement = {
  name: 'preact-of-the-element',
  setup(build) {
    build.onResolve({ filter: /^preact(\/|$)/ }, () => ({ path: 'preact', namespace: 'given' }));
    build.onLoad({ filter: /./, namespace: 'given' }, () => ({
      contents: 'export const { Fragment, h } = preact;',
    }));
  },
};

// Bundles the inside of the plan drawer, as a module whose default export creates it.
async function bundlePlan(styles) {
  const { outputFiles } = await esbuild.build({
    ...withJSX,
    entryPoints: [{ in: 'src/plan.tsx', out: 'plan' }],
    format: 'iife',
    globalName: 'made',
    plugins: [stylesAsText(styles), preactOfTheElement, textsThat((key) => ofThePlan.test(key))],
    banner: { js: 'export default (preact) => {' },
    footer: { js: 'return made; };' },
  });
  return outputFiles[0].text;
}

// Bundles the connection that reports new comments, as a module.
async function bundleLive() {
  const { outputFiles } = await esbuild.build({
    ...scripts,
    entryPoints: ['src/live.ts'],
    format: 'esm',
    plugins: [operationAsText],
  });
  return outputFiles[0].text;
}

// Returns the text of every operation that the element sends.
async function operationsOfTheElement() {
  const { outputFiles } = await esbuild.build({
    ...scripts,
    stdin: {
      contents: `
        import { operation } from './src/answer';
        import { commentQuery, mutationOf } from './src/forms/changes';
        import { visitorMutation } from './src/forms/visitor';
        import subscription from './src/live.graphql';
        const mutations = ['add', 'edit', 'delete', 'voteOn'].map(mutationOf);
        export default [operation, commentQuery, ...mutations, visitorMutation, subscription];`,
      loader: 'ts',
      resolveDir: here,
    },
    format: 'esm',
    plugins: [operationAsText],
  });
  return (await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)).default;
}

// Returns the text of every operation that the moderators' page sends: its script's constants whose
// names end with Query or Mutation.
function operationsOfTheDesk() {
  const script = readFileSync(join(here, '../desk/api.js'), 'utf8');
  const names = Array.from(
    script.matchAll(/^const (\w+(?:Query|Mutation)) =/gm),
    ([, name]) => name,
  );
  return runInNewContext(`${script};[${names}]`);
}

// Writes a manifest of trusted documents in Apollo's format, for servers that run no other
// operations.
function manifestOf(texts) {
  const operations = Array.from(texts, (body) => {
    const [, type, name] = /^(query|mutation|subscription) (\w+)/.exec(body);
    return { id: createHash('sha256').update(body).digest('hex'), name, type, body };
  });
  const manifest = { format: 'apollo-persisted-query-manifest', version: 1, operations };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

// Returns the licence of a package as a comment, because pages receive the script alone.
function licence(name) {
  const folder = join(here, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `/*! ${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n*/`;
}

// Compresses a committed bundle with zopfli, which takes seconds and saves a twentieth. A bundle
// that is only compared is compressed with zlib. Neither writes a time; byte 9 is set to name no
// operating system.
async function gzip(text) {
  const packed = process.argv[2]
    ? gzipSync(text)
    : await zopfli.gzipAsync(text, { numiterations: 100 });
  packed[9] = 255;
  return packed;
}

const styles = await bundleStyles('src/component.css');
const plan = await bundlePlan(await bundleStyles('src/plan.css'));
const live = await bundleLive();
const named = (subject, text) =>
  `${subject}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.js`;
const names = { plan: named('plan', plan), live: named('live', live) };
const files = {
  [names.plan]: await gzip(plan),
  [names.live]: await gzip(live),
  'talkback.js': await gzip(await bundleScript(styles, names)),
};
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
writeFileSync(join(target, 'component.css'), styles);
writeFileSync(
  join(target, 'operations.json'),
  manifestOf([...(await operationsOfTheElement()), ...operationsOfTheDesk()]),
);
for (const [name, packed] of Object.entries(files)) {
  writeFileSync(join(target, `${name}.gz`), packed);
  console.log(`${name}: ${packed.length} bytes gzipped`);
}
console.log(`component.css: ${Buffer.byteLength(styles)} bytes`);
