/** Access to the outside and to credits: environment, clock, network, files, database, holds. */
import ts from 'typescript'

import { type Finding, finding, serverFiles, type Source } from './source.ts'

interface Right {
  /** The access as the text of a global name or member: "Bun.env", "fetch", "new Date". */
  uses: RegExp
  /** Packages with the same access, and their harmless exports. */
  imports?: RegExp
  harmless?: string[]
  /** The exports with the access, where most are harmless. */
  harmful?: string[]
  /** Files that are allowed this access. */
  may: RegExp
  what: string
  fix: string
}

const rights: Right[] = [
  {
    uses: /^(Bun|process|import\.meta)\.env$/,
    may: /^src\/kernel\/config\//,
    what: 'reads the environment',
    fix: 'add a setting to config/',
  },
  {
    uses: /^(Date\.now|new Date|performance\.now|process\.hrtime|Bun\.nanoseconds|Temporal\.Now)$/,
    may: /^src\/kernel\/time\.ts$/,
    what: 'reads the clock',
    fix: 'take a Clock, or a stopwatch of kernel/time.ts',
  },
  {
    uses: /^(Math\.random|crypto\.(getRandomValues|randomUUID)|Bun\.randomUUIDv\d)$/,
    imports: /^(node:)?crypto$/,
    harmless: [
      'createHash',
      'createHmac',
      'createPrivateKey',
      'timingSafeEqual',
      'X509Certificate',
    ],
    may: /^src\/kernel\/ids\.ts$/,
    what: 'makes randomness',
    fix: 'use kernel/ids.ts',
  },
  {
    uses: /^(console\.\w+|(process|Bun)\.(stdout|stderr))$/,
    // terminal prints the results of commands, and serve prints the banner.
    may: /^src\/(kernel\/log|server\/cli\/(serve|terminal))\.ts$/,
    what: 'prints',
    fix: 'use the Log, or print of kernel/log.ts',
  },
  {
    uses: /^(fetch|globalThis\.fetch|new (WebSocket|EventSource)|Bun\.(connect|fetch|udpSocket))$/,
    harmless: ['BlockList', 'isIP', 'isIPv4', 'isIPv6', 'SocketAddress'],
    imports: /^(node:)?(http2?|https|net|tls|dgram|dns)(\/promises)?$/,
    // The binary calls itself: `berth health`, the first sample, the control socket. The operator
    // chose the address of the bucket and the collector. A certificate is proven by TLS.
    may: /^src\/(kernel\/(fetch|fetch-json|telemetry\/telemetry)\.ts|store\/s3\/client\.ts|gateway\/providers\/.*|(main|server\/cli\/.*|server\/https\/challenges|server\/operator\/control)\.ts)$/,
    what: 'reaches the network',
    fix: 'use kernel/fetch.ts, or an adapter of gateway/providers/',
  },
  {
    uses: /^Bun\.(file|write|Glob)$/,
    imports: /^(node:)?fs(\/promises)?$/,
    // Besides storage: the database file, berth.toml, embedded files, the control socket,
    // certificates, copies of the data folder, and what /proc shows of a socket.
    may: /^src\/((store|kernel\/(db|config))\/.*|(kernel\/(public-files|lazy-packages|late-code)|apps\/libraries\/embedded|server\/cli\/.*|server\/http\/socket-activation|server\/https\/https|server\/operator\/(control|backup))\.ts)$/,
    what: 'touches files',
    fix: 'use Storage, or kernel/public-files.ts for what the binary carries',
  },
  {
    uses: /^Bun\.(SQL|sql)$/,
    imports: /^(bun:sqlite|node:sqlite|drizzle-orm\/(bun-sql.*|bun-sqlite.*|postgres-js.*))$/,
    // folder-lock.ts stores no rows. Its file is a lock that the system releases with the process.
    may: /^src\/(kernel\/db\/|store\/folder-lock\.ts$)/,
    what: 'opens a database',
    fix: 'take the Engine',
  },
  {
    uses: /(?!)/,
    imports: /^src\/money\/ledger\/(ledger|paid-work)\.ts$/,
    harmful: ['openHold', 'withHold'],
    may: /^src\/money\/(ledger\/|pay\.ts$)/,
    what: 'holds credits',
    fix: 'call pay of money/pay.ts (docs/decisions/0108)',
  },
]

export function access(tree: Source[]): Finding[] {
  return serverFiles(tree).flatMap((source) => [...uses(source), ...imports(source)])
}

function uses(source: Source): Finding[] {
  const found: Finding[] = []
  const own = declared(source)
  source.nodes.forEach((node) => {
    const name = globalName(node, own)
    const right = name && rights.find(({ uses, may }) => uses.test(name) && !may.test(source.path))
    if (right) found.push(finding(source, node, `${right.what}: ${name}`, right.fix))
  })
  return found
}

function imports(source: Source): Finding[] {
  return source.imports.flatMap(({ to, node, typeOnly, names }) => {
    const right = rights.find((entry) => entry.imports?.test(to) && !entry.may.test(source.path))
    const { harmless = [], harmful } = right ?? {}
    const isHarmless = harmful
      ? !names.some((name) => harmful.includes(name))
      : names.length > 0 && names.every((name) => harmless.includes(name))
    return right && !typeOnly && !isHarmless
      ? [finding(source, node, `${right.what}: ${to}`, right.fix)]
      : []
  })
}

/** Returns the global that a node names, as `rights` spells it, or undefined for a local name. */
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

/** Returns whether an identifier is a use, not the name of a member, property or declaration. */
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

/** Returns every name that the file imports or declares. */
function declared(source: Source): Set<string> {
  const names = new Set<string>()
  source.nodes.forEach((node) => {
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
