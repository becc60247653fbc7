// The configuration of VitePress. build.mjs copies this file to where VitePress expects it.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createCssVariablesTheme } from 'shiki'

const navigation = JSON.parse(readFileSync(new URL('navigation.json', import.meta.url), 'utf8'))

/** slugify names headings as GitHub does, so that links work there and here. */
const slugify = (heading) => heading.toLowerCase().replace(/[^\p{L}\p{Nd}\-_ ]/gu, '').replaceAll(' ', '-')

/** render makes the theme draw Mermaid's blocks, and Vue ignore braces in code. */
function render(md) {
  const { fence, code_inline } = md.renderer.rules
  md.renderer.rules.code_inline = (tokens, i, ...rest) => {
    tokens[i].attrSet('v-pre', '')
    return code_inline(tokens, i, ...rest)
  }
  md.renderer.rules.fence = (tokens, i, ...rest) =>
    tokens[i].info === 'mermaid' ? `<Diagram source="${encodeURIComponent(tokens[i].content)}" />` : fence(tokens, i, ...rest)
}

/** heads turns empty column headings, which Markdown requires, into plain cells. */
function heads(md) {
  md.core.ruler.push('heads', ({ tokens }) => {
    tokens.forEach((token, i) => {
      if (token.type === 'th_open' && tokens[i + 1].content === '') token.tag = tokens[i + 2].tag = 'td'
    })
  })
}

/** licences has the licence texts of the bundled packages, as each of them requires. */
const licences = {
  name: 'licences',
  generateBundle() {
    const folders = new Set()
    for (const id of this.getModuleIds()) folders.add(/^\0?(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(id)?.[1])
    folders.delete(undefined)
    const texts = Array.from(folders, (folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const other = name === '@docsearch/css' && 'algoliasearch' // of the same authors, with the text
      const from = other ? join(folder, '../..', other) : folder
      const file = readdirSync(from).find((entry) => /^licen[cs]e/i.test(entry))
      if (!file) throw new Error(`${name} ${version} comes without the text of its licence, ${license}`)
      return `${name} ${version}${other ? ` (${license}), by the authors of ${other}` : ''}\n\n${readFileSync(join(from, file), 'utf8').trim()}\n`
    })
    this.emitFile({ type: 'asset', fileName: 'licences.txt', source: texts.sort().join(`\n${'-'.repeat(80)}\n\n`) })
  },
}

export default {
  title: 'Talkback',
  description: 'Product reviews and comments as a data service: a GraphQL API over one DynamoDB table, and an element for your pages.',
  head: [
    ['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }],
    ['link', { rel: 'icon', href: '/favicon.ico', sizes: '16x16' }],
  ],
  // Pages that are rendered concurrently change the order of the search index.
  buildConcurrency: 1,
  markdown: {
    anchor: { slugify },
    attrs: { disable: true }, // braces are text
    // Shiki gives up a line after half a second. The first one may take that on a busy machine.
    codeTransformers: [{ preprocess: (_, options) => void (options.tokenizeTimeLimit = 0) }],
    config: (md) => md.use(render).use(heads),
    theme: createCssVariablesTheme({ name: 'talkback', variablePrefix: '--code-' }),
  },
  vite: { plugins: [licences] },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Start', link: navigation[0].items[0].link },
      { text: 'Documents', link: '/docs/README' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: navigation.map((group, i) => ({ ...group, collapsed: i > 0 })),
    outline: [2, 3],
    search: { provider: 'local' },
  },
}
