/** The direction of imports: docs/architecture.md, "Modules", as rows. */
import { importCycles } from './import-cycles.ts'
import { type Finding, finding, type Import, isBrowserCode, type Source } from './source.ts'

/** A module imports modules of earlier rows. */
const modules = [
  ['kernel'],
  ['store', 'money', 'jobs'],
  ['people', 'gateway'],
  ['apps'],
  ['site'],
  ['server'],
  ['main'],
]

/**
 * The folders inside a module, in the same way. Here folders of one row may import each other. `.`
 * is the files of the module itself, except those that have a row, and `*` is all other folders.
 */
const inner: Record<string, string[][]> = {
  kernel: [['.', 'config', 'db', 'words'], ['telemetry', 'state'], ['context'], ['http']],
  money: [
    ['prices', 'ledger', 'keys'],
    ['idempotency', 'payments'],
    ['pay', 'payment', 'perform'],
  ],
  people: [
    ['operation', 'error-messages', 'error-response', 'audit', 'notifications', 'profiles'],
    ['agents', '.'],
    ['connectors'],
  ],
  gateway: [
    ['models', 'limits', 'error-messages', 'error-response', 'error-examples', 'authentication'],
    [
      'call',
      'operation',
      'events',
      'client-api',
      'fields',
      'request-schemas',
      'list',
      'catalog',
      'accounts',
      'usage',
    ],
    ['*'],
    ['completions', 'images', 'videos', 'moderations', 'batches', 'realtime', 'client-apis'],
    ['session-calls'],
  ],
  apps: [
    ['kinds'],
    ['browser', 'generators', 'libraries', 'scan', 'folders', 'model-call', 'uses', 'knobs'],
    ['jobs'],
    ['.', 'appeal', 'audience', 'assets', 'builds', 'covers', 'icon', 'remix', 'scans', 'versions'],
    ['explore', 'ai', 'errors'],
    ['moderation', 'reviews', 'packs', 'collections', 'app-data'],
    ['runs', 'profiles'],
    ['imports'],
    ['me', 'owners'],
    ['devices', 'connectors'],
    ['viewer'],
  ],
  server: [['operator', 'https'], ['http', 'mcp', 'console', '.'], ['cli']],
}

const moduleAt = (path: string, depth: number): string =>
  (path.split('/')[depth] ?? '').replace(/\.ts$/, '')

/** Returns the folder of a file inside its module. */
function folderIn(path: string, table: string[][]): string {
  const name = moduleAt(path, 2)
  const isFile = path.split('/').length === 3
  return isFile && ownRowOf(table, name) < 0 ? '.' : name
}

const ownRowOf = (table: string[][], name: string): number =>
  table.findIndex((row) => row.includes(name))

const rowOf = (table: string[][], name: string): number => {
  const own = ownRowOf(table, name)
  return own < 0 && name !== '.' ? ownRowOf(table, '*') : own
}

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
  const within = inner[moduleAt(path, 1)]
  const name = within ? folderIn(path, within) : moduleAt(path, 1)
  if (rowOf(within ?? modules, name) >= 0) return []
  const fix = 'move it into a module of docs/architecture.md, or add it to scripts/tidy/modules.ts'
  return [finding(source, source.ast, `no row for the module ${name}`, fix)]
}

type Problem = [what: string, fix: string]

/** The modules that run on the server and in browsers (docs/decisions/0083, 0112 and 0127). */
const sharedFiles = [
  'src/apps/folders/page-folder.ts',
  'src/apps/folders/page-names.ts',
  'src/apps/folders/page-tags.ts',
  'src/apps/folders/unzip.ts',
  'src/apps/knobs/knobs.ts',
  'src/site/docs/request-code.ts',
  'src/apps/libraries/firebase-exports.ts',
  'src/site/models/modes.ts',
  'src/site/models/code-examples.ts',
]

function importProblem(source: Source, entry: Import): Problem | undefined {
  const { to } = entry
  const { path, test } = source
  if (test || path.startsWith('scripts/') || !/^(src|scripts|public)\//.test(to)) return undefined
  if (isBrowserCode(path)) {
    if (isBrowserCode(to) || sharedFiles.includes(to)) return undefined
    return [`code of browsers imports ${to}`, 'import nothing of the server']
  }
  if (isBrowserCode(to))
    return [`the server imports ${to}`, 'build it with scripts/build-public.ts']
  if (!to.startsWith('src/')) return [`src imports ${to}`, 'move what the binary needs into src']
  if (to.startsWith('src/testing/')) return [`imports ${to}`, 'only tests import testing/']
  if (/^src\/kernel\/config\//.test(to) && entry.typeOnly) return undefined
  return directionProblem(path, to) ?? tableProblem(path, to)
}

function directionProblem(from: string, to: string): Problem | undefined {
  const [fromModule, toModule] = [moduleAt(from, 1), moduleAt(to, 1)]
  const isInside = fromModule === toModule
  const table = isInside ? inner[fromModule] : modules
  if (!table) return undefined
  const [here, there] = isInside
    ? [folderIn(from, table), folderIn(to, table)]
    : [fromModule, toModule]
  if (here === there) return undefined
  const [fromRow, toRow] = [rowOf(table, here), rowOf(table, there)]
  if (fromRow < 0 || toRow < 0 || toRow < fromRow) return undefined
  if (toRow === fromRow && table !== modules) return undefined
  return [
    `${here} imports ${there}`,
    `imports go to earlier rows of docs/architecture.md: ${there} is not earlier`,
  ]
}

/** Returns the folder that is one module: "src/money/ledger", "src/jobs". */
const folderOf = (path: string): string => {
  const table = inner[moduleAt(path, 1)]
  const module = `src/${moduleAt(path, 1)}`
  return table ? `${module}/${folderIn(path, table)}` : module
}

/** Files that declare operations or routes, and have no SQL. */
const edge = /[/-](operations|routes)\.ts$/

/** Only the folder that owns a table has its SQL. Tables may refer to each other. */
function tableProblem(from: string, to: string): Problem | undefined {
  if (!to.endsWith('/tables.ts') || from.endsWith('/tables.ts')) return undefined
  const home = to.slice(0, -'tables.ts'.length)
  if (from.startsWith(home) && !edge.test(from)) return undefined
  return [`imports ${to}`, 'call a function of the module that owns the table']
}
