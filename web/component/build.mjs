// Builds the component into a folder, which the Go program embeds: the script, the inside of the drawer and the connection for new
// comments, gzipped, the style sheet as text, which the server puts into the pages that it renders, and the operations that pages of this server send.
//
//   node build.mjs [folder]        the folder is dist/ unless named
//
// The same sources give the same bytes on every machine: nothing here reads a clock, a host name or an absolute path.
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

// The style sheet with what it imports, such as the tokens of the look. Values of custom properties keep spaces that nobody needs.
async function bundleStyles(entry) {
  const { outputFiles } = await esbuild.build({ ...common, entryPoints: [entry], target: 'es2023' });
  return outputFiles[0].text.trim().replaceAll(/(?<=--[\w-]+:|,) | (?=\* [\d(.v-])|(?<= \*) (?=[\d(.v-])/g, '');
}

// `import sheet from './component.css'` is the same text that the server embeds.
const stylesAsText = (text) => ({
  name: 'styles-as-text',
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, () => ({ contents: text, loader: 'text' }));
  },
});

// An operation without the comments and the white space that only its readers need.
const operationAsText = {
  name: 'operation-as-text',
  setup(build) {
    build.onLoad({ filter: /\.graphql$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(/^\s*#.*\n/gm, '').replaceAll(/,?\s+/g, ' ').replaceAll(/ ?([^\w ]) ?/g, '$1').trim(),
      loader: 'text',
    }));
  },
};

// Texts of a script: not those that only the page around the element has, and those of the drawer's inside only there.
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

// Tags of the languages that have a name on the server. The names come from the browser, which has those of the languages with most
// readers as the server has them; a test compares these.
const tagsOfLanguages = {
  name: 'tags-of-languages',
  setup(build) {
    build.onLoad({ filter: /texts\/languages\.json$/ }, ({ path }) => {
      const tags = Object.keys(JSON.parse(readFileSync(path, 'utf8'))).join();
      return { contents: `export default Object.fromEntries('${tags}'.split(',').map((tag) => [tag]));`, loader: 'js' };
    });
  },
};

// Names of properties that only the element's own scripts have. They are shortened, to the same names in each script. None is the
// name of an attribute, of a field of an answer or of an event, or of anything of a browser.
const internal = 'say shown choice texts view desk busy fresh more problem failed settings keyFor signedIn visits draft written seen amend loadMore pageSize foreign said typed client service theirs place'.split(' ');
const mangled = {
  mangleProps: new RegExp(`^(${internal.join('|')})$`),
  mangleCache: Object.fromEntries(internal.map((name, i) => [name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ$_'[i]])),
};

const scripts = { ...common, ...mangled, target: 'es2023' };

// JSX becomes calls of Preact's h, which takes children as arguments. The calls of its newer runtime for JSX are longer.
const withJSX = { ...scripts, tsconfigRaw: {}, jsxFactory: 'h', jsxFragment: 'Fragment', inject: ['src/jsx.ts'] };

async function bundleScript(styles, names) {
  const { outputFiles } = await esbuild.build({
    ...withJSX,
    entryPoints: [{ in: 'src/main.ts', out: 'talkback' }],
    // A classic script: pages of other origins load it without CORS, and it knows where it came from.
    format: 'iife',
    define: { PLAN_SCRIPT: JSON.stringify(names.plan), LIVE_SCRIPT: JSON.stringify(names.live) },
    plugins: [stylesAsText(styles), operationAsText, textsThat((key) => !ofThePage.test(key) && !ofThePlan.test(key)), tagsOfLanguages],
    banner: { js: licence('preact') },
  });
  return outputFiles[0].text;
}

// The element hands its own Preact to the inside of the drawer.
const preactOfTheElement = {
  name: 'preact-of-the-element',
  setup(build) {
    build.onResolve({ filter: /^preact(\/|$)/ }, () => ({ path: 'preact', namespace: 'given' }));
    build.onLoad({ filter: /./, namespace: 'given' }, () => ({ contents: 'export const { Fragment, h } = preact;' }));
  },
};

// The inside of the drawer, a module that makes it.
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

// The connection by which the element learns of new comments, a module.
async function bundleLive() {
  const { outputFiles } = await esbuild.build({ ...scripts, entryPoints: ['src/live.ts'], format: 'esm', plugins: [operationAsText] });
  return outputFiles[0].text;
}

// The texts of all operations that the element sends.
async function operationsOfTheElement() {
  const { outputFiles } = await esbuild.build({
    ...scripts,
    stdin: {
      contents: `
        import { operation } from './src/answer';
        import { commentQuery, mutationOf } from './src/forms/changes';
        import { visitorMutation } from './src/forms/visitor';
        import subscription from './src/live.graphql';
        export default [operation, commentQuery, ...['add', 'edit', 'delete', 'voteOn'].map(mutationOf), visitorMutation, subscription];`,
      loader: 'ts',
      resolveDir: here,
    },
    format: 'esm',
    plugins: [operationAsText],
  });
  return (await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)).default;
}

// The texts of all operations that the page for moderators sends: the constants of its script that are named so.
function operationsOfTheDesk() {
  const script = readFileSync(join(here, '../desk/api.js'), 'utf8');
  const names = Array.from(script.matchAll(/^const (\w+(?:Query|Mutation)) =/gm), ([, name]) => name);
  return runInNewContext(`${script};[${names}]`, { sessionStorage: { getItem: () => null } });
}

// A manifest of trusted documents, in Apollo's format, for servers that run nothing else.
function manifestOf(texts) {
  const operations = Array.from(texts, (body) => {
    const [, type, name] = /^(query|mutation|subscription) (\w+)/.exec(body);
    return { id: createHash('sha256').update(body).digest('hex'), name, type, body };
  });
  return `${JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations }, null, 2)}\n`;
}

// The licence of a package as a comment, since the script is what is handed on.
function licence(name) {
  const folder = join(here, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `/*! ${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n*/`;
}

// What is committed is packed by zopfli, which takes seconds and is a twentieth smaller. What is only compared is packed by zlib.
// Neither writes a time; both are made to name no system (byte 9).
async function gzip(text) {
  const packed = process.argv[2] ? gzipSync(text) : await zopfli.gzipAsync(text, { numiterations: 100 });
  packed[9] = 255;
  return packed;
}

const styles = await bundleStyles('src/component.css');
const plan = await bundlePlan(await bundleStyles('src/plan.css'));
const live = await bundleLive();
const named = (subject, text) => `${subject}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.js`;
const names = { plan: named('plan', plan), live: named('live', live) };
const files = { [names.plan]: await gzip(plan), [names.live]: await gzip(live), 'talkback.js': await gzip(await bundleScript(styles, names)) };
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
writeFileSync(join(target, 'component.css'), styles);
writeFileSync(join(target, 'operations.json'), manifestOf([...(await operationsOfTheElement()), ...operationsOfTheDesk()]));
for (const [name, packed] of Object.entries(files)) {
  writeFileSync(join(target, `${name}.gz`), packed);
  console.log(`${name}: ${packed.length} bytes gzipped`);
}
console.log(`component.css: ${Buffer.byteLength(styles)} bytes`);
