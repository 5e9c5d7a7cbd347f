import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/**
 * Citations of the specification, in the grammar of CONTRIBUTING.md: "document 1, section 7",
 * "document 1, operation 9", a method and path behind a document, a file of docs with an optional
 * quoted heading, and a decision by its number.
 */
const root = join(import.meta.dir, '../..')
const own = 'src/testing/citations.test.ts'

const numbers = String.raw`(\d+(?:(?:, and | and | to |, )\d+)*)`
const patterns = {
  numbered: new RegExp(
    String.raw`\bdocument (\d+)( |, | \()(section|operation)s? ${numbers}`,
    'gi',
  ),
  inverted: new RegExp(String.raw`\b(section|operation)s? ${numbers} of document (\d+)`, 'gi'),
  route: /\bdocument (\d+), (GET|POST|PUT|PATCH|DELETE) (\/[\w/{}-]*)/gi,
  file: /\bdocs\/[\w./-]*\.md(?:, "([^"]+)")?/g,
  decision: /\bdocs\/decisions\/(\d\w*)/g,
  link: /\]\(([^)\s]+)\)/g,
  code: /`((?:[\w-]+\/)+[\w.-]+\.ts)`/g,
  retired:
    /\bDECISIONS\b|\b(?:house|stack|web|style)\.md\b|-completed\b|(?<![\w/-])(?:agent-api|agent-api-decisions|model-gateway|gateway-decisions|money|sandbox|payments|packs-and-runs|architecture)\.md\b/g,
}

