/** The arrows: which room may import which. docs/architecture.md, "Modules", as rows. */
import { circles } from './circles.ts'
import { type Finding, finding, type Import, type Source } from './source.ts'

/** A room imports rooms of earlier rows. The rooms of the first row may also import each other. */
const rows = [
  ['core', 'db', 'errors', 'prices', 'limits', 'config', 'version', 'request-context'],
  ['ledger', 'keys', 'idempotency', 'storage', 'scan', 'jobs', 'generators', 'providers', 'models'],
  ['browser', 'state'],
  ['context'],
  ['hosting', 'gateway'],
  ['operator'],
  ['viewer', 'mcp', 'web'],
  ['http', 'cli'],
  ['main'],
]

/** The rooms inside an API, in the same way; here every row may look sideways. */
const inner: Record<string, string[][]> = {
  hosting: [
    ['messages', 'envelope', 'operation', 'notifications', 'models'],
    ['agents'],
    ['key'],
    ['apps'],
    ['jobs'],
    ['versions', 'builds', 'assets', 'icons', 'explore', 'moderation'],
    ['reviews'],
    ['keys', 'me', 'people', 'start'],
    ['api'],
  ],
  gateway: [
    ['messages', 'envelope', 'examples', 'operation', 'key', 'call', 'description', 'paths'],
    ['fields', 'catalogue', 'accounts', 'usage'],
    ['paid'],
    ['chat', 'made', 'files', 'topups'],
    ['embeddings', 'images', 'videos', 'audio', 'responses'],
    ['api'],
  ],
}

/** The request context stands beside the router and is read by every module below it. */
const requestContext = 'src/http/request-context.ts'

const roomAt = (path: string, depth: number): string =>
  path === requestContext && depth === 1
    ? 'request-context'
    : (path.split('/')[depth] ?? '').replace(/\.ts$/, '')

const rowOf = (table: string[][], room: string): number =>
  table.findIndex((row) => row.includes(room))

export function arrows(tree: Source[]): Finding[] {
  const found = tree.flatMap((source) => [
    ...unknownRoom(source),
    ...source.imports.flatMap((entry) => {
      const fault = faultOf(source, entry)
      return fault ? [finding(source, entry.node, ...fault)] : []
    }),
  ])
  return [...found, ...circles(tree, roomOf)]
}

function unknownRoom(source: Source): Finding[] {
  const { path, test } = source
  if (!path.startsWith('src/') || test) return []
  const within = path.split('/').length > 2 ? inner[roomAt(path, 1)] : undefined
  const name = roomAt(path, within ? 2 : 1)
  if (rowOf(within ?? rows, name) >= 0) return []
  const mend = 'put it into a module of docs/architecture.md, or draw the new room in scripts/tidy/rooms.ts'
  return [finding(source, source.ast, `no row for the room ${name}`, mend)]
}

type Fault = [what: string, mend: string]

function faultOf(source: Source, entry: Import): Fault | undefined {
  const { to } = entry
  const [from] = source.path.split('/')
  if (source.test || !/^(src|scripts|public)\//.test(to)) return undefined
  if (from !== 'src') {
    if (from === 'scripts' || to.startsWith(`${from}/`)) return undefined
    return [`${from} imports ${to}`, 'what visitors load stands alone']
  }
  if (!to.startsWith('src/')) return [`src imports ${to}`, 'move what the binary needs into src']
  if (to.startsWith('src/testing/')) return [`imports ${to}`, 'only tests import testing/']
  if (/^src\/config\//.test(to) && entry.typeOnly) return undefined
  return betweenRooms(source.path, to) ?? tables(source.path, to)
}

function betweenRooms(from: string, to: string): Fault | undefined {
  const [room, other] = [roomAt(from, 1), roomAt(to, 1)]
  const table = room === other ? inner[room] : rows
  const [here, there] = room === other ? [roomAt(from, 2), roomAt(to, 2)] : [room, other]
  if (!table || here === there) return undefined
  const [high, low] = [rowOf(table, here), rowOf(table, there)]
  if (high < 0 || low < 0 || low < high) return undefined
  if (low === high && (table !== rows || high === 0)) return undefined
  return [
    `${here} imports ${there}`,
    `an arrow points up the rows of docs/architecture.md: ${there} is not above`,
  ]
}

/** The folder that is one room: "src/ledger", "src/hosting/apps". */
const roomOf = (path: string): string =>
  path === requestContext
    ? path
    : path
        .split('/')
        .slice(0, inner[roomAt(path, 1)] ? 3 : 2)
        .join('/')

/** SQL for a table is written in the room named for it; tables may refer to each other. */
function tables(from: string, to: string): Fault | undefined {
  if (!to.endsWith('/tables.ts') || from.endsWith('/tables.ts')) return undefined
  const home = to.slice(0, -'tables.ts'.length)
  if (from.startsWith(home) && !from.endsWith('/routes.ts')) return undefined
  return [`imports ${to}`, 'call a verb of the room that owns the table']
}
