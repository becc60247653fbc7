// How VitePress builds the site. build.mjs copies this file to where VitePress looks for it.
import { readFileSync } from 'node:fs'
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
