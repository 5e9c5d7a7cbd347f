/** Who may touch the world: environment, clock, randomness, printing, network, files, database. */
import ts from 'typescript'

import { type Finding, finding, type Source, walk } from './source.ts'

interface Right {
  /** What a file does, as the text of a global name or member: "Bun.env", "fetch", "new Date". */
  uses: RegExp
  /** Packages that do the same, and the names in them that do not. */
  imports?: RegExp
  harmless?: string[]
  /** The files that may. */
  may: RegExp
  what: string
  mend: string
}

const rights: Right[] = [
  {
    uses: /^(Bun|process|import\.meta)\.env$/,
    may: /^src\/config\//,
    what: 'reads the environment',
    mend: 'make it a setting of config/',
  },
  {
    uses: /^(Date\.now|new Date|performance\.now|process\.hrtime|Bun\.nanoseconds|Temporal\.Now)$/,
    may: /^src\/core\/time\.ts$/,
    what: 'reads the clock',
    mend: 'take a Clock, or a stopwatch of core/time.ts',
  },
  {
    uses: /^(Math\.random|crypto\.(getRandomValues|randomUUID)|Bun\.randomUUIDv\d)$/,
    imports: /^(node:)?crypto$/,
    harmless: ['createHash', 'createHmac', 'timingSafeEqual'],
    may: /^src\/core\/ids\.ts$/,
    what: 'makes randomness',
    mend: 'use core/ids.ts',
  },
  {
    uses: /^(console\.\w+|(process|Bun)\.(stdout|stderr))$/,
    // main prints the results of commands, serve the banner.
    may: /^src\/(core\/log|main|cli\/serve)\.ts$/,
    what: 'prints',
    mend: 'use the Log, or print of core/log.ts',
  },
  {
    uses: /^(fetch|globalThis\.fetch|new (WebSocket|EventSource)|Bun\.(connect|fetch|udpSocket))$/,
    harmless: ['BlockList', 'isIP', 'isIPv4', 'isIPv6', 'SocketAddress'],
    imports: /^(node:)?(http2?|https|net|tls|dgram|dns)(\/promises)?$/,
    // The binary calls itself: `berth health`, the first sample, the control socket.
    may: /^src\/(core\/fetch\.ts|providers\/.*|(main|cli\/.*|operator\/control)\.ts)$/,
    what: 'reaches the network',
    mend: 'use core/fetch.ts, or a seam of providers/',
  },
  {
    uses: /^Bun\.(file|write|Glob)$/,
    imports: /^(node:)?fs(\/promises)?$/,
    // Beside the store: the database's own file, berth.toml, what the binary carries, the control
    // socket, and copies of the whole folder.
    may: /^src\/((storage|db|config)\/.*|(core\/public-files|cli\/.*|operator\/(control|backup))\.ts)$/,
    what: 'touches files',
    mend: 'use the Store, or core/public-files.ts for what the binary carries',
  },
  {
    uses: /^Bun\.(SQL|sql)$/,
    imports: /^(bun:sqlite|node:sqlite|drizzle-orm\/(bun-sql.*|bun-sqlite.*|postgres-js.*))$/,
    // folder-lock.ts stores no rows: its file is a lock that the system drops with the process.
    may: /^src\/(db\/|storage\/folder-lock\.ts$)/,
    what: 'opens a database',
    mend: 'take the Engine',
  },
]

export function reach(tree: Source[]): Finding[] {
  return tree
    .filter((source) => source.path.startsWith('src/') && !source.test)
    .flatMap((source) => [...uses(source), ...imports(source)])
}

function uses(source: Source): Finding[] {
  const found: Finding[] = []
  const own = declared(source)
  walk(source.ast, (node) => {
    const name = globalName(node, own)
    const right = name && rights.find(({ uses, may }) => uses.test(name) && !may.test(source.path))
    if (right) found.push(finding(source, node, `${right.what}: ${name}`, right.mend))
  })
  return found
}

function imports(source: Source): Finding[] {
  return source.imports.flatMap(({ to, node, typeOnly, names }) => {
    const right = rights.find((entry) => entry.imports?.test(to) && !entry.may.test(source.path))
    const harmless = names.length > 0 && names.every((name) => right?.harmless?.includes(name))
    return right && !typeOnly && !harmless
      ? [finding(source, node, `${right.what}: ${to}`, right.mend)]
      : []
  })
}

/** The global a node names, as `rights` spells it; undefined for our own names. */
function globalName(node: ts.Node, own: Set<string>): string | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    const base = node.expression.getText()
    return own.has(base) ? undefined : `${base}.${node.name.text}`
  }
  if (ts.isNewExpression(node)) {
    const name = node.expression.getText()
    const bare = name !== 'Date' || !node.arguments?.length
    return bare && !own.has(name) ? `new ${name}` : undefined
  }
  return ts.isIdentifier(node) && node.text === 'fetch' && !own.has('fetch') && isUse(node)
    ? 'fetch'
    : undefined
}

/** Not a name that a member, a property or a declaration carries. */
function isUse({ parent, ...node }: ts.Identifier): boolean {
  if (ts.isPropertyAccessExpression(parent)) return parent.expression.pos === node.pos
  if (ts.isPropertyAssignment(parent)) return parent.initializer.pos === node.pos
  return (
    ts.isCallExpression(parent) ||
    ts.isShorthandPropertyAssignment(parent) ||
    ts.isVariableDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isBinaryExpression(parent)
  )
}

/** Every name that the file itself imports or declares. */
function declared(source: Source): Set<string> {
  const names = new Set<string>()
  walk(source.ast, (node) => {
    const isNamed =
      ts.isImportSpecifier(node) ||
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isBindingElement(node)
    if (isNamed && node.name && ts.isIdentifier(node.name)) names.add(node.name.text)
  })
  return names
}
