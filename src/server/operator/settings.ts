import type { Model } from '../../gateway/models/catalog.ts'
import { formatOwnPrice, hasFixedPrice, readOwnPrice } from '../../gateway/models/open-catalog.ts'
import {
  fromUsdPerUnit,
  type ModelType,
  type Part as PricePart,
  parts,
  type RateTexts,
  toUsdPerUnit,
} from '../../gateway/models/price.ts'
import type { SettingName, Source } from '../../kernel/config/settings.ts'
import {
  defaultOf,
  editableSettings,
  isFixed,
  problemsOf,
  shownText,
} from '../../kernel/config/values.ts'
import type { AppContext } from '../../kernel/context.ts'
import { lock } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { readStored, storeSetting } from '../../kernel/state/live-settings.ts'
import { type Message, msg } from '../../kernel/words/message.ts'
import { recordAudit } from '../../people/audit/audit.ts'

/** The places of values that the console cannot change. */
export const places: Record<Source, Message> = {
  flag: msg('by a flag'),
  environment: msg('in the environment'),
  'berth.toml': msg('in berth.toml'),
  console: msg('in the console'),
  default: msg('by default'),
}

const elide = (value: string): string => (value.length > 80 ? `${value.slice(0, 79)}…` : value)
const shownValue = (value: string): string => (value === '' ? 'empty' : elide(value))

/**
 * Changes a setting from now on, in all processes; `value` null restores its default. Throws
 * `not_found`, and `bad_request` with the messages of the start, or where it is set elsewhere.
 */
export const changeSetting = (
  ctx: AppContext,
  { name, value, by }: { name: string; value: string | null; by: string },
): Promise<void> => update(ctx, { name, by }, () => value)

interface Change {
  name: string
  by: string
  /** The item of the audit entry, and its text of a value; by default those of the setting. */
  item?: string
  describe?: (value: string | null) => string
}

/** Changes a setting to what `next` returns for its stored value, in one transaction. */
async function update(
  ctx: AppContext,
  { name, by, item = name, describe }: Change,
  next: (stored: string | null) => string | null,
): Promise<void> {
  const row = ctx.config.rows.find((one) => one.name === name)
  if (!row || !editableSettings.has(name)) throw new ApiError('not_found', { what: 'setting' })
  if (isFixed(row.source))
    rejectRequest(
      `${name} is set ${places[row.source]}, which wins. Change it there and restart Berth.`,
    )
  const shownOf = (value: string | null): string =>
    describe?.(value) ?? shownValue(shownText(row.name, value ?? defaultOf(row.name)))
  await ctx.db.tx(async (db) => {
    await lock(db, 'settings')
    const stored = await ctx.settings.fromStored(row.name, await readStored(db, row.name))
    const value = next(stored)
    const [problem] = problemsOf(ctx.config, row.name, value ?? defaultOf(row.name))
    if (problem !== undefined) rejectRequest(problem)
    await storeSetting(ctx, db, { name: row.name, value, by })
    const why = `${shownOf(stored)} → ${shownOf(value)}`
    await recordAudit(ctx, db, { by, did: value === null ? 'reset' : 'set', item, why })
  })
  await ctx.settings.load()
  await ctx.signals.send('settings')
}

const entriesOf = (stored: string | null): string[] =>
  (stored ?? '').split(',').flatMap((entry) => entry.trim() || [])

/** Adds a model to MODELS_OFF, or removes it. Throws as `changeSetting` does. */
export async function switchModel(
  ctx: AppContext,
  { id, isOn, by }: { id: string; isOn: boolean; by: string },
): Promise<void> {
  const name: SettingName = 'MODELS_OFF'
  await update(ctx, { name, by }, (stored) => {
    const others = entriesOf(stored).filter((one) => one !== id)
    return (isOn ? others : [...others, id]).join(',') || null
  })
}

/**
 * Sets the price of one model in MODEL_PRICES; null restores the price of the list. The audit entry
 * has the model. Throws as `changeSetting` does.
 */
export async function changeModelPrice(
  ctx: AppContext,
  { id, price, by }: { id: string; price: RateTexts | null; by: string },
): Promise<void> {
  const name: SettingName = 'MODEL_PRICES'
  const isOwn = (entry: string): boolean => entry.startsWith(`${id} `)
  const describe = (value: string | null): string =>
    entriesOf(value)
      .find(isOwn)
      ?.slice(id.length + 1) ?? 'list price'
  await update(ctx, { name, by, item: id, describe }, (stored) => {
    const others = entriesOf(stored).filter((entry) => !isOwn(entry))
    return (price ? [...others, formatOwnPrice(id, price)] : others).join(',') || null
  })
}

