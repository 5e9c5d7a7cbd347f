import { ApiError } from '../../kernel/errors.ts'
import { modelIdCharsMax } from '../../kernel/limits.ts'
import { type NanoUsd, parseCredits, toCredits } from '../../kernel/money.ts'
import { isPlainLine, isPlainText } from '../../kernel/text.ts'
import { iso } from '../../kernel/time.ts'
import type { Key, KeySettings } from '../../money/keys/keys.ts'
import { allowsModel } from '../../money/keys/restrictions.ts'
import type { Owner } from '../../money/ledger/accounts.ts'
import { invalidField } from '../fields.ts'
import { keyNoteCharsMax, keyTagCharsMax } from '../limits.ts'
import type { KeyParams, KeyResponse } from './schemas.ts'

/** Manages the keys of an account: one of its keys, or the operator, who has no limits. */
export interface KeyManager {
  owner: Owner & { kind: 'agent' | 'gateway' }
  key?: Key
}

/** The caps of a key, by their names in requests. */
const caps = { daily_cap: 'dailyCap', weekly_cap: 'weeklyCap', monthly_cap: 'monthlyCap' } as const
const rates = {
  requests_per_minute: 'requestsPerMinute',
  tokens_per_minute: 'tokensPerMinute',
  running_requests: 'runningRequests',
} as const

/**
 * Parses the requested settings of a key; fields that are not sent stay as they are. Throws
 * `bad_request`, `cap_above_own` for a daily cap above that of the calling key, and `key_above_own`
 * for another limit that is wider than its own.
 */
export function readKeySettings(
  caller: KeySettings,
  params: KeyParams,
  now: number,
): Partial<KeySettings> {
  const settings: Partial<KeySettings> = {}
  for (const [field, name] of entriesOf(caps)) {
    const credits = params[field]
    if (credits === undefined) continue
    settings[name] = credits === null ? null : parseCredits(credits, field)
    checkMaximum(field, settings[name], caller[name])
  }
  for (const [field, name] of entriesOf(rates)) {
    const rate = params[field]
    if (rate === undefined) continue
    settings[name] = rate
    checkMaximum(field, rate, caller[name])
  }
  if (params.models !== undefined) settings.models = readModels(params.models, caller.models)
  if (params.expires_at !== undefined) {
    settings.expires = readExpiry(params.expires_at, now)
    checkMaximum('expires_at', settings.expires, caller.expires)
  }
  if (params.note !== undefined) settings.note = readNote(params.note)
  if (params.tags !== undefined) settings.tags = readLines('tags', params.tags, keyTagCharsMax)
  if (params.project !== undefined) {
    checkProject(params.project, caller.project)
    settings.project = params.project
  }
  return settings
}

const entriesOf = <Field extends string, Name extends string>(names: Record<Field, Name>) =>
  Object.entries<Name>(names).flatMap(([field, name]) =>
    isFieldOf(names, field) ? [[field, name] as const] : [],
  )

const isFieldOf = <Field extends string>(
  names: Record<Field, string>,
  field: string,
): field is Field => Object.hasOwn(names, field)

/** Throws for a limit that is missing or higher where the calling key has one. */
function checkMaximum(
  field: string,
  value: NanoUsd | number | null,
  own: NanoUsd | number | null,
): void {
  if (own === null || (value !== null && value <= own)) return
  if (field === 'daily_cap' && typeof own === 'bigint') {
    throw new ApiError('cap_above_own', { cap: own })
  }
  throw new ApiError('key_above_own', { field })
}

function readNote(note: string | null): string | null {
  if (note === null || isPlainText(note, keyNoteCharsMax)) return note
  throw invalidField('note', `note must be a text of at most ${keyNoteCharsMax} characters.`)
}

/** Checks a list of lines without control characters. Throws `bad_request`. */
function readLines(field: string, lines: string[], max: number): string[] {
  if (lines.every((line) => isPlainLine(line, max))) return lines
  throw invalidField(field, `Each of ${field} must be one line of 1 to ${max} characters.`)
}

function readModels(models: string[] | null, own: string[] | null): string[] | null {
  if (models !== null) readLines('models', models, modelIdCharsMax)
  checkModels(models, own)
  return models
}

function checkModels(models: string[] | null, own: string[] | null): void {
  const isWider = own !== null && !models?.every((id) => own.includes(id) || isAllowed(own, id))
  if (isWider) throw new ApiError('key_above_own', { field: 'models' })
}

/** Throws `cap_above_own`, `key_above_own` for a key with wider limits than those of the caller. */
export function checkWithin(caller: KeySettings, key: KeySettings): void {
  for (const [field, name] of [...entriesOf(caps), ...entriesOf(rates)]) {
    checkMaximum(field, key[name], caller[name])
  }
  checkMaximum('expires_at', key.expires, caller.expires)
  checkModels(key.models, caller.models)
  checkProject(key.project, caller.project)
}

function checkProject(project: string | null, own: string | null): void {
  if (own !== null && project !== own) throw new ApiError('key_above_own', { field: 'project' })
}

/** Returns whether a list allows an id. A pattern must be on the list itself. */
const isAllowed = (own: string[], id: string): boolean => !id.includes('*') && allowsModel(own, id)

function readExpiry(text: string | null, now: number): number | null {
  if (text === null) return null
  const at = Date.parse(text)
  if (at > now) return at
  throw invalidField(
    'expires_at',
    'expires_at must be a date-time in the future, such as 2026-12-31T00:00:00Z.',
  )
}

/** Returns the settings that a new key inherits from the calling key. */
export const inheritedSettings = (caller: KeySettings): KeySettings => ({
  dailyCap: caller.dailyCap,
  weeklyCap: caller.weeklyCap,
  monthlyCap: caller.monthlyCap,
  requestsPerMinute: caller.requestsPerMinute,
  tokensPerMinute: caller.tokensPerMinute,
  runningRequests: caller.runningRequests,
  models: caller.models,
  expires: caller.expires,
  note: null,
  tags: null,
  project: caller.project,
})

const creditsOrNull = (amount: NanoUsd | null): number | null =>
  amount === null ? null : toCredits(amount)

export const presentKey = (key: Key, current?: Key): KeyResponse => ({
  id: key.prefix,
  prefix: key.prefix,
  name: key.name,
  daily_cap: creditsOrNull(key.dailyCap),
  weekly_cap: creditsOrNull(key.weeklyCap),
  monthly_cap: creditsOrNull(key.monthlyCap),
  requests_per_minute: key.requestsPerMinute,
  tokens_per_minute: key.tokensPerMinute,
  running_requests: key.runningRequests,
  models: key.models,
  expires_at: key.expires === null ? null : iso(key.expires),
  note: key.note,
  tags: key.tags ?? [],
  project: key.project,
  created: iso(key.created),
  current: key.prefix === current?.prefix,
})
