import { signedHeaders } from '../../apps/me/hooks/hooks.ts'
import type { AppContext } from '../../kernel/context.ts'
import { listOtherProcesses } from '../../kernel/db/replicas/presence.ts'
import { anyNetwork, fetchGuarded, GuardedFetchError, type Network } from '../../kernel/fetch.ts'
import {
  forget,
  listAlerts,
  raise,
  recordAttempt,
  reopen,
  resolve,
  type StoredAlert,
  takeAttempt,
} from '../../kernel/state/alerts.ts'
import { readObservations } from '../../kernel/state/observations.ts'
import { iso, minute, second } from '../../kernel/time.ts'
import { englishOf, type Sentence, sentence } from '../../kernel/words/message.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import { describeArchives } from './archives.ts'
import { type Collected, findFailingServers, ServerReport } from './servers.ts'

/** The name under which alerts are signed, in place of the id of an agent's webhook. */
export const alertHook = 'alerts'
/** An alert ends when no process has seen its condition for so long. */
const quietMs = 2.5 * minute
/** Attempts to send an alert, one each minute. */
export const alertTriesMax = 8
const bounds = { ms: 10 * second }

/** Reads the conditions, stores which of them hold, and sends what changed. */
export async function checkAlerts(ctx: AppContext, net?: Network): Promise<void> {
  const stored = new Map((await listAlerts(ctx)).map((alert) => [alert.name, alert]))
  for (const condition of await checkConditions(ctx)) {
    await update(ctx, condition, stored.get(condition.name))
  }
  if (ctx.config.alertWebhookUrl === '') return
  for (const alert of await listAlerts(ctx)) {
    if (!alert.isSent && alert.tries < alertTriesMax) await sendAlert(ctx, alert, net)
  }
}

/** Opens, renews or ends the alert of a condition. */
async function update(
  ctx: AppContext,
  { name, isFiring, text }: CheckedCondition,
  stored: StoredAlert | undefined,
): Promise<void> {
  const isOver = stored?.resolved !== undefined && stored.resolved !== null
  if (isFiring) {
    await ctx.db.tx((db) => (isOver ? reopen(ctx, db, name) : raise(ctx, db, name, text)))
    return
  }
  if (!stored || ctx.clock.now() - stored.seen < quietMs) return
  // The end of an alert is sent only where its beginning was.
  const isUnsent = isOver ? stored.tries >= alertTriesMax : !stored.isSent
  const isForgotten = isUnsent || ctx.config.alertWebhookUrl === ''
  if (isForgotten) await ctx.db.tx((db) => forget(db, name))
  else if (!isOver) await ctx.db.tx((db) => resolve(ctx, db, name))
}

async function sendAlert(ctx: AppContext, alert: StoredAlert, net?: Network): Promise<void> {
  const isMine = await ctx.db.tx((db) => takeAttempt(db, alert))
  if (!isMine) return
  const { name, text, since, resolved } = alert
  const type = resolved === null ? 'alert.firing' : 'alert.resolved'
  const problem = await post(ctx, { id: `${name}-${since}-${type}`, type, name, text, since }, net)
  if (problem !== null) ctx.log.warn('alert.unsent', { name, problem })
  await ctx.db.tx((db) => recordAttempt(db, alert, { isSent: problem === null, problem }))
}

/** Sends a test message. Returns why it failed; null where the receiver accepted it. */
export function sendTestAlert(ctx: AppContext, net?: Network): Promise<string | null> {
  const now = ctx.clock.now()
  const text = 'This is a test. Alerts of this server arrive here.'
  return post(ctx, { id: `test-${now}`, type: 'alert.test', name: 'test', text, since: now }, net)
}

interface AlertMessage {
  /** The same for all attempts. */
  id: string
  type: 'alert.firing' | 'alert.resolved' | 'alert.test'
  name: string
  text: string
  since: number
}