const million = 1_000_000n

/** The parts of a price: their labels, and the units to which an amount applies. */
export const priceUnits = {
  prompt: { label: msg('Input'), unit: msg('1M input tokens'), units: million },
  completion: { label: msg('Output'), unit: msg('1M output tokens'), units: million },
  cacheRead: { label: msg('Cached input'), unit: msg('1M tokens'), units: million },
  cacheWrite: { label: msg('Cache write'), unit: msg('1M tokens'), units: million },
  reasoning: { label: msg('Reasoning'), unit: msg('1M tokens'), units: million },
  audio: { label: msg('Audio input'), unit: msg('1M tokens'), units: million },
  audioCacheRead: { label: msg('Cached audio input'), unit: msg('1M tokens'), units: million },
  audioCompletion: { label: msg('Audio output'), unit: msg('1M tokens'), units: million },
  perImage: { label: msg('Image'), unit: msg('image'), units: 1n },
  perSecond: { label: msg('Second'), unit: msg('second'), units: 1n },
  perMinute: { label: msg('Minute'), unit: msg('minute'), units: 1n },
  perCharacter: { label: msg('Characters'), unit: msg('1M characters'), units: million },
  perSearch: { label: msg('Web search'), unit: msg('search'), units: 1n },
} satisfies Record<PricePart, { label: Message; unit: Message; units: bigint }>

/** All parts, in the order of the page. */
const isPart = (name: string): name is PricePart => Object.hasOwn(priceUnits, name)
const allParts = Object.keys(priceUnits).filter(isPart)

/** The parts by which models of a type can be charged. */
const partsByType: Record<ModelType, PricePart[]> = {
  chat: ['prompt', 'completion', 'cacheRead', 'cacheWrite'],
  embedding: ['prompt'],
  moderation: ['prompt'],
  rerank: ['perSearch', 'prompt'],
  image: ['perImage', 'prompt', 'completion'],
  video: ['perSecond', 'perMinute', 'perImage'],
  realtime: ['prompt', 'completion', 'cacheRead', 'audio', 'audioCacheRead', 'audioCompletion'],
  audio: ['perCharacter', 'perMinute', 'perSecond', 'prompt', 'completion'],
}

export const partsOf = ({ type, price }: Model): PricePart[] =>
  allParts.filter((part) => partsByType[type].includes(part) || price?.[part] !== undefined)

/** Returns why a price cannot be changed here; undefined where it can. */
export function fixedReason(ctx: AppContext, { id }: Pick<Model, 'id'>): string | undefined {
  const row = ctx.config.rows.find(({ name }) => name === 'MODEL_PRICES')
  if (row && isFixed(row.source))
    return `The prices are set ${places[row.source]}, which wins. Change MODEL_PRICES there and restart Berth.`
  return hasFixedPrice(ctx.config.models, id)
    ? `The [[model]] ${id} in berth.toml has a price, which wins. Change it there and restart Berth.`
    : undefined
}

/** Reads an amount per displayed unit as USD per unit. Throws `bad_request`. */
function readAmount(text: string, part: PricePart): string | undefined {
  const { label, units } = priceUnits[part]
  if (text === '') return undefined
  const rate = fromUsdPerUnit(text)
  if (rate === undefined || rate % units !== 0n || text.length > 20) {
    const digits = units === 1n ? 15 : 9
    rejectRequest(
      `${label} must be USD with at most ${digits} decimals, such as 0.25. Nothing changed.`,
    )
  }
  return toUsdPerUnit(rate / units)
}

/**
 * Reads the price of a model from USD by part; null stays null. Throws `not_found`, `bad_request`.
 */
export function readModelPrice(
  ctx: AppContext,
  id: string,
  sent: Record<string, string> | null,
): RateTexts | null {
  const model = [...ctx.catalog.list(), ...ctx.catalog.listOff()].find((one) => one.id === id)
  if (!model) throw new ApiError('not_found', { what: 'model' })
  const fixed = fixedReason(ctx, model)
  if (fixed !== undefined) rejectRequest(fixed)
  if (sent === null) return null
  const price: RateTexts = Object.fromEntries(
    partsOf(model).flatMap((part) => {
      const usd = readAmount(sent[part]?.trim() ?? '', part)
      return usd === undefined ? [] : [[parts[part], usd]]
    }),
  )
  if (readOwnPrice(model.type, price)) return price
  const needed = partsByType[model.type].map((part) => priceUnits[part].label).join(', ')
  rejectRequest(
    `A price of the type ${model.type} needs the parts that it is charged by: ${needed}.`,
  )
}
