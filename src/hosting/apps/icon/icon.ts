import type { AppContext } from '../../../context.ts'
import { newId } from '../../../core/ids.ts'
import { type NanoUsd, toCredits, zero } from '../../../core/money.ts'
import { isPlainText } from '../../../core/text.ts'
import { minute } from '../../../core/time.ts'
import { ApiError, isApiError } from '../../../errors.ts'
import type { StoredResponse, StoreResponse } from '../../../idempotency/idempotency.ts'
import { agentAccount } from '../../../ledger/accounts.ts'
import { withHold } from '../../../ledger/paid-work.ts'
import { iconPromptCharsMax } from '../../../limits.ts'
import { chargeOf } from '../../../models/charge.ts'
import { type Caller, capFor } from '../../authentication.ts'
import { generateImage } from '../../models/media.ts'
import { NoModelResult, type ServiceModel } from '../../models/model-call.ts'
import * as apps from '../apps.ts'
import { findQuote } from '../assets/generator.ts'
import { iconUrl } from '../present.ts'
import { decodeDataUrl, toIcon } from './icon-image.ts'
import type { IconResponse, PutIconRequest } from './schemas.ts'

const generateMs = 3 * minute

/**
 * Sets the icon of an app: an uploaded image, or one generated from its texts and paid with credits
 * (document 1, operation 13). The first generated icon of a listed app is free. A `ref` generates
 * one icon only. Throws `bad_request`, `not_enough_credits`, `daily_cap`, `paused`, `taken_down`,
 * `too_big`, `bad_picture`, `no_picture`, `try_again`, and for a ref `busy` and `ref_conflict`.
 */
export async function putIcon(
  ctx: AppContext,
  caller: Caller,
  id: string,
  { image, make, prompt = '' }: PutIconRequest,
  { signal, ref }: { signal: AbortSignal; ref?: string | undefined },
): Promise<StoredResponse> {
  const app = await apps.getOwnApp(ctx, caller.agent, id)
  if ((image === undefined) === (make !== true) || (image !== undefined && prompt !== '')) {
    const problem = 'Send "image" or "make": true. "prompt" is allowed only with make.'
    throw new ApiError('bad_request', { problem })
  }
  if (!isPlainText(prompt, iconPromptCharsMax)) {
    const problem = `"prompt" must be plain text of at most ${iconPromptCharsMax} characters.`
    throw new ApiError('bad_request', { problem })
  }
  if (image === undefined) {
    const same = { icon: id, make, prompt }
    return ctx.idempotency.run(caller.agent.id, ref, same, (storeResponse) =>
      // Serialized per app, so that only the first icon is free.
      ctx.idempotency.runExclusive(`icon of ${id}`, 'Another icon of this app', async () => {
        const now = await apps.getOwnApp(ctx, caller.agent, id)
        return generateIcon(ctx, caller, { app: now, prompt, signal, storeResponse })
      }),
    )
  }
  const icon = await store(ctx, await toIcon(ctx, decodeDataUrl(image)))
  return done({ icon: await updateIcon(ctx, app, { icon }) })
}

const done = (body: IconResponse): StoredResponse => ({ status: 200, body })

const store = async (ctx: AppContext, bytes: Uint8Array): Promise<string> =>
  (await ctx.storage.put(bytes)).sha256

type IconFields = Partial<Pick<apps.App, 'icon' | 'iconGiven'>>

async function updateIcon(ctx: AppContext, app: apps.App, fields: IconFields): Promise<string> {
  const changed = await ctx.db.tx(async (db) =>
    apps.requireAvailable(await apps.updateApp(ctx, db, app, fields)),
  )
  return iconUrl(ctx, changed) ?? ''
}

/** A generated image and its charge before a free icon is considered. */
interface GeneratedIcon {
  bytes: Uint8Array<ArrayBuffer>
  charge: NanoUsd
}

async function generateIcon(
  ctx: AppContext,
  caller: Caller,
  input: { app: apps.App; prompt: string; signal: AbortSignal; storeResponse: StoreResponse },
): Promise<StoredResponse> {
  const { app, prompt, signal, storeResponse } = input
  const words = `icon, ${prompt || `${app.title}. ${app.description}`}`
  const quote = findQuote(ctx, { name: 'icon', kind: 'picture', what: words })
  if (!quote) throw new ApiError('no_icon_model')
  const { by, price } = quote
  const free = app.listed === 'on' && !app.iconGiven
  const amount = free ? zero : price
  const account = agentAccount(caller.agent.id)
  const { result } = await withHold(
    ctx,
    {
      account,
      amount,
      ref: `icon:${newId()}`,
      kind: 'icon',
      item: app.id,
      cap: capFor(caller, amount),
      ms: 2 * generateMs,
    },
    async () => {
      const made = await generateContent(ctx, by, { words, price, signal, seed: seedOf(app) })
      const icon = await store(ctx, await toIcon(ctx, made.bytes).catch(asNoPicture))
      const given = free || app.iconGiven
      const note = free
        ? 'The first generated icon of an app on Explore is free.'
        : 'The icon is live.'
      const presented = { icon: iconUrl(ctx, { ...app, icon }) ?? '', credits: 0, free, note }
      return {
        result: presented,
        charge: free ? zero : made.charge,
        lock: (db) => apps.lockApp(ctx, db, app),
        record: async (db, hold) => {
          apps.requireAvailable(await apps.updateApp(ctx, db, app, { icon, iconGiven: given }))
          presented.credits = toCredits(hold.charged)
          await storeResponse(db, done(presented))
        },
      }
    },
  )
  return done(result)
}

/** Maps an unreadable generated image to `no_picture`: it is not an error of the caller. */
function asNoPicture(error: unknown): never {
  throw isApiError(error, 'bad_request') ? new ApiError('no_picture') : error
}

/** Returns a seed that changes with each update. */
const seedOf = ({ updated, id }: apps.App): string => `${id}:${updated}`

async function generateContent(
  ctx: AppContext,
  by: ServiceModel | undefined,
  input: { words: string; price: NanoUsd; signal: AbortSignal; seed: string },
): Promise<GeneratedIcon> {
  const { words, price, seed } = input
  if (!by) {
    const size = { width: 512, height: 512 }
    const { bytes } = await ctx.generators.generate({ kind: 'picture', what: words, seed, ...size })
    return { bytes, charge: price }
  }
  const signal = AbortSignal.any([input.signal, AbortSignal.timeout(generateMs)])
  const image = await generateImage(ctx, by, words, signal).catch((error: unknown) => {
    throw error instanceof NoModelResult || signal.aborted ? new ApiError('no_picture') : error
  })
  return { bytes: image.bytes, charge: chargeOf(by.price, image.usage) }
}

/** Throws `not_found` and `taken_down`. */
export async function deleteIcon(ctx: AppContext, { agent }: Caller, id: string): Promise<void> {
  const app = await apps.getOwnApp(ctx, agent, id)
  await updateIcon(ctx, app, { icon: null })
}

/** Throws `taken_down`, and `not_found`, also for a quarantined app. */
export async function readIcon(
  ctx: AppContext,
  id: string,
): Promise<{ bytes: Uint8Array; etag: string }> {
  const { icon, quarantinedAt } = apps.requireAvailable(await apps.findApp(ctx, id))
  const bytes = icon === null || quarantinedAt !== null ? undefined : await ctx.storage.read(icon)
  if (icon === null || !bytes) throw new ApiError('not_found', { what: 'picture' })
  return { bytes, etag: icon.slice(0, 32) }
}
