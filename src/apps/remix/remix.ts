/** Copies of apps and packs, free or bought: check, price, hold and rows are one paid work. */
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { created, type Success } from '../../kernel/http/outcome.ts'
import {
  formatCredits,
  fromCredits,
  type NanoUsd,
  percentOf,
  toCredits,
  zero,
} from '../../kernel/money.ts'
import {
  IdSchema,
  isRecord,
  namedObject,
  nullable,
  strictObject,
  TimeSchema,
} from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import type { HoldRequest } from '../../money/ledger/holds.ts'
import { type CommittedWork, pay } from '../../money/pay.ts'
import { makerSharePercent } from '../../money/prices.ts'
import { type Agent, findHandles } from '../../people/agents/agents.ts'
import { type Actor, capFor, checkNotPaused } from '../../people/agents/spending.ts'
import { reserveBytes } from '../../people/agents/storage-quota.ts'
import { notify } from '../../people/notifications/notifications.ts'
import * as apps from '../apps.ts'
import * as assets from '../assets/assets.ts'
import { readCode } from '../assets/folder-assets.ts'
import { readTar } from '../folders/archive.ts'
import { namePattern } from '../folders/frontmatter.ts'
import { nameCharsMax } from '../folders/limits.ts'
import { readPack, skillFile } from '../folders/read-pack.ts'
import { collectionOf, isPackKind, itemUrl, type PackKind } from '../kinds.ts'
import { knobsMax } from '../knobs/knobs.ts'
import { setKnobs } from '../knobs/page-knobs.ts'
import { notOnExplore } from '../listings.ts'
import { findFreeName, reserveName } from '../names.ts'
import { insertApp } from '../new-app.ts'
import * as pages from '../page-content.ts'
import { presentApp, presentPackAs } from '../present.ts'
import { AppSchema, FrameworkSchema, MaxCreditsSchema, RefSchema, SkillSchema } from '../schemas.ts'
import { countRemix, recordRemix } from './lineage.ts'

/** Values of knobs, which become the defaults of a copy. */
const KnobValuesSchema = Type.Record(
  Type.String(),
  Type.Union([Type.Number(), Type.Boolean(), Type.String({ maxLength: 40 })]),
  {
    maxProperties: knobsMax,
    description: 'Values of the knobs that the page declares: the defaults of the copy.',
  },
)

/** POST /apps/{id}/keep. */
export const KeepRemixSchema = strictObject(
  {
    knobs: KnobValuesSchema,
    maxCredits: Type.Optional(MaxCreditsSchema),
    ref: Type.Optional(RefSchema),
    as: Type.Optional(
      Type.String({ maxLength: 31, description: 'Handle of your agent. Default: the oldest.' }),
    ),
  },
  { examples: [{ knobs: { speed: 7 }, maxCredits: 0 }] },
)

/** POST /apps/{id}/remix (document 1, operation 12). */
export const RemixSchema = strictObject(
  {
    maxCredits: Type.Optional(MaxCreditsSchema),
    ref: Type.Optional(RefSchema),
    knobs: Type.Optional(KnobValuesSchema),
    name: Type.Optional(
      Type.String({
        pattern: namePattern.source,
        maxLength: nameCharsMax,
        description: 'Name of the copy of a skill or framework. Default: the same, or with -2.',
      }),
    ),
  },
  { examples: [{ maxCredits: 50 }] },
)
type RemixRequest = Static<typeof RemixSchema>

const PurchaseSchema = namedObject('Purchase', {
  item: IdSchema,
  version: Type.Integer({ description: 'The copied version.' }),
  title: Type.String(),
  maker: Type.String(),
  credits: Type.Number({ description: 'Price paid; 0 for a free one.' }),
  makerCredits: Type.Number({ description: 'Share of the maker.' }),
  ref: nullable(Type.String()),
  at: TimeSchema,
})

const PackRemixSchema = Type.Object({
  skill: Type.Optional(SkillSchema),
  framework: Type.Optional(FrameworkSchema),
  bought: PurchaseSchema,
  note: Type.String(),
})
type PackRemixRecord = Static<typeof PackRemixSchema>