/** Posts a message (Standard Webhooks) to public addresses only, without redirects. */
async function post(
  ctx: AppContext,
  { id, type, name, text, since }: AlertMessage,
  net: Network | undefined,
): Promise<string | null> {
  const { alertWebhookUrl: url, hooksToPrivate } = ctx.config
  const now = ctx.clock.now()
  const data = { alert: name, text, since: iso(since), console: `${ctx.urls.app}/console/alerts` }
  // Chat services show the field "text".
  const words = { 'alert.firing': 'Alert', 'alert.resolved': 'Resolved', 'alert.test': 'Test' }
  const message = { type, timestamp: iso(now), text: `${words[type]}: ${text}`, data }
  const body = JSON.stringify(message)
  const headers = signedHeaders(ctx, { hook: alertHook, note: id, body }, now)
  const network = net ?? (hooksToPrivate ? anyNetwork : undefined)
  try {
    const init = { method: 'POST', headers, body }
    const { status } = await fetchGuarded(url, init, bounds, undefined, network)
    return status >= 200 && status < 300 ? null : `status ${status}`
  } catch (error) {
    if (error instanceof GuardedFetchError) return error.reason
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    return isTimeout ? 'timed out' : 'unreachable'
  }
}

/** A state of the server that is reported to the operator. */
export interface Condition {
  name: 'errors' | 'latency' | 'disk' | 'files' | 'upstreams' | 'payments' | 'backups'
  isFiring: boolean
  /** The current value. */
  sentence: Sentence
}

/** A condition in English, as it is sent and as commands print it. */
interface CheckedCondition {
  name: Condition['name']
  isFiring: boolean
  text: string
}

/** A condition of all servers. */
export interface SharedCondition extends Omit<Condition, 'sentence'> {
  /** The current value, at those servers where it fires; at each where they differ. */
  values: { server?: string; sentence: Sentence }[]
}

/** The span of the shares and percentiles. */
const spanMs = 5 * minute
/** Shares of fewer requests are not significant. */
const requestsMin = 20
/** Servers of which the console shows the value of one condition. */
const valuesMax = 10

/**
 * Returns what this server checks: the traffic of all servers, and its own disk, files, upstreams
 * and payments with its name where there are others.
 */
export async function checkConditions(ctx: AppContext): Promise<CheckedCondition[]> {
  const hasOthers = (await listOtherProcesses(ctx.db.read)).length > 0
  const own = await readOwnConditions(ctx)
  const name = (text: string): string => (hasOthers ? `${ctx.otherServers.ownName}: ${text}` : text)
  return [
    ...(await readTrafficConditions(ctx)).map(inWords),
    ...own.map(inWords).map((condition) => ({ ...condition, text: name(condition.text) })),
  ]
}

/** Returns a condition in English. */
export const inWords = ({ name, isFiring, sentence: value }: Condition): CheckedCondition => ({
  name,
  isFiring,
  text: englishOf([value]),
})

/** Returns the conditions of all servers that respond. */
export async function readConditions(
  ctx: AppContext,
): Promise<Collected<Condition[]> & { conditions: SharedCondition[] }> {
  const [traffic, own] = await Promise.all([
    readTrafficConditions(ctx),
    ownConditions.collect(ctx, null),
  ])
  const ofTraffic = traffic.map(({ sentence: value, ...one }) => ({
    ...one,
    values: [{ sentence: value }],
  }))
  return { conditions: [...ofTraffic, ...mergeConditions(own)], ...own }
}

/** Returns what this server checks of itself. */
export const readOwnConditions = async (ctx: AppContext): Promise<Condition[]> => [
  diskCondition(ctx),
  await filesCondition(ctx),
  upstreamCondition(ctx),
  await paymentCondition(ctx),
  ...(await backupCondition(ctx)),
]

export const ownConditions = new ServerReport('condition-sentences', (ctx, _input: null) =>
  readOwnConditions(ctx),
)

