import { databaseUrl } from '../../kernel/config/load.ts'
import type { Engine } from '../../kernel/db/engine.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { fromCredits, type NanoUsd } from '../../kernel/money.ts'
import { entries, holds, type PercentShare } from '../../money/ledger/tables.ts'
import { seeded } from '../fixtures/random.ts'
import {
  expect,
  runBerth,
  type ServerProcess,
  type StartOptions,
  startServerProcess,
  textAt,
} from './server-process.ts'

/** Counts of a run. */
export interface PlayerKills {
  kills: number
  /** Calls that were charged, those of them with a margin, with a sponsor and by the operator. */
  charged: number
  withMargin: number
  sponsored: number
  allowed: number
}

interface Player {
  name: string
  cookie: string
}

interface Run {
  start: StartOptions
  draw: () => number
  key: string
  /** The key of the agent that pays the allowance of the operator. */
  bankKey: string
  app: string
  /** One who agrees, and one who never does. */
  willing: Player
  unwilling: Player
}

const html = `<!doctype html><title>Oracle</title><script>service.ai.chat('Hello')</script>`
/** Of a day, in credits. */
const caps = { player: 40, sponsor: 12, sponsored: 8, allowance: 3, allowed: 2 }
const allowance = {
  APP_ALLOWANCE_AGENT: 'bank',
  APP_ALLOWANCE_CREDITS: String(caps.allowance),
  APP_ALLOWANCE_PLAYER_CREDITS: String(caps.allowed),
}
/** The margin that the player agrees to. The maker also sets higher ones. */
const agreedMargin = 30
const margins = [0, 7, agreedMargin, 50]
const killMsMax = 900
const firstCallMs = 20_000
const settleMsMax = 60_000
const workers = 8

/**
 * Lets players of an app call a model while its maker changes margin and sponsor and the player
 * their consent, and kills the server with SIGKILL at a random moment, `rounds` times. In the end
 * no cap is exceeded, each charge is divided to the nano, and nobody paid who had not agreed.
 * Throws an Error that names the violation. DATABASE_URL selects PostgreSQL.
 */
export async function killWhilePlaying(
  dataDir: string,
  rounds: number,
  seed: number,
  options: StartOptions = {},
): Promise<PlayerKills> {
  const defaults = { DATABASE_URL: databaseUrl(), OLLAMA_HOST: 'off', DISK_FLOOR_BYTES: '0' }
  const env = { ...defaults, ...allowance, ...options.env }
  const start = { ...options, env }
  let run: Run | undefined
  for (let round = 0; round < rounds; round += 1) {
    const server = await startServerProcess(dataDir, start)
    run ??= await prepare(server, dataDir, start, seeded(seed))
    await playUntilKilled(run, server)
  }
  const last = await startServerProcess(dataDir, start)
  if (run) await settle(run, last)
  last.kill('SIGTERM')
  await last.exited
  const { code, out, err } = await runBerth(['doctor', '--data', dataDir], start)
  expect(code === 0 && out.includes('sound'), `the books: ${out}${err}`)
  const db = await openEngine({
    dataDir,
    ...(env.DATABASE_URL && { databaseUrl: env.DATABASE_URL }),
  })
  try {
    if (!run) throw new Error('no round was run')
    return { kills: rounds, ...(await check(db, run)) }
  } finally {
    await db.close()
  }
}

async function prepare(
  server: ServerProcess,
  dataDir: string,
  start: StartOptions,
  draw: () => number,
): Promise<Run> {
  const key = await server.newKey()
  const made = await (await server.call('POST', '/api/apps', key, { html })).json()
  const [willing, unwilling] = [await signUp(server, 'olga'), await signUp(server, 'pat')]
  for (const { name } of [willing, unwilling]) {
    const { code, err } = await runBerth(['grant', name, '1', '--data', dataDir], start)
    expect(code === 0, `the grant of ${name}: ${err}`)
  }
  const app = textAt(made, 'app.id')
  await server.call('PATCH', `/api/apps/${app}`, key, { aiMargin: 7 })
  const bank = await server.call('POST', '/api/keys', undefined, { handle: 'bank' })
  const bankKey = textAt(await bank.json(), 'key')
  return { start, draw, key, bankKey, app, willing, unwilling }
}

async function signUp(server: ServerProcess, name: string): Promise<Player> {
  const body = { name, password: 'correct horse battery' }
  const response = await server.call('POST', '/api/people', undefined, body)
  expect(response.status === 201, `the account of ${name}: ${response.status}`)
  const cookies = response.headers.getSetCookie().map((one) => one.split(';')[0])
  return { name, cookie: cookies.join('; ') }
}

