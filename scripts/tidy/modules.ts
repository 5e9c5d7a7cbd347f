/** The direction of imports: docs/architecture.md, "Modules", as rows. */
import { importCycles } from './import-cycles.ts'
import { type Finding, finding, type Import, type Source } from './source.ts'

/** A module imports modules of earlier rows. Modules of the first row may import each other. */
const rows = [
  ['core', 'db', 'errors', 'prices', 'limits', 'config', 'version'],
  ['libraries'],
  ['ledger', 'keys', 'idempotency', 'storage', 'scan', 'jobs', 'generators', 'providers', 'models'],
  ['browser', 'state', 'payments', 'telemetry'],
  ['context'],
  ['http'],
  ['paid'],
  ['hosting', 'gateway'],
  ['operator'],
  ['viewer', 'mcp', 'web'],
  ['server'],
  ['cli'],
  ['main'],
]

/**
 * `src/kernel/http` has two modules. `http` is what routes need: request context, bodies, operations.
 * `server` joins all parts: these files import the front ends and nothing but main imports them.
 */
const serverFiles = /^src\/http\/(background-work|middleware|payments|router|server|site)\.ts$/

/** The modules inside an API, in the same way. Here modules of one row may import each other. */
const inner: Record<string, string[][]> = {
  hosting: [
    [
      'error-messages',
      'error-response',
      'operation',
      'kinds',
      'app-url',
      'folders',
      'audit',
      'notifications',
      'models',
    ],
    ['agents'],
    ['authentication'],
    ['jobs'],
    ['apps'],
    ['explore', 'reports', 'libraries'],
    ['moderation', 'reviews', 'packs', 'collections'],
    ['runs'],
    ['keys', 'me', 'people', 'topup', 'guide'],
    ['api'],
  ],
  gateway: [
    ['error-messages', 'error-response', 'error-examples', 'operation', 'authentication', 'call'],
    ['description', 'events', 'fields', 'request-schemas', 'list', 'catalog', 'accounts', 'usage'],
    ['paid'],
    ['media-files', 'files', 'topups', 'audio', 'chat'],
    ['embeddings', 'images', 'videos', 'responses', 'messages-api', 'completions'],
    ['gemini', 'openrouter', 'moderations', 'rerank', 'batches', 'realtime'],
    ['cohere'],
    ['envelopes'],
    ['api'],
  ],
}

const moduleAt = (path: string, depth: number): string =>
  depth === 1 && serverFiles.test(path)
    ? 'server'
    : (path.split('/')[depth] ?? '').replace(/\.ts$/, '')

const rowOf = (table: string[][], name: string): number =>
  table.findIndex((row) => row.includes(name))

export function arrows(tree: Source[]): Finding[] {
  const found = tree.flatMap((source) => [
    ...unknownModule(source),
    ...source.imports.flatMap((entry) => {
      const problem = importProblem(source, entry)
      return problem ? [finding(source, entry.node, ...problem)] : []
    }),
  ])
  return [...found, ...importCycles(tree, folderOf)]
}

function unknownModule(source: Source): Finding[] {
  const { path, test } = source
  if (!path.startsWith('src/') || test) return []
  const within = path.split('/').length > 2 ? inner[moduleAt(path, 1)] : undefined
  const name = moduleAt(path, within ? 2 : 1)
  if (rowOf(within ?? rows, name) >= 0) return []
  const fix = 'move it into a module of docs/architecture.md, or add it to scripts/tidy/modules.ts'
  return [finding(source, source.ast, `no row for the module ${name}`, fix)]
}

type Problem = [what: string, fix: string]

/** The modules that run on the server and in browsers (docs/decisions/0071 and 0083). */
const sharedFiles = [
  'src/apps/folders/page-folder.ts',
  'src/apps/folders/rewrite-page.ts',
  'src/apps/folders/unzip.ts',
  'src/site/models/modes.ts',
  'src/site/models/code-examples.ts',
]

function importProblem(source: Source, entry: Import): Problem | undefined {
  const { to } = entry
  const [from] = source.path.split('/')
  if (source.test || !/^(src|scripts|public)\//.test(to)) return undefined
  if (from !== 'src') {
    if (from === 'scripts' || to.startsWith(`${from}/`) || sharedFiles.includes(to))
      return undefined
    return [`${from} imports ${to}`, 'code of browsers imports nothing of the server']
  }
  if (!to.startsWith('src/')) return [`src imports ${to}`, 'move what the binary needs into src']
  if (to.startsWith('src/testing/')) return [`imports ${to}`, 'only tests import testing/']
  if (/^src\/config\//.test(to) && entry.typeOnly) return undefined
  return directionProblem(source.path, to) ?? tableProblem(source.path, to)
}

function directionProblem(from: string, to: string): Problem | undefined {
  const [fromModule, toModule] = [moduleAt(from, 1), moduleAt(to, 1)]
  const isInside = fromModule === toModule
  const table = isInside ? inner[fromModule] : rows
  const [here, there] = isInside ? [moduleAt(from, 2), moduleAt(to, 2)] : [fromModule, toModule]
  if (!table || here === there) return undefined
  const [fromRow, toRow] = [rowOf(table, here), rowOf(table, there)]
  if (fromRow < 0 || toRow < 0 || toRow < fromRow) return undefined
  if (toRow === fromRow && (table !== rows || fromRow === 0)) return undefined
  return [
    `${here} imports ${there}`,
    `imports go to earlier rows of docs/architecture.md: ${there} is not earlier`,
  ]
}

/** Returns the folder that is one module: "src/money/ledger", "src/apps". */
const folderOf = (path: string): string =>
  serverFiles.test(path)
    ? 'src/server/http/server.ts'
    : path
        .split('/')
        .slice(0, inner[moduleAt(path, 1)] ? 3 : 2)
        .join('/')

/** Files that declare operations or routes, and have no SQL. */
const edge = /[/-](operations|routes)\.ts$/

/** Only the folder that owns a table has its SQL. Tables may refer to each other. */
function tableProblem(from: string, to: string): Problem | undefined {
  if (!to.endsWith('/tables.ts') || from.endsWith('/tables.ts')) return undefined
  const home = to.slice(0, -'tables.ts'.length)
  if (from.startsWith(home) && !edge.test(from)) return undefined
  return [`imports ${to}`, 'call a function of the module that owns the table']
}