function mergeConditions({ reports }: Collected<Condition[]>): SharedCondition[] {
  const all = reports.flatMap(({ server, value }) => value.map((one) => ({ server, ...one })))
  const names = [...new Set(all.map(({ name }) => name))]
  return names.map((name) => {
    const same = all.filter((one) => one.name === name)
    const firing = same.filter(({ isFiring }) => isFiring)
    const shown = firing.length > 0 ? firing : same
    const texts = new Set(shown.map((one) => englishOf([one.sentence])))
    const isEqual = firing.length === 0 && texts.size === 1
    const values =
      isEqual || reports.length === 1
        ? shown.slice(0, 1).map((one) => ({ sentence: one.sentence }))
        : shown.slice(0, valuesMax).map((one) => ({ server: one.server, sentence: one.sentence }))
    return { name, isFiring: firing.length > 0, values }
  })
}

async function readTrafficConditions(ctx: AppContext): Promise<Condition[]> {
  const [stats] = (await readObservations(ctx, 'parts', spanMs)).history(spanMs, 1)
  const { count = 0, serverErrors = 0, p95 = 0 } = stats ?? {}
  const percent = (serverErrors / Math.max(1, count)) * 100
  const isEnough = count >= requestsMin
  const [share, slow] = [ctx.config.alertErrorPercent, ctx.config.alertP95Ms]
  return [
    {
      name: 'errors',
      isFiring: isEnough && share > 0 && percent >= share,
      sentence: sentence('{percent} % of {count} requests in five minutes were server errors.', {
        percent: percent.toFixed(1),
        count,
      }),
    },
    {
      name: 'latency',
      isFiring: isEnough && slow > 0 && p95 >= slow,
      sentence: sentence(
        'The slowest 5 % of {count} requests in five minutes took {p95} ms or more.',
        { count, p95: Math.round(p95) },
      ),
    },
  ]
}

/** A text that only exists in English, such as an error. */
const plainSentence = (text: string): Sentence => ({ message: text, values: {} })

function diskCondition({ config, storage }: AppContext): Condition {
  const free = storage.free()
  const value = sentence('{free} GB of disk space are free.', { free: (free / 1e9).toFixed(1) })
  return { name: 'disk', isFiring: free < config.alertDiskFreeBytes, sentence: value }
}

async function filesCondition({ storage }: AppContext): Promise<Condition> {
  const problem = await storage.problem()
  const value =
    problem === undefined
      ? sentence('Files can be stored.')
      : sentence('Files are unavailable: {problem}.', { problem })
  return { name: 'files', isFiring: problem !== undefined, sentence: value }
}

/** The age of the encrypted backups, where the server writes them. */
async function backupCondition(ctx: AppContext): Promise<Condition[]> {
  const archives = await describeArchives(ctx)
  if (!archives) return []
  const { isOld, text } = archives
  return [{ name: 'backups', isFiring: isOld, sentence: plainSentence(text) }]
}

function upstreamCondition({ upstreams }: AppContext): Condition {
  const paused = upstreams.health().filter(({ state }) => state === 'open')
  const names = paused.map(({ name }) => name).join(', ')
  const value =
    names === ''
      ? sentence('No upstream is paused.')
      : sentence('Upstreams are paused: {names}.', { names })
  return { name: 'upstreams', isFiring: paused.length > 0, sentence: value }
}

/** Returns whether payments work: the watchers of chains, and the parts of settlements. */
async function paymentCondition(ctx: AppContext): Promise<Condition> {
  const hasCoins = openMethods(ctx.config).length > 0
  const { readWatchers } = await import('../../money/payments/coins/watchers.ts')
  const watchers = hasCoins ? await readWatchers(ctx) : []
  const failing = watchers.filter(({ ok, problem }) => !ok && problem !== null)
  const ofOthers = hasCoins ? findFailingServers(ctx).filter((one) => one.isOfOtherNetwork) : []
  const settling = (await ctx.x402?.health()) ?? []
  const problems = [
    ...failing.map(({ network, problem }) => `${network}: ${problem}`),
    ...[...ofOthers, ...settling].flatMap(({ name, problem }) =>
      problem === undefined ? [] : `${name}: ${problem}`,
    ),
  ]
  const value =
    problems.length === 0
      ? sentence('Payments work, or are off.')
      : plainSentence(problems.join('; ').slice(0, 500))
  return { name: 'payments', isFiring: problems.length > 0, sentence: value }
}