/** Sends a request of the browser of a player. A kill may cut it. */
async function send(
  server: ServerProcess,
  { cookie }: Player,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response | undefined> {
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(server.origin + path, init).catch(() => undefined)
  await response?.arrayBuffer().catch(() => undefined)
  return response
}

async function playUntilKilled(run: Run, server: ServerProcess): Promise<void> {
  const { draw } = run
  const killed = new AbortController()
  const paid = Promise.withResolvers<void>()
  const work = [
    ...Array.from({ length: workers }, (_, at) =>
      play(run, server, at, killed.signal, paid.resolve),
    ),
    changeTerms(run, server, killed.signal),
  ]
  // A server loads its parts with the first calls.
  await Promise.race([paid.promise, Bun.sleep(firstCallMs)])
  await Bun.sleep(draw() * killMsMax)
  killed.abort()
  server.kill('SIGKILL')
  await server.exited
  await Promise.all(work)
}

async function play(
  run: Run,
  server: ServerProcess,
  worker: number,
  killed: AbortSignal,
  onPaid: () => void,
): Promise<void> {
  const player = worker === 0 ? run.unwilling : run.willing
  while (!killed.aborted) {
    const content = 'sea '.repeat(Math.ceil(run.draw() * 400))
    const body = { messages: [{ role: 'user', content }], stream: run.draw() < 0.3 }
    const path = `/a/${run.app}/ai/v1/chat/completions`
    const response = await send(server, player, 'POST', path, body)
    if (response?.status === 200) onPaid()
  }
}

/** Changes the margin, the sponsor and the consent in any order. */
async function changeTerms(run: Run, server: ServerProcess, killed: AbortSignal): Promise<void> {
  const { app, key, willing, draw } = run
  const consent = { uses: ['ai'], dailyCap: caps.player, margin: agreedMargin, remember: true }
  const sponsor = { dailyCap: caps.sponsor, playerDailyCap: caps.sponsored }
  const byMaker = (method: string, path: string, body?: unknown) =>
    server.call(method, `/api/apps/${app}${path}`, key, body).catch(() => undefined)
  const changes = [
    () => send(server, willing, 'PUT', `/api/apps/${app}/consent`, consent),
    () => send(server, willing, 'DELETE', `/api/apps/${app}/consent`),
    () => byMaker('PATCH', '', { aiMargin: margins[Math.floor(draw() * margins.length)] ?? 0 }),
    () => byMaker('PUT', '/sponsor', sponsor),
    () => byMaker('DELETE', '/sponsor'),
  ]
  while (!killed.aborted) {
    // Consent is given twice as often as it is revoked.
    const change = changes[Math.max(0, Math.floor(draw() * (changes.length + 1)) - 1)]
    await change?.()
    await Bun.sleep(draw() * 20)
  }
}

/** Waits until the server has settled what the kills left open. */
async function settle({ key, bankKey, willing }: Run, server: ServerProcess): Promise<void> {
  for (let waited = 0; waited < settleMsMax; waited += 200) {
    const person = await fetch(`${server.origin}/api/people/me`, {
      headers: { cookie: willing.cookie },
    })
    const agents = [key, bankKey].map((one) => server.call('GET', '/api/me', one))
    const all = [person, ...(await Promise.all(agents))].map((response) => response.json())
    const held = (await Promise.all(all)).map((body) => Object(body).held)
    if (held.every((one) => one === 0)) return
    await Bun.sleep(200)
  }
}

type Hold = typeof holds.$inferSelect

const isOf = (hold: Hold, start: string): boolean => hold.capKey?.startsWith(start) === true
const sumOf = (all: Hold[]): bigint => all.reduce((sum, { charged }) => sum + charged, 0n)

function checkCap(name: string, all: Hold[], credits: number): void {
  for (const [day, ofDay] of Object.entries(Object.groupBy(all, ({ capDay }) => capDay ?? ''))) {
    const spent = sumOf(ofDay ?? [])
    expect(spent <= fromCredits(credits), `${name} spent ${spent} on ${day}`)
  }
}

/** Checks the cap of one who pays for players, and that of each player. */
function checkOffer(name: string, all: Hold[], credits: number, ofPlayer: number): void {
  checkCap(name, all, credits)
  for (const [player, own] of Object.entries(Object.groupBy(all, ({ capKey }) => capKey ?? ''))) {
    checkCap(`${name} of ${player}`, own ?? [], ofPlayer)
  }
  expect(
    all.every(({ parts }) => parts.length === 0),
    `${name} paid a margin`,
  )
}

const countCharged = (all: Hold[]): number => all.filter(({ charged }) => charged > 0n).length

async function check(db: Engine, { app }: Run): Promise<Omit<PlayerKills, 'kills'>> {
  const every = await db.read.select().from(holds)
  const own = every.filter((hold) => isOf(hold, `app:${app}:`))
  const sponsored = every.filter((hold) => isOf(hold, `sponsor:${app}:`))
  const allowed = every.filter((hold) => isOf(hold, 'allowance:'))
  const all = [...own, ...sponsored, ...allowed]
  expect(
    all.every(({ state }) => state !== 'held'),
    'a hold is open after the last start',
  )
  const payers = new Set(own.map(({ account }) => account))
  expect(payers.size <= 1, `${payers.size} players paid, of whom one agreed`)
  checkCap('the player', own, caps.player)
  checkOffer('the sponsor', sponsored, caps.sponsor, caps.sponsored)
  checkOffer('the operator', allowed, caps.allowance, caps.allowed)
  const withMargin = own.filter(({ parts }) => parts.length > 0)
  await checkMargins(db, withMargin)
  return {
    charged: countCharged(all),
    withMargin: countCharged(withMargin),
    sponsored: countCharged(sponsored),
    allowed: countCharged(allowed),
  }
}

/** Each charge with a margin has its share in the ledger once, and none is above the agreed one. */
async function checkMargins(db: Engine, all: Hold[]): Promise<void> {
  const earned = new Map<string, NanoUsd[]>()
  for (const { kind, ref, amount } of await db.read.select().from(entries)) {
    if (kind === 'margin') earned.set(ref, [...(earned.get(ref) ?? []), amount])
  }
  for (const { ref, charged, parts } of all) {
    const [part] = parts.filter((one): one is PercentShare => 'percent' in one)
    if (!part) throw new Error(`${ref} has no percentage`)
    const { percent, of = 100 } = part
    expect(percent <= agreedMargin, `${ref} has a margin of ${percent} %`)
    const share = (charged * BigInt(percent)) / BigInt(of)
    const found = earned.get(ref) ?? []
    const isRight = share === 0n ? found.length === 0 : found.length === 1 && found[0] === share
    expect(isRight, `${ref}: ${charged} was charged, of which the maker got ${found.join(' + ')}`)
    earned.delete(ref)
  }
  expect(earned.size === 0, `${earned.size} margins without a charge`)
}