/** Stored response of a remix of an app or game. Its HTML is read from the copy. */
const RemixRecordSchema = Type.Object({
  app: AppSchema,
  bought: PurchaseSchema,
  note: Type.String(),
})
type RemixRecord = Static<typeof RemixRecordSchema>
const AppRemixSchema = Type.Object({ ...RemixRecordSchema.properties, html: Type.String() })
export const RemixResponseSchema = Type.Union([AppRemixSchema, PackRemixSchema])
type RemixResponse = Static<typeof RemixResponseSchema>

const attemptsMax = 5

/** The maker published a new version during the scan. The remix is tried again with it. */
class OutdatedError extends ApiError<'try_again'> {
  constructor() {
    super('try_again', { why: 'a new version was published meanwhile' })
  }
}

/**
 * Copies an app from Explore, or an own app (document 1, operation 12). The copy, its payment and
 * the idempotent response are one transaction. Throws `not_found`, `taken_down`, `busy`,
 * `no_remix`, `games_off`, `paused`, `price_above_max`, `not_enough_credits`, `daily_cap`,
 * `ref_conflict`, `blocked_by_scan`, `try_again`, and what `insertApp` throws.
 */
export async function remix(
  ctx: AppContext,
  actor: Actor,
  id: string,
  request: RemixRequest,
): Promise<RemixResponse> {
  const { value: body } = await buyCopy(ctx, actor, id, request)
  if (isPackRemix(body)) return body
  if (!Value.Check(RemixRecordSchema, body)) throw new Error('a stored remix has another schema')
  const copy = await apps.findApp(ctx, body.app.id)
  if (copy?.takenDown != null) apps.requireAvailable(copy)
  // The stored response has no page; the copy has it.
  const version = await apps.getVersion(ctx, body.app.id, 1)
  const { identity } = await pages.readPage(ctx, version)
  return { ...body, html: new TextDecoder('utf-8', { ignoreBOM: true }).decode(identity) }
}

const isPackRemix = (body: unknown): body is PackRemixRecord =>
  isRecord(body) && !('app' in body) && Value.Check(PackRemixSchema, body)

export const copyIdOf = (response: RemixResponse): string => {
  const copy = 'app' in response ? response.app : (response.skill ?? response.framework)
  return copy?.id ?? ''
}

/** Copies an app and pays for the copy, once for its `ref`. */
async function buyCopy(
  ctx: AppContext,
  actor: Actor,
  id: string,
  request: RemixRequest,
): Promise<Success> {
  const { ref: key } = request
  const who = { owner: actor.agent.id, key, fingerprint: { remix: id, ...request } }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await pay(ctx, {
        who,
        prepare: () => scanOriginal(ctx, actor, id, request),
        replay: (stored) => stored,
      })
    } catch (error) {
      if (!(error instanceof OutdatedError) || attempt === attemptsMax) throw error
    }
  }
}

/** Scans the visible version. Its copy throws OutdatedError when that has changed. */
async function scanOriginal(
  ctx: AppContext,
  actor: Actor,
  id: string,
  request: RemixRequest,
): Promise<CommittedWork> {
  const { agent } = actor
  const original = requireCopyable(agent, await apps.findApp(ctx, id))
  apps.checkBuilt(original)
  if (original.kind === 'game' && !ctx.config.gamesOn) throw new ApiError('games_off')
  const maker = (await findHandles(ctx, [original.maker])).get(original.maker) ?? ''
  priceFor(ctx, agent, original, request)
  const version = await apps.getVersion(ctx, id, versionFor(agent, original))
  const content = await prepareCopy(ctx, agent, original, version, request)
  return {
    commit: async (db) => {
      const copied = await copyItem(ctx, db, { actor, original, request, maker, version, content })
      return { price: copied.price, response: created(copied.body) }
    },
  }
}

const isOwn = (agent: Agent, app: apps.App): boolean => app.maker === agent.id

/** Returns the version to copy: the newest for its maker, the visible one for others. */
const versionFor = (agent: Agent, app: apps.App): number =>
  isOwn(agent, app) ? app.version : apps.visibleVersion(app)

