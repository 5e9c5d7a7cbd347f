import { chargeOf } from '../../gateway/models/charge.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, isApiError, rejectRequest } from '../../kernel/errors.ts'
import { completed, type Success } from '../../kernel/http/outcome.ts'
import { newId } from '../../kernel/ids.ts'
import { iconPromptCharsMax } from '../../kernel/limits.ts'
import { type NanoUsd, parseCredits, toCredits, zero } from '../../kernel/money.ts'
import { isPlainText } from '../../kernel/text.ts'
import { minute } from '../../kernel/time.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import { clampCharge } from '../../money/ledger/holds.ts'
import { type PaidWork, pay } from '../../money/pay.ts'
import { type Actor, capFor } from '../../people/agents/spending.ts'
import type { SessionSender } from '../../people/session-user.ts'
import * as apps from '../apps.ts'
import { findQuote } from '../assets/generator.ts'
import { mayOpen } from '../audience/access.ts'
import { kinds } from '../kinds.ts'
import { generateImage, NoModelResult, type ServiceModel } from '../model-call.ts'
import { iconUrl } from '../present.ts'
import { decodeDataUrl, toIcon } from './icon-image.ts'
import { iconRow } from './icon-row.ts'
import type { IconResponse, PutIconRequest } from './schemas.ts'

const generateMs = 3 * minute

/**
 * Sets the icon of an app: an uploaded image, or one generated from its texts and paid with credits
 * (document 1, operation 13). The first generated icon of a listed app is free. A `ref` generates
 * one icon only. Throws `bad_request`, `not_enough_credits`, `daily_cap`, `price_above_max`,
 * `paused`, `taken_down`, `too_big`, `bad_picture`, `no_picture`, `try_again`, and for a ref `busy`
 * and `ref_conflict`.
 */
export async function putIcon(
  ctx: AppContext,
  actor: Actor,
  id: string,
  { image, make, prompt = '', maxCredits }: PutIconRequest,
  { signal, ref }: { signal: AbortSignal; ref?: string | undefined },
): Promise<Success> {
  const app = await apps.getOwnApp(ctx, actor.agent, id, kinds)
  const hasTerms = prompt !== '' || maxCredits !== undefined
  if ((image === undefined) === (make !== true) || (image !== undefined && hasTerms))
    rejectRequest(
      'Send "image" or "make": true. "prompt" and "maxCredits" are allowed only with make.',
    )
  if (!isPlainText(prompt, iconPromptCharsMax))
    rejectRequest(`"prompt" must be plain text of at most ${iconPromptCharsMax} characters.`)
  const max = maxCredits === undefined ? undefined : parseCredits(maxCredits, 'maxCredits')
  if (image === undefined) {
    return pay(ctx, {
      who: { owner: actor.agent.id, key: ref, fingerprint: { icon: id, make, prompt, maxCredits } },
      // Serialized per app, so that only the first icon is free.
      exclusive: { name: `icon of ${id}`, description: 'Another icon of this app' },
      prepare: async () => {
        const now = await apps.getOwnApp(ctx, actor.agent, id, kinds)
        return iconWork(ctx, actor, { app: now, prompt, max, signal })
      },
      replay: (stored) => stored,
    })
  }
  const icon = await store(ctx, await toIcon(ctx, decodeDataUrl(image)))
  return completed<IconResponse>({ icon: await updateIcon(ctx, app, { icon }) })
}

const store = async (ctx: AppContext, bytes: Uint8Array): Promise<string> =>
  (await ctx.storage.put(bytes)).sha256

type IconFields = Partial<Pick<apps.App, 'icon' | 'iconGiven'>>

async function updateIcon(ctx: AppContext, app: apps.App, fields: IconFields): Promise<string> {
  const changed = await ctx.db.tx(async (db) =>
    apps.requireAvailable(await apps.updateApp(ctx, db, app, fields)),
  )
  return iconUrl(ctx, changed) ?? ''
}

const describeIcon = ({ title, description }: apps.App, prompt = ''): string =>
  `icon, ${prompt || `${title}. ${description}`}`

const isFree = ({ listed, iconGiven }: apps.App): boolean => listed === 'on' && !iconGiven

