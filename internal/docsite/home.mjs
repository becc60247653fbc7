// The home page of the site, with texts of README.md.

/**
 * homePage returns a template in which parts of README.md replace lines such as "{{What it
 * costs}}".
 */
export function homePage(template, readme) {
  return template.replace(/\{\{(.+)\}\}$/gm, (_, name) => (name === 'lead' ? lead(readme) : section(readme, name)))
}

/** lead returns the first paragraph, as one line. */
function lead(readme) {
  const found = /^# Talkback\n\n([^]+?)\n\n/.exec(readme)
  if (!found) throw new Error('README.md does not begin with "# Talkback" and a paragraph')
  return found[1].replaceAll('\n', ' ')
}

/** section returns a section with its heading, up to the next heading of any level. */
function section(readme, name) {
  const heading = `\n## ${name}\n`
  const [, rest] = readme.split(heading)
  if (!rest) throw new Error(`README.md has no section "${name}", which internal/docsite/home.md shows`)
  return heading + rest.split(/^##/m)[0]
}