/** Returns an app that this agent may copy. Throws `not_found` and `taken_down`. */
function requireCopyable(agent: Agent, app: apps.App | undefined): apps.App {
  if (app?.closed === null && app.takenDown !== null) return apps.requireAvailable(app)
  if (app && (isOwn(agent, app) ? app.closed === null : app.listed === 'on')) return app
  throw notOnExplore()
}

/** Throws `no_remix`, `paused` and `price_above_max`. An own app is free. */
function priceFor(
  ctx: AppContext,
  agent: Agent,
  original: apps.App,
  { maxCredits }: RemixRequest,
): NanoUsd {
  if (isOwn(agent, original) || original.remix === 'free') return zero
  if (original.remix === 'off' || !ctx.config.pricesOn) throw new ApiError('no_remix')
  const price = fromCredits(original.priceRemix ?? 0)
  const max = maxCredits === undefined ? price : fromCredits(maxCredits)
  checkNotPaused(agent)
  if (price > max) throw new ApiError('price_above_max', { price, max })
  return price
}

/** The content of a copy. A pack has a name of its own. */
interface CopyContent {
  name: string | null
  page: pages.StoredPage
}

/** Scans the content of a copy: rules may be newer than it. A pack gets a free name. */
async function prepareCopy(
  ctx: AppContext,
  agent: Agent,
  { kind, name }: apps.App,
  version: apps.Version,
  { name: newName, knobs }: RemixRequest,
): Promise<CopyContent> {
  const { identity } = await pages.readPage(ctx, version)
  if (isPackKind(kind) && name !== null) {
    if (knobs) rejectRequest('"knobs" is for apps and games. Remove it.', 'knobs')
    return copyPack(ctx, agent, { kind, name, newName, version, tar: identity })
  }
  if (newName !== undefined)
    rejectRequest('"name" is for skills and frameworks. Send "title" for an app.', 'name')
  const code = await readCode(ctx, version)
  if (knobs && Object.keys(knobs).length > 0) {
    const html = setKnobs(new TextDecoder('utf-8', { ignoreBOM: true }).decode(identity), knobs)
    const inspection = await pages.inspectPage(ctx, html, code)
    return { name: null, page: await pages.storePage(ctx, inspection, { page: version.page }) }
  }
  const { uses = null } = await pages.inspectContent(ctx, kind, identity, code)
  return { name: null, page: { ...version, uses } }
}

interface CopyInput {
  actor: Actor
  original: apps.App
  request: RemixRequest
  maker: string
  version: apps.Version
  content: CopyContent
}

/** Inserts the copy with its assets and lineage, inside a transaction, and returns its price. */
async function copyItem(
  ctx: AppContext,
  db: Db,
  { actor, original: before, request, maker, version: page, content }: CopyInput,
): Promise<{ price: HoldRequest | undefined; body: RemixRecord | PackRemixRecord }> {
  const { agent } = actor
  const { kind, title, description, shelf, id: of } = before
  const terms = { listed: 'off', remix: 'free', priceRemix: null } as const
  const origin = { remixOf: of, remixOfTitle: title, remixOfMaker: maker }
  const named = title === before.name && content.name !== null ? content.name : title
  // A copy of an own private item is private, too.
  const audience = before.audience === 'password' ? 'people' : before.audience
  const texts = { kind, name: content.name, title: named, description, shelf, audience }
  const fields = { ...texts, ...terms, ...origin }
  await reserveName(ctx, db, agent.id, content.name)
  const copy = await insertApp(ctx, db, agent, fields, content.page)
  const files = await assets.copyAssets(db, page, { app: copy.id, version: 1 })
  const contents = new Map(files.map(({ sha256, bytes }) => [sha256, bytes]))
  const bytes = contents.values().reduce((sum, size) => sum + size, 0)
  await reserveBytes(ctx, db, agent.id, bytes)
  // Counting locks the original. The current price and version apply.
  const counted = await countRemix(db, of, isOwn(agent, before), agent.id)
  const original = requireCopyable(agent, counted)
  if (versionFor(agent, original) !== page.version) throw new OutdatedError()
  const price = priceFor(ctx, agent, original, request)
  const at = ctx.clock.now()
  const purchase = { of, version: page.version, title, maker, price, at }
  await recordRemix(db, { ...purchase, app: copy.id, buyer: agent.id })
  if (!isOwn(agent, original)) await notifyMaker(ctx, db, { agent, original, price, copy: copy.id })
  const paid = price > 0n ? `for ${formatCredits(price)} credits` : 'for free'
  const body = {
    ...presentCopy(ctx, copy, content.page),
    bought: {
      item: of,
      version: page.version,
      title,
      maker: `@${maker}`,
      credits: toCredits(price),
      makerCredits: toCredits(percentOf(price, makerSharePercent)),
      ref: request.ref ?? null,
      at: iso(at),
    },
    note:
      `Copied ${paid}, with its files; @${maker} is credited. Your copy is at ` +
      `${itemUrl(ctx, copy)}, off Explore. POST /${collectionOf(copy.kind)}/${copy.id}/versions changes it.`,
  }
  const ref = `remix:${copy.id}`
  return { price: price > 0n ? remixPrice(actor, { original, price, ref }) : undefined, body }
}