interface Spec {
  sections: Set<string>
  operations: Set<string>
  routes: Set<string>
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, ...groups]) => groups.join(' '))
const documents: Record<string, Spec> = Object.fromEntries(
  ['agent-api', 'model-gateway'].map((name, index) => {
    const text = read(`docs/spec/${name}.md`)
    const routes = found(text, /\| (GET|POST|PUT|PATCH|DELETE) \| (\S+) \|/g)
    const spec = {
      sections: new Set(found(text, /^## (\d+)\. /gm)),
      operations: new Set(found(text, /^(\d+)\. \*\*/gm)),
      routes: new Set(routes.map(withoutVersion)),
    }
    return [String(index + 1), spec]
  }),
)
const decisions = [...new Bun.Glob('*.md').scanSync(join(root, 'docs/decisions'))]

function withoutVersion(route: string): string {
  return route.replace(' /v1/', ' /')
}

function headingsOf(path: string): string[] {
  return found(read(path), /^#{1,6} (.+)$/gm)
}

/** Returns all numbers of "1", "1 and 3", "1, 2 and 4" or "8 to 11". */
function expand(text: string): string[] {
  const all: string[] = []
  for (const [, to = '', digits = ''] of text.matchAll(/(to )?(\d+)/g)) {
    const first = to === '' ? Number(digits) : Number(all.at(-1)) + 1
    for (let number = first; number <= Number(digits); number += 1) all.push(String(number))
  }
  return all
}

function checkNumbers(which: string, kind: string, text: string): string[] {
  const spec = documents[which]
  if (!spec) return [`document ${which} does not exist`]
  const known = kind.toLowerCase() === 'section' ? spec.sections : spec.operations
  return expand(text)
    .filter((number) => !known.has(number))
    .map((number) => `document ${which} has no ${kind.toLowerCase()} ${number}`)
}

function checkFile(citation: string, heading: string | undefined): string[] {
  const [path = ''] = citation.split(', "')
  if (!existsSync(join(root, path))) return [`${path} does not exist`]
  if (heading === undefined || headingsOf(path).includes(heading)) return []
  return [`${path} has no heading "${heading}"`]
}

function checkLink(from: string, target: string): string[] {
  if (/^(?:[a-z]+:|#|\/)/.test(target)) return []
  const [file = ''] = target.split('#')
  const path = normalize(join(dirname(from), file))
  return existsSync(join(root, path)) ? [] : [`link to ${path}, which does not exist`]
}

/** Returns the citations in a file that do not resolve. Comments are joined across lines first. */
function findBrokenCitations(path: string, source: string): string[] {
  const text = source.replaceAll(/\s*\n[ \t]*(?:\*(?!\*)|\/\/|#|--)?[ \t]*/g, ' ')
  const broken: string[] = []
  for (const [citation, which = '', between, kind = '', list = ''] of text.matchAll(
    patterns.numbered,
  )) {
    if (between !== ', ') broken.push(`write "document ${which}, ${kind}" for "${citation}"`)
    broken.push(...checkNumbers(which, kind, list))
  }
  for (const [, kind = '', list = '', which = ''] of text.matchAll(patterns.inverted)) {
    broken.push(...checkNumbers(which, kind, list))
  }
  for (const [, which = '', method = '', route = ''] of text.matchAll(patterns.route)) {
    const name = withoutVersion(`${method.toUpperCase()} ${route}`)
    if (!documents[which]?.routes.has(name)) broken.push(`document ${which} has no ${name}`)
  }
  for (const [citation, heading] of text.matchAll(patterns.file)) {
    broken.push(...checkFile(citation, heading))
  }
  for (const [, number = ''] of text.matchAll(patterns.decision)) {
    const isKnown = decisions.some((name) => name.startsWith(`${number.slice(0, 4)}-`))
    if (!isKnown || number.length > 4) broken.push(`docs/decisions/${number} does not exist`)
  }
  if (path.endsWith('.md')) {
    for (const [, target = ''] of source.matchAll(patterns.link)) {
      broken.push(...checkLink(path, target))
    }
    for (const [, file = ''] of source.matchAll(patterns.code)) {
      const isKnown = ['', 'src'].some((folder) => existsSync(join(root, folder, file)))
      if (!isKnown) broken.push(`${file} does not exist`)
    }
  } else {
    for (const [name] of text.matchAll(patterns.retired)) {
      broken.push(`"${name}" names no file: write its path below docs/`)
    }
  }
  return broken.map((problem) => `${path}: ${problem}`)
}

function citingFiles(): string[] {
  const globs = [
    '{src,scripts,public}/**/*',
    'docs/**/*.md',
    '*.md',
    '.github/**/*.md',
    'Dockerfile',
  ]
  const paths = globs.flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: root, dot: true })])
  return paths.filter(
    (path) =>
      path !== own &&
      !/^public\/(?:dist|samples)\//.test(path) &&
      /(?:\.(?:ts|css|md)|\/[a-z-]+|^Dockerfile)$/.test(path),
  )
}

test('every citation resolves to a file, a section and a heading of the repository', () => {
  const paths = citingFiles()
  expect(paths.length).toBeGreaterThan(500)
  expect(paths.flatMap((path) => findBrokenCitations(path, read(path)))).toEqual([])
})

test('no two decision records have one number', () => {
  const all = decisions.map((name) => name.slice(0, 4))
  expect(all.filter((number, at) => all.indexOf(number) !== at)).toEqual([])
})

const invented: [source: string, problem: string][] = [
  ['/** See document 1, section 77. */', 'document 1 has no section 77'],
  ['/** See document 2,\n * section 12. */', 'document 2 has no section 12'],
  ['/** See document 3, section 1. */', 'document 3 does not exist'],
  ['/** See document 1, operations 16 to 18. */', 'document 1 has no operation 17'],
  ['/** See document 2, operation 1. */', 'document 2 has no operation 1'],
  ['/** See section 10 of document 1. */', 'document 1 has no section 10'],
  ['// See document 1 section 8', 'write "document 1, section" for "document 1 section 8"'],
  ['/** See document 2, POST /v1/poems. */', 'document 2 has no POST /poems'],
  ['// docs/spec/poems.md', 'docs/spec/poems.md does not exist'],
  ['// docs/spec/money.md, "Poems"', 'docs/spec/money.md has no heading "Poems"'],
  ['// docs/decisions/9999', 'docs/decisions/9999 does not exist'],
  ['// money.md, "Units"', '"money.md" names no file: write its path below docs/'],
  ['// DECISIONS 73', '"DECISIONS" names no file: write its path below docs/'],
]

test.each(invented)('an invented citation is reported: %j', (source, problem) => {
  expect(findBrokenCitations('src/a.ts', source)).toContain(`src/a.ts: ${problem}`)
})

test('citations in every form of the grammar are accepted', () => {
  const source = `
/** Document 1, section 7. Document 1, operations 8 to 11 and 13. Sections 4 and 7 of document 2. */
// document 2, POST /v1/files and document 2, GET /queries/history; docs/spec/money.md, "Units"
// docs/decisions/0001, docs/spec/sandbox.md`
  expect(findBrokenCitations('src/a.ts', source)).toEqual([])
})

test('broken links and paths of a Markdown file are reported', () => {
  const links = '[a](spec/money.md) [b](poems.md#x) [c](https://example.com/d.md)'
  expect(findBrokenCitations('docs/a.md', `${links} \`src/main.ts\` \`core/poem.ts\``)).toEqual([
    'docs/a.md: link to docs/poems.md, which does not exist',
    'docs/a.md: core/poem.ts does not exist',
  ])
})
