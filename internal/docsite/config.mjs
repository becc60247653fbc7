// How VitePress builds the site. build.mjs copies this file to where VitePress looks for it.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createCssVariablesTheme } from 'shiki'

const navigation = JSON.parse(readFileSync(new URL('navigation.json', import.meta.url), 'utf8'))

/** slugify names headings as GitHub does, so that links work there and here. */
const slugify = (heading) => heading.toLowerCase().replace(/[^\p{L}\p{Nd}\-_ ]/gu, '').replaceAll(' ', '-')

/** render has the theme draw Mermaid's blocks, and Vue leave braces in code alone. */
function render(md) {
  const { fence, code_inline } = md.renderer.rules
  md.renderer.rules.code_inline = (tokens, i, ...rest) => {
    tokens[i].attrSet('v-pre', '')
    return code_inline(tokens, i, ...rest)
  }
  md.renderer.rules.fence = (tokens, i, ...rest) =>
    tokens[i].info === 'mermaid' ? `<Diagram source="${encodeURIComponent(tokens[i].content)}" />` : fence(tokens, i, ...rest)
}

/** heads makes the empty heads of columns, which Markdown asks for, cells. */
function heads(md) {
  md.core.ruler.push('heads', ({ tokens }) => {
    tokens.forEach((token, i) => {
      if (token.type === 'th_open' && tokens[i + 1].content === '') token.tag = tokens[i + 2].tag = 'td'
    })
  })
}

/** licences has the texts of the licences of what is bundled, which each asks for. */
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
  // With several at once, each build orders the search index differently.
  buildConcurrency: 1,
  markdown: {
    anchor: { slugify },
    attrs: { disable: true }, // braces are text
    // Shiki gives up a line after half a second, which a busy machine may take for its first.
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