const presentCopy = (ctx: AppContext, copy: apps.App, { folder }: pages.StoredPage) =>
  folder === null ? { app: presentApp(ctx, copy) } : presentPackAs(ctx, copy, folder)

interface Original {
  kind: PackKind
  name: string
  /** Name that the remixer asked for. */
  newName: string | undefined
  version: apps.Version
  tar: Uint8Array
}

/**
 * Scans and stores the content of a copy, with a name that is free for the remixer. A profit share
 * stays with the original. Throws `blocked_by_scan` and `try_again`.
 */
async function copyPack(
  ctx: AppContext,
  agent: Agent,
  { kind, name: before, newName, version, tar }: Original,
): Promise<CopyContent> {
  const name = newName ?? (await findFreeName(ctx, agent.id, before, nameCharsMax))
  const { renameSkill } = await import('../folders/frontmatter-yaml.ts')
  const files = readTar(tar).map((file) => {
    if (file.path !== skillFile) return file
    const text = renameSkill(new TextDecoder().decode(file.bytes), name)
    return { ...file, bytes: new TextEncoder().encode(text) }
  })
  const pack = await readPack(name === before ? readTar(tar) : files)
  const inspection = await pages.inspectContent(ctx, kind, pack.tar)
  const { steps } = version.folder ?? {}
  const folder = { ...pack.folder, ...(steps && { steps }) }
  return { name, page: await pages.storePage(ctx, { ...inspection, gzip: pack.gzip }, { folder }) }
}

/** Deadline of the hold, which the same transaction settles. */
const holdMs = 60_000

/** Returns the price of a remix. The maker's share is an earning (docs/spec/money.md). */
const remixPrice = (
  actor: Actor,
  { original, price, ref }: { original: apps.App; price: NanoUsd; ref: string },
): HoldRequest => ({
  account: agentAccount(actor.agent.id),
  amount: price,
  ref,
  kind: 'remix',
  item: original.id,
  ms: holdMs,
  shares: [{ account: agentAccount(original.maker), percent: makerSharePercent }],
  cap: capFor(actor, price),
})

async function notifyMaker(
  ctx: AppContext,
  db: Db,
  {
    agent: { handle },
    original: { id: item, maker: to, title },
    price,
    copy,
  }: { agent: Agent; original: apps.App; price: NanoUsd; copy: string },
): Promise<void> {
  const earned = percentOf(price, makerSharePercent)
  const made = { actor: `@${handle}`, title }
  await notify(ctx, db, {
    to,
    item,
    actor: handle,
    kind: price > 0n ? 'remix.sold' : 'remix.made',
    text:
      price > 0n
        ? sentence('{actor} remixed “{title}”: you earned {credits} credits.', {
            ...made,
            credits: formatCredits(earned),
          })
        : sentence('{actor} remixed “{title}”.', made),
    data: { copy, price: toCredits(price), credits: toCredits(earned) },
  })
}
