/**
 * The checks of `./scripts/test` and CI; with `quick`, only the static checks and the unit tests.
 * Exits 1 when a check fails.
 */
import { slowestFirst } from './check/order.ts'
import { installBrowsers, installPackages } from './check/packages.ts'
import { bun, runSteps, runTests, type Step, succeeds } from './check/run.ts'

/** Tests that drive real browsers. */
const withBrowsers = ['src/browser', 'src/web/browsing']
/** Attacks on the sandbox in all browsers at once. */
const attacks = ['src/testing/red-team']
/** Pages in the sandbox, in one browser at a time. */
const sandboxed = ['src/testing/compatibility', 'src/testing/corpus']
const notIn = (paths: string[]) => paths.map((path) => `--path-ignore-patterns=${path}`)
const withoutBrowsers = notIn(
  [...withBrowsers, ...attacks, ...sandboxed].map((folder) => `${folder}/**`),
)

/** Modules whose tests start no whole server, or few. */
const unitModules =
  'config core db generators http jobs ledger mcp models providers scan state storage viewer'
const unitFolders = unitModules.split(' ').map((name) => `src/${name}`)

const storingTests = [
  'src/db',
  'src/ledger',
  'src/hosting',
  'src/gateway',
  'src/models',
  'src/payments',
  'src/web',
  'src/testing/bad-input.test.ts',
  'src/testing/contract.test.ts',
  'src/testing/properties.test.ts',
  'src/testing/errors.test.ts',
  'src/testing/replicas',
]

/**
 * Tests that PostgreSQL adds nothing to: charges of requests that become those of src/gateway/chat
 * before anything is stored, and the reader of archives.
 */
const sameOnPostgres = notIn([
  ...['cohere', 'gemini', 'messages-api', 'openrouter'].map(
    (name) => `src/gateway/${name}/ledger-table.test.ts`,
  ),
  'src/gateway/completions/completions.test.ts',
  'src/hosting/folders/zip-reader.test.ts',
])

/** Flags for test files in several processes, each of which keeps its modules between files. */
const inProcesses = (count: number) => [`--parallel=${count}`, '--no-isolate']

/**
 * Runs the tests of everything that stores rows on a PostgreSQL server that the wrapper starts. The
 * cells of a table of charges wait for one account there, so only a few run at once.
 */
const onPostgres = () =>
  runTests(
    'postgres',
    [
      ...inProcesses(2),
      '--max-concurrency=5',
      ...withoutBrowsers,
      ...sameOnPostgres,
      ...storingTests,
    ],
    [process.execPath, 'src/testing/postgres.ts'],
  )

const onSqlite = async () =>
  runTests('sqlite', [...inProcesses(3), await slowestFirst(), ...withoutBrowsers])

/** A short run of each long test: crashes of the server, also during payments, and many streams. */
const soak = async () =>
  (await bun('scripts/soak/kill.ts', '3')) &&
  (await bun('scripts/soak/payments.ts', '3')) &&
  (await bun('scripts/soak/topups.ts', '3')) &&
  (await bun('scripts/soak/streams.ts')) &&
  bun('scripts/soak/replicas.ts', '60')

/** Installs what tests start beside the server: a node of a chain, an S3 server, and so on. */
const installServices = async () =>
  (await installPackages(
    { tests: 'Bitcoin', program: 'litecoind', packages: ['litecoind'] },
    succeeds,
  )) &&
  (await installPackages(
    {
      tests: 'storage in S3',
      program: 'swift-object-server',
      packages: ['swift-proxy', 'swift-account', 'swift-container', 'swift-object'],
    },
    succeeds,
  )) &&
  (await installPackages(
    { tests: 'backups of PostgreSQL', program: 'pg_ctlcluster', packages: ['postgresql'] },
    succeeds,
  )) &&
  (await installPackages(
    { tests: 'a load balancer', program: 'nginx', packages: ['nginx-light'] },
    succeeds,
  )) &&
  installPackages({ tests: 'a pooler', program: 'pgbouncer', packages: ['pgbouncer'] }, succeeds)

const staticChecks: Step[][] = [
  [['format', () => bun('fmt', '--check')]],
  [['types', () => bun('check')]],
  [['types of public', () => bun('check', '-p', 'public')]],
  [['tidy', () => bun('scripts/tidy.ts')]],
  [['settings', () => bun('scripts/settings.ts', '--check')]],
]

const unitTests = () => runTests('unit', [...inProcesses(2), ...withoutBrowsers, ...unitFolders])

const install = async () => (await installBrowsers(succeeds)) && installServices()

const fullChecks: Step[][][] = [
  [
    ...staticChecks,
    [['migrations', () => bun('scripts/migrations.ts', '--check')]],
    [['build', () => succeeds(['./scripts/build'])]],
    [['browsers and services', install]],
  ],
  [[['tests on SQLite', onSqlite]]],
  [
    // Browser tests and kills wait a lot.
    [['tests on PostgreSQL', onPostgres]],
    [
      ['tests in browsers', () => runTests('browsers', withBrowsers)],
      ['soak', soak],
    ],
  ],
  // Alone, because a browser that waits for the processor looks like one that the sandbox blocked.
  [[['attacks on the sandbox', () => runTests('attacks', attacks)]]],
  [[['pages in the sandbox', () => runTests('sandboxed', ['--parallel=2', ...sandboxed])]]],
]

const isQuick = Bun.argv[2] === 'quick'
const passed = await runSteps(isQuick ? [staticChecks, [[['unit tests', unitTests]]]] : fullChecks)
process.exit(passed ? 0 : 1)
