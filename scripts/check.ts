/**
 * The checks of `./scripts/test` and CI. `quick` runs the static checks and the unit tests; `all`
 * also runs what takes minutes (scripts/check/thorough.ts). Exits 1 when a check fails.
 */
import { slowestFirst } from './check/order.ts'
import { installBrowsers, installPackages } from './check/packages.ts'
import { bun, runSteps, runTests, type Step, succeeds } from './check/run.ts'
import { thoroughSteps } from './check/thorough.ts'

const scope = Bun.argv[2]
if (scope !== undefined && scope !== 'quick' && scope !== 'all') {
  console.error(`./scripts/test takes "quick", "all" or nothing, not "${scope}".`)
  process.exit(1)
}
/** src/testing/thorough.ts reads it in the processes of tests. */
if (scope === 'all') process.env['TESTS'] = 'all'

/** Tests that drive real browsers. Every process of another step would start its own Chromium. */
const withBrowsers = [
  'src/apps/browser',
  'src/apps/viewer/offline-copy.test.ts',
  'src/apps/viewer/own-manifest.test.ts',
  'src/apps/viewer/received.test.ts',
  'src/site/browsing',
  'src/testing/browsers',
  'src/testing/chats',
  'src/testing/journeys/people.test.ts',
]
/** Attacks on the sandbox in all browsers at once. */
const attacks = ['src/testing/red-team']
/** Pages in the sandbox. */
const sandboxed = ['compatibility', 'corpus', 'folders', 'hosts'].map(
  (name) => `src/testing/${name}`,
)
const withoutBrowsers = [...withBrowsers, ...attacks, ...sandboxed].map(
  (path) => `--path-ignore-patterns=${path.endsWith('.ts') ? path : `${path}/**`}`,
)

/** Folders whose tests start no whole server, or few, and check large inputs in no worker. */
const unitFolders = [
  'src/kernel',
  'src/jobs',
  'src/money/ledger',
  'src/gateway/models',
  'src/gateway/providers',
  'src/apps/viewer',
]

/** Tests of what owns SQL, locks or a dialect of its own, and one run through all operations. */
const onBothEngines = [
  'src/kernel/db',
  'src/money',
  'src/jobs',
  'src/gateway/models',
  'src/apps/explore',
  'src/apps/concurrent-changes.test.ts',
  'src/testing/contract.test.ts',
  'src/testing/replicas',
]
/** Tests of what servers of chains answer. Those beside them store the same payments. */
const onSqliteOnly = [
  'coins/{bitcoin,changed-networks,other-networks,rates,solana,unreadable-servers}',
  'x402/{attacks,facilitator,guide,offer,unreadable-chain}',
].map((names) => `--path-ignore-patterns=src/money/payments/${names}.test.ts`)

/** Flags for test files in several processes, each of which keeps its modules between files. */
const inProcesses = (count: number) => [`--parallel=${count}`, '--no-isolate']

/**
 * Runs tests on a PostgreSQL server that the wrapper starts. The cells of a table of charges wait
 * for one account there, so only a few run at once. Browsers run beside them: with more processes,
 * units of work exceed their five seconds.
 */
const onPostgres = async () =>
  runTests(
    'postgres',
    [
      ...inProcesses(2),
      await slowestFirst(),
      '--max-concurrency=5',
      ...withoutBrowsers,
      ...(scope === 'all' ? ['src'] : [...onSqliteOnly, ...onBothEngines]),
    ],
    [process.execPath, 'src/testing/postgres.ts'],
  )

/** Many tests wait for a deadline or an upstream, so more processes run than there are cores. */
const onSqlite = async () =>
  runTests('sqlite', [...inProcesses(4), await slowestFirst(), ...withoutBrowsers])

/** Tests beside the pages in the sandbox that run once, and not in each browser. */
const once = [
  'corpus/redirects',
  'corpus/scan',
  'corpus/coverage',
  'corpus/fetched',
  'hosts/guide',
  'hosts/vendor-sdks',
]

const testFiles = (names: string[]) => names.map((name) => `src/testing/${name}.test.ts`)

/** Tests of pages of the site beside those in the sandbox, in a browser that runs already. */
const inEachBrowser = ['errors-in-browsers', 'firefox', 'moments-in-browsers'].map(
  (name) => `src/site/browsing/${name}.test.ts`,
)
const withoutFiles = (paths: string[]) => paths.map((path) => `--path-ignore-patterns=${path}`)

/** Some tests wait for a page to hang, so more processes run than there are cores. */
const inBrowsers = async () =>
  runTests('browsers', [
    ...inProcesses(3),
    await slowestFirst(),
    ...withBrowsers,
    ...testFiles(once),
    ...withoutFiles(inEachBrowser),
  ])

/** Pages in the sandbox of one browser (src/testing/browsers/all-browsers.ts). */
const inSandbox = (browser: string): Step => [
  `pages in the sandbox of ${browser}`,
  () => {
    // The files of a library change only with its version.
    const hasLibraries = scope === 'all' || browser === 'chromium'
    const ignored = testFiles([...once, ...(hasLibraries ? [] : ['corpus/libraries'])])
    return runTests(
      `sandbox-${browser}`,
      [...sandboxed, ...inEachBrowser, ...withoutFiles(ignored)],
      ['env', `TEST_BROWSER=${browser}`],
    )
  },
]

/** The seed of CI, so that a run can be repeated. */
const seed = '20261128'

/** A short run of each long test that no test file runs: crashes during payments, and moves. */
const soak = async () =>
  (await bun('scripts/soak/payments.ts', '2', seed)) &&
  (await bun('scripts/soak/topups.ts', '2', seed)) &&
  (await bun('scripts/soak/replicas.ts', '20', seed)) &&
  bun('src/testing/postgres.ts', process.execPath, 'scripts/soak/move.ts', '200')

/** Programs that tests start beside the server: a node of a chain, an S3 server, and so on. */
const services = [
  { tests: 'Bitcoin', program: 'litecoind', packages: ['litecoind'] },
  {
    tests: 'storage in S3',
    program: 'swift-object-server',
    packages: ['swift-proxy', 'swift-account', 'swift-container', 'swift-object'],
  },
  { tests: 'backups of PostgreSQL', program: 'pg_ctlcluster', packages: ['postgresql'] },
  { tests: 'a load balancer', program: 'nginx', packages: ['nginx-light'] },
  { tests: 'a pooler', program: 'pgbouncer', packages: ['pgbouncer'] },
  { tests: 'certificates', program: 'pebble', packages: ['pebble'] },
  { tests: 'completion in zsh', program: 'zsh', packages: ['zsh'] },
  { tests: 'completion in fish', program: 'fish', packages: ['fish'] },
]

async function installServices(): Promise<boolean> {
  for (const service of services) {
    if (!(await installPackages(service, succeeds))) return false
  }
  return true
}

/** Types take as long as all other static checks. */
const staticChecks: Step[][] = [
  [
    ['types', () => bun('check')],
    ['types of public', () => bun('check', '-p', 'public')],
    ['types of the SDK', () => bun('check', '-p', 'sdk/typescript')],
  ],
  [
    ['format', () => bun('fmt', '--check')],
    ['settings', () => bun('scripts/settings.ts', '--check')],
    ['docs of the command line', () => bun('scripts/cli.ts', '--check')],
    ['generated files of the SDKs', () => bun('scripts/sdk.ts', '--check')],
    ['catalogs of messages', () => bun('scripts/words.ts', '--check')],
    ['tidy', () => bun('scripts/tidy.ts')],
  ],
]

const unitTests = () =>
  runTests('unit', [
    ...inProcesses(2),
    ...withoutBrowsers,
    '--path-ignore-patterns=**/pdf-reader.test.ts',
    // They run whole servers.
    '--path-ignore-patterns=**/{output-limits,codec-*,ai-sdk/errors}.test.ts',
    ...unitFolders,
  ])

// The highest quality takes a minute of both cores, and only makes the binary smaller. The test of
// its size reads this, too.
if (scope !== 'all') Bun.env['BROTLI_QUALITY'] = '5'

const install = async () => (await installBrowsers(succeeds)) && installServices()

const ciChecks: Step[][][] = [
  [
    ...staticChecks,
    [
      ['migrations', () => bun('scripts/migrations.ts', '--check')],
      ['build', () => succeeds(['./scripts/build'])],
    ],
    [['browsers and services', install]],
  ],
  // Kills, browsers and PostgreSQL wait half of their time, so four steps use two cores.
  [
    [['tests on SQLite', onSqlite]],
    [
      ['soak', soak],
      ['attacks on the sandbox', () => runTests('attacks', attacks)],
      inSandbox('webkit'),
    ],
    [['tests on PostgreSQL', onPostgres], inSandbox('chromium')],
    [['tests in browsers', inBrowsers], inSandbox('firefox')],
  ],
]

const quickChecks: Step[][][] = [[...staticChecks, [['unit tests', unitTests]]]]

const groups =
  scope === 'quick' ? quickChecks : scope === 'all' ? [...ciChecks, ...thoroughSteps] : ciChecks
process.exit((await runSteps(groups)) ? 0 : 1)
