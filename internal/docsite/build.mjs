// Builds the documents into a static site: node build.mjs FOLDER. `make docs` fetches VitePress
// first.
//
// VitePress reads a copy of the documents in .cache/docs, with the folders of the repository. So
// docs/ has no files of a generator.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { homePage } from './home.mjs'
import { movedLinks, navigation, sourcePage } from './links.mjs'

const here = import.meta.dirname
const root = resolve(here, '../..')
const cache = join(root, '.cache/docs')
if (!existsSync(join(cache, 'node_modules/vitepress'))) {
  console.error('VitePress is not in .cache/docs: make docs fetches it')
  process.exit(1)
}
const tools = realpathSync(cache)

const read = (name) => readFileSync(join(root, name), 'utf8')

// Every document and the files beside it, by paths from the root of the repository.
const files = [
  ...readdirSync(root),
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => join('docs', name)),
]
const documents = files.filter((name) => extname(name) === '.md').sort()
const others = files.filter((name) => /^docs\/.*\.(csv|svg|webp)$/.test(name))

/** stage fills a folder with the files that VitePress reads. */
function stage(folder) {
  const write = (name, text) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const sources = new Set()
  for (const name of documents) write(name, movedLinks(read(name), name, sources))
  write('index.md', movedLinks(homePage(read('internal/docsite/home.md'), read('README.md')), 'index.md', sources))
  for (const name of sources) write(`source/${name}.md`, sourcePage(root, name))
  for (const name of others) cpSync(join(root, name), join(folder, name))
  write('.vitepress/navigation.json', JSON.stringify(navigation(read('docs/README.md'), read)))
  cpSync(join(here, 'config.mjs'), join(folder, '.vitepress/config.mjs'))
  cpSync(join(here, 'theme'), join(folder, '.vitepress/theme'), { recursive: true })
  cpSync(join(root, 'web/look/tokens.css'), join(folder, '.vitepress/theme/tokens.css'))
  for (const name of ['icon.svg', 'favicon.ico']) cpSync(join(root, 'web/home', name), join(folder, 'public', name))
}

const [, , out] = process.argv
if (!out || (existsSync(out) && !statSync(out).isDirectory())) {
  console.error('usage: node internal/docsite/build.mjs FOLDER')
  process.exit(2)
}
const folder = mkdtempSync(join(tools, 'site-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
try {
  stage(folder)
} catch (error) {
  console.error(error.message) // what a document lacks
  process.exit(1)
}
const built = spawnSync(process.execPath, [join(tools, 'node_modules/vitepress/bin/vitepress.js'), 'build', folder, '--outDir', resolve(out)], {
  stdio: ['ignore', 'pipe', 'pipe'],
  encoding: 'utf8',
})
if (built.status !== 0) {
  console.error(built.stdout + built.stderr)
  process.exitCode = 1
}
