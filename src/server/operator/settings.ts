import { formatOwnPrice } from '../../gateway/models/open-catalog.ts'
import type { RateTexts } from '../../gateway/models/price.ts'
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
