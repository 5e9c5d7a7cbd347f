import { seeded } from '../fixtures/random.ts'
import {
  expect,
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from './server-process.ts'

export const steps = ['queued', 'planning', 'writing', 'checking', 'assets', 'publishing']
const env = { EMBEDDED_ASSET_CREDITS: '2', BUILDS_PER_HOUR: '0', OLLAMA_HOST: 'off' }
const prompt = 'a game where a fox collects coins and dodges rocks'
const asks = [
  { name: 'coin.png', kind: 'sprite', what: 'a coin' },
  { name: 'tune', kind: 'music', what: 'calm', seconds: 8 },
  { name: 'hello', kind: 'voice', what: 'Welcome aboard.' },
]

/** Result of one round: the step of the kill, and the final states of the jobs. */
export interface KillRound {
  step: string
  ends: string[]
}

/**
 * Starts a build and a job of assets, kills the server with SIGKILL at a step of the build,
 * sometimes twice, and starts it again, `rounds` times, with the next of `killedSteps` in each.
 * Each job must end done and charged once, or failed and refunded, and the ledger must balance.
 * After the last round the agent must be able to build again.
 * Throws an Error that names the violation.
 */
export async function killDuringBuilds(
  dataDir: string,
  rounds: number,
  seed: number,
  killedSteps = steps,
): Promise<KillRound[]> {
  const draw = seeded(seed)
  const all: KillRound[] = []
  for (let round = 0; round < rounds; round += 1) {
    const isLast = round === rounds - 1
    all.push(await killOnce(dataDir, killedSteps[round % killedSteps.length] ?? '', draw, isLast))
    const { code, out, err } = await runBerth(['doctor', '--data', dataDir])
    expect(code === 0 && out.includes('sound'), `the books after round ${round}: ${out}${err}`)
  }
  return all
}

async function killOnce(
  dataDir: string,
  step: string,
  draw: () => number,
  isLast: boolean,
): Promise<KillRound> {
  const first = await startServerProcess(dataDir, { env })
  const key = await first.newKey()
  const html = '<!doctype html><title>Coins</title><p>coins'
  const app = textAt(await bodyOf(first.call('POST', '/api/apps', key, { html })), 'app.id')
  const begun = await bodyOf(first.call('POST', '/api/apps', key, { prompt, kind: 'game' }))
  const making = first.call('POST', `/api/apps/${app}/assets`, key, { assets: asks })
  // The response can be lost with its server.
  const lost = making.then(
    () => {},
    () => {},
  )
  const job = textAt(begun, 'job.id')
  await waitForStep(first, key, job, step)
  await Bun.sleep(draw() * 30)
  await kill(first)
  await lost
  if (draw() < 0.3) {
    const second = await startServerProcess(dataDir, { env })
    await Bun.sleep(draw() * 600)
    await kill(second)
  }
  const last = await startServerProcess(dataDir, { env })
  try {
    const ends = await check(last, key, textAt(begun, 'app.id'))
    if (isLast) await buildAgain(last, key)
    return { step, ends }
  } finally {
    last.kill('SIGTERM')
    await last.exited
  }
}

const bodyOf = async (call: Promise<Response>): Promise<unknown> => (await call).json()

async function kill(ctx: ServerProcess): Promise<void> {
  ctx.kill('SIGKILL')
  await ctx.exited
}

interface Job {
  id: string
  kind: string
  state: string
  step: string | null
  charged: number
  ended: string | null
}

const jobOf = (body: unknown): Job => Object(body).job

async function waitForStep(
  ctx: ServerProcess,
  key: string,
  id: string,
  step: string,
): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const job = jobOf(await bodyOf(ctx.call('GET', `/api/jobs/${id}`, key)))
    if (job.ended || steps.indexOf(job.step ?? 'queued') >= steps.indexOf(step)) return
    await Bun.sleep(2)
  }
}

async function waitForEnd(ctx: ServerProcess, key: string, id: string): Promise<Job> {
  for (let tries = 0; tries < 100; tries += 1) {
    const job = jobOf(await bodyOf(ctx.call('GET', `/api/jobs/${id}?wait=30`, key)))
    if (job.ended) return job
  }
  throw new Error(`the job ${id} did not end`)
}

async function buildAgain(ctx: ServerProcess, key: string): Promise<void> {
  const again = await ctx.call('POST', '/api/apps', key, { prompt, kind: 'game' })
  expect(again.status === 202, `another build returned ${again.status}`)
  const { state } = await waitForEnd(ctx, key, textAt(await again.json(), 'job.id'))
  expect(state === 'done', 'another build failed')
}

/** Waits until all jobs have ended and checks what they left. Returns their final states. */
async function check(ctx: ServerProcess, key: string, app: string): Promise<string[]> {
  const get = (path: string) => bodyOf(ctx.call('GET', `/api${path}`, key))
  const jobs: Job[] = []
  for (const { id } of Object(await get('/jobs')).jobs) jobs.push(await waitForEnd(ctx, key, id))
  for (const { kind, state, charged } of jobs) {
    const isPaid = kind === 'assets' ? charged === 2 * asks.length : charged > 0
    const isSound = state === 'done' ? isPaid : state === 'failed' && charged % 2 === 0
    expect(isSound, `${kind} ended ${state} and was charged ${charged}`)
  }
  const me = Object(await get('/me'))
  const charged = jobs.reduce((sum, one) => sum + one.charged, 0)
  const isExact = Math.abs(me.credits - (400 - charged)) < 1e-6 && me.held === 0
  expect(isExact, `${me.credits} credits, ${me.held} held, after ${charged} were charged`)
  const built = await ctx.call('GET', `/api/apps/${app}`, key)
  const isDone = jobs.find(({ kind }) => kind === 'build')?.state === 'done'
  expect(built.status === (isDone ? 200 : 404), `the app returned ${built.status}`)
  if (isDone) expect(Object(await built.json()).app.version === 1, 'it was published twice')
  return jobs.map(({ kind, state }) => `${kind} ${state}`).toSorted()
}
