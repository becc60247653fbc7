// The targets of the documents' links on the site.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, normalize, relative } from 'node:path'

/** eachProse maps a Markdown text except its fenced blocks and code spans. */
function eachProse(text, map) {
  let fenced = false
  return text
    .split('\n')
    .map((line) => {
      const fence = line.startsWith('```')
      if (fence) fenced = !fenced
      if (fenced || fence) return line
      return line.split(/(`[^`]*`)/).map((part, i) => (i % 2 ? part : map(part))).join('')
    })
    .join('\n')
}

/**
 * movedLinks returns a document in which links to other files of the repository, such as code, lead
 * to pages that show them. It adds the paths of these files to sources. Documents and pictures have
 * the same paths on the site.
 */
export function movedLinks(text, name, sources) {
  return eachProse(text, (prose) =>
    prose.replace(/\]\(([^)\s]+)\)/g, (link, target) => {
      if (/^[a-z]+:|^#|\.(md|svg|webp)(#|$)/.test(target)) return link
      const source = normalize(join(dirname(name), target)).replace(/\/$/, '')
      sources.add(source)
      return `](${relative(dirname(name), `source/${source}.md`)})`
    }),
  )
}

const languages = { '.conf': 'nginx', '.go': 'go', '.graphqls': 'graphql', '.json': 'json', '.mjs': 'js', '.sh': 'sh', '.tf': 'hcl', '.yaml': 'yaml', '.yml': 'yaml' }

/** sourcePage returns a document that shows a file of the repository, or lists a folder. */
export function sourcePage(root, name) {
  const head = `---\nsearch: false\naside: false\nprev: false\nnext: false\n---\n\n# ${basename(name)}\n\n\`${name}\` in the repository.\n\n`
  const path = join(root, name)
  if (statSync(path).isDirectory()) {
    const names = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.name !== 'node_modules')
    return head + names.map((entry) => `- \`${entry.name}${entry.isDirectory() ? '/' : ''}\`\n`).sort().join('')
  }
  return `${head}\`\`\`\`\`\`${languages[extname(name)] ?? 'text'}\n${readFileSync(path, 'utf8')}\n\`\`\`\`\`\`\n`
}

/**
 * navigation returns the groups of docs/README.md, each with its documents in their order and by
 * their titles. It leaves out links to headings, because their documents are listed as well.
 */
export function navigation(index, read) {
  return index
    .split(/^\*\*/m)
    .slice(1)
    .map((group) => {
      const [title, ...links] = group.split('**')
      const targets = [...links.join('**').matchAll(/\]\(([^)\s]+\.md)\)/g)].map(([, target]) => normalize(join('docs', target)))
      const items = targets.map((target) => ({ text: titleOf(read(target), target), link: `/${target.replace(/\.md$/, '')}` }))
      return { text: title.replace(/:$/, ''), items }
    })
}

function titleOf(text, name) {
  const title = /^# (.+)$/m.exec(text)
  if (!title) throw new Error(`${name} has no title: begin it with "# "`)
  return title[1]
}
