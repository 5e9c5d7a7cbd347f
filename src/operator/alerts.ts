import type { AppContext } from '../context.ts'
import { anyNetwork, fetchGuarded, GuardedFetchError, type Network } from '../core/fetch.ts'
import { iso, minute, second } from '../core/time.ts'
import { signedHeaders } from '../hosting/me/hooks/signing.ts'
import {
  forget,
  listAlerts,
  raise,
  recordAttempt,
  reopen,
  resolve,
  type StoredAlert,
  takeAttempt,
} from '../state/alerts.ts'
import { checkConditions, type Condition } from './alert-conditions.ts'

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
  { name, isFiring, text }: Condition,
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
