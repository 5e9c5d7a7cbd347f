import type { SettingName, Source } from '../config/settings.ts'
import { defaultOf, editableSettings, isFixed, problemsOf, shownText } from '../config/values.ts'
import type { AppContext } from '../context.ts'
import { ApiError } from '../errors.ts'
import { recordAudit } from '../hosting/audit/audit.ts'
import { storeSetting } from '../state/live-settings.ts'

/** The places of values that the console cannot change. */
export const places: Record<Source, string> = {
  flag: 'by a flag',
  environment: 'in the environment',
  'berth.toml': 'in berth.toml',
  console: 'in the console',
  default: 'by default',
}

const elide = (value: string): string => (value.length > 80 ? `${value.slice(0, 79)}…` : value)
const shownValue = (value: string): string => (value === '' ? 'empty' : elide(value))

/**
 * Changes a setting from now on, in all processes; `value` null restores its default. Throws
 * `not_found`, and `bad_request` with the messages of the start, or where it is set elsewhere.
 */
export async function changeSetting(
  ctx: AppContext,
  { name, value, by }: { name: string; value: string | null; by: string },
): Promise<void> {
  const row = ctx.config.rows.find((one) => one.name === name)
  if (!row || !editableSettings.has(name)) throw new ApiError('not_found', { what: 'setting' })
  if (isFixed(row.source)) {
    const problem = `${name} is set ${places[row.source]}, which wins. Change it there and restart Berth.`
    throw new ApiError('bad_request', { problem })
  }
  const text = value ?? defaultOf(row.name)
  const [problem] = problemsOf(ctx.config, row.name, text)
  if (problem !== undefined) throw new ApiError('bad_request', { problem })
  await ctx.db.tx(async (db) => {
    await storeSetting(ctx, db, { name: row.name, value, by })
    const why = `${shownValue(row.value)} → ${shownValue(shownText(row.name, text))}`
    await recordAudit(ctx, db, { by, did: value === null ? 'reset' : 'set', item: name, why })
  })
  await ctx.settings.load()
  await ctx.signals.send('settings')
}

/** Adds a model to MODELS_OFF, or removes it. Throws as `changeSetting` does. */
export async function switchModel(
  ctx: AppContext,
  { id, isOn, by }: { id: string; isOn: boolean; by: string },
): Promise<void> {
  const name: SettingName = 'MODELS_OFF'
  const others = ctx.config.modelsOff.filter((one) => one !== id)
  const ids = isOn ? others : [...others, id]
  await changeSetting(ctx, { name, value: ids.length === 0 ? null : ids.join(','), by })
}