/** Returns the most that a generated icon costs in credits; undefined without an image model. */
export function quoteIcon(ctx: AppContext, app: apps.App): number | undefined {
  const quote = findQuote(ctx, { name: 'icon', kind: 'picture', what: describeIcon(app) })
  return quote && toCredits(isFree(app) ? zero : quote.price)
}

interface IconRequest {
  app: apps.App
  prompt: string
  /** The highest price that the maker accepts. */
  max: NanoUsd | undefined
  signal: AbortSignal
}

/** Returns the paid work of an icon. Throws `no_icon_model`, `price_above_max`, `paused`. */
function iconWork(
  ctx: AppContext,
  actor: Actor,
  { app, prompt, max, signal }: IconRequest,
): PaidWork<Success> {
  const what = describeIcon(app, prompt)
  const quote = findQuote(ctx, { name: 'icon', kind: 'picture', what })
  if (!quote) throw new ApiError('no_icon_model')
  const { by, price } = quote
  const free = isFree(app)
  const amount = free ? zero : price
  if (max !== undefined && amount > max)
    throw new ApiError('price_above_max', { price: amount, max })
  const account = agentAccount(actor.agent.id)
  return {
    maxCost: {
      account,
      amount,
      ref: `icon:${newId()}`,
      kind: 'icon',
      item: app.id,
      cap: capFor(actor, amount),
      ms: 2 * generateMs,
    },
    run: async ({ hold }) => {
      const generated = await generateContent(ctx, by, { what, price, signal, seed: seedOf(app) })
      const icon = await store(ctx, await toIcon(ctx, generated.bytes).catch(asNoImage))
      const iconGiven = free || app.iconGiven
      const note = free
        ? 'The first generated icon of an app on Explore is free.'
        : 'The icon is live.'
      const charge = free ? zero : clampCharge(hold, generated.charge)
      const url = iconUrl(ctx, { ...app, icon }) ?? ''
      const response = completed<IconResponse>({
        icon: url,
        credits: toCredits(charge),
        free,
        note,
      })
      return {
        result: response,
        replay: response,
        charge,
        rows: [iconRow.create(ctx, { app: { id: app.id, maker: app.maker }, icon, iconGiven })],
      }
    },
  }
}

/** Maps an unreadable generated image to `no_picture`: it is not an error of the caller. */
function asNoImage(error: unknown): never {
  throw isApiError(error, 'bad_request') ? new ApiError('no_picture') : error
}

/** Returns a seed that changes with each update. */
const seedOf = ({ updated, id }: apps.App): string => `${id}:${updated}`

async function generateContent(
  ctx: AppContext,
  by: ServiceModel | undefined,
  input: { what: string; price: NanoUsd; signal: AbortSignal; seed: string },
) {
  const { what, price, seed } = input
  if (!by) {
    const size = { width: 512, height: 512 }
    const { bytes } = await ctx.generators.generate({ kind: 'picture', what, seed, ...size })
    return { bytes, charge: price }
  }
  const signal = AbortSignal.any([input.signal, AbortSignal.timeout(generateMs)])
  const image = await generateImage(ctx, by, what, signal).catch((error: unknown) => {
    throw error instanceof NoModelResult || signal.aborted ? new ApiError('no_picture') : error
  })
  return { bytes: image.bytes, charge: chargeOf(by.price, image.usage) }
}

/** Throws `not_found` and `taken_down`. */
export async function deleteIcon(ctx: AppContext, { agent }: Actor, id: string): Promise<void> {
  const app = await apps.getOwnApp(ctx, agent, id, kinds)
  await updateIcon(ctx, app, { icon: null })
}

/** Throws `taken_down`, and `not_found`, also for an app that the sender may not open. */
export async function readIcon(
  ctx: AppContext,
  id: string,
  sender: SessionSender,
): Promise<{ bytes: Uint8Array; etag: string }> {
  const app = await apps.findApp(ctx, id)
  // An unknown id gets the same response as an app without an icon, which reveals no unlisted app.
  const isOpen = app?.closed === null && (await mayOpen(ctx, app, sender))
  const found = isOpen ? apps.requireAvailable(app) : undefined
  const icon = found && found.quarantinedAt === null ? found.icon : null
  const bytes = icon === null ? undefined : await ctx.storage.read(icon)
  if (icon === null || !bytes) throw new ApiError('not_found', { what: 'picture' })
  return { bytes, etag: icon.slice(0, 32) }
}
