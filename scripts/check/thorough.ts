/** The steps of `./scripts/test all` beyond those of CI, whose own tests also run longer then. */
import { installModule } from './packages.ts'
import { bun, runTests, type Step, succeeds } from './run.ts'

/** Helm takes minutes to compile, so only this run installs it. */
const modules = [
  { tests: 'the Helm chart', program: 'helm', module: 'helm.sh/helm/v3/cmd/helm@v3.22.0' },
  {
    tests: 'the workflows',
    program: 'actionlint',
    module: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12',
  },
]

async function deployment() {
  for (const one of modules) if (!(await installModule(one, succeeds))) return false
  return runTests('deployment', ['src/testing/release/deployment.test.ts'])
}

/** All targets and packages, and the kinds of them that run here, installed and used. */
const releaseSteps: Step[] = [
  ['chart and workflows', deployment],
  ['release', () => succeeds(['./scripts/release'])],
  ['packages of the release', () => bun('scripts/packaging/try.ts')],
]

/** Rounds of each long run, about two minutes each. */
const soaks: [script: string, ...args: string[]][] = [
  ['kill', '40'],
  ['payments', '40'],
  ['topups', '40'],
  ['players', '40'],
  ['builds', '20'],
  ['streams', '2000'],
  ['bucket'],
  ['payloads'],
  ['properties', '200'],
  ['races', '30'],
  ['versions'],
  ['replicas', '300'],
  ['documents'],
]

const soakSteps = soaks.map(([script, ...args]): Step => [
  `soak ${script}`,
  () => bun(`scripts/soak/${script}.ts`, ...args),
])

/** PostgreSQL stops under load, on a server that the wrapper starts. */
const outage = () => bun('src/testing/postgres.ts', process.execPath, 'scripts/soak/outage.ts')

/** An instance of 10,000 apps moves to PostgreSQL and back. */
const move = () => bun('src/testing/postgres.ts', process.execPath, 'scripts/soak/move.ts')

/** Each step runs alone, because the attacks and soaks compare what one client gets. */
export const thoroughSteps: Step[][][] = [
  ...releaseSteps,
  ...soakSteps,
  ['soak outage', outage] satisfies Step,
  ['soak move', move] satisfies Step,
  ['attacks between clients', () => bun('scripts/attack/all.ts')] satisfies Step,
  ['clients', () => bun('scripts/clients/all.ts')] satisfies Step,
  ['clients in Python', () => bun('scripts/clients/python.ts')] satisfies Step,
  ['generated clients', () => bun('scripts/clients/generators.ts')] satisfies Step,
  ['connectors in Python', () => bun('scripts/clients/connectors.ts')] satisfies Step,
].map((step): Step[][] => [[step]])
