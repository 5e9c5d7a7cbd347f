import { eq } from 'drizzle-orm'

import type { Config, SettingName } from '../config/settings.ts'
import { isSecret, overlay } from '../config/values.ts'
import type { Db, Engine } from '../db/engine.ts'
import { newSecret, sha256 } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Clock } from '../time.ts'
import { changedSettings } from './tables.ts'

const mark = 'sealed:'
const cipher = 'AES-GCM'
const ivBytes = 12

const hashOf = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(sha256(text), 'hex'))

/**
 * Encrypts the secrets that the operator sets in the console (AES-256-GCM, NIST SP 800-38D). The
 * key is not in the database, so that a copy of it opens nothing.
 */
export class Sealing {
  readonly #key: Promise<CryptoKey>

  constructor(secret: string) {
    const bytes = hashOf(`settings\n${secret}`)
    this.#key = crypto.subtle.importKey('raw', bytes, cipher, false, ['encrypt', 'decrypt'])
  }

  /** Encrypts the value of a setting. It opens only under the same name. */
  async seal(name: string, text: string): Promise<string> {
    const iv = hashOf(newSecret()).subarray(0, ivBytes)
    const options = { name: cipher, iv, additionalData: Buffer.from(name) }
    const sealed = await crypto.subtle.encrypt(options, await this.#key, Buffer.from(text))
    return mark + Buffer.concat([iv, new Uint8Array(sealed)]).toString('base64url')
  }

  /** Decrypts a sealed value; returns any other as it is. Undefined where the key is another. */
  async open(name: string, value: string): Promise<string | undefined> {
    if (!value.startsWith(mark)) return value
    const bytes = new Uint8Array(Buffer.from(value.slice(mark.length), 'base64url'))
    const iv = bytes.subarray(0, ivBytes)
    const options = { name: cipher, iv, additionalData: Buffer.from(name) }
    try {
      const text = await crypto.subtle.decrypt(options, await this.#key, bytes.subarray(ivBytes))
      return Buffer.from(text).toString('utf8')
    } catch {
      return undefined
    }
  }
}

type ChangedSetting = typeof changedSettings.$inferSelect

/** Applies changed settings to a part that keeps values of its own. */
type Listener = (config: Config) => void | Promise<void>

/**
 * The settings that the operator changed in the console, in `config`. Every process reads them from
 * the database: at the start, after a change of its own, and every few seconds for those of others.
 */
export class LiveSettings {
  private changed = new Map<string, ChangedSetting>()
  private known = ''
  private readonly listeners: Listener[] = []

  constructor(
    private readonly db: Engine,
    private readonly config: Config,
    private readonly log: Log,
    private readonly sealing: Sealing,
  ) {}

  /** Calls `listener` after each change. */
  onChange(listener: Listener): void {
    this.listeners.push(listener)
  }

  /** Returns the last change of a setting. Secrets are sealed. */
  find(name: SettingName): ChangedSetting | undefined {
    return this.changed.get(name)
  }

  /** Returns a value as it is stored: a secret is encrypted, null is the default. */
  async toStored(name: SettingName, value: string | null): Promise<string | null> {
    return value === null || value === '' || !isSecret(name)
      ? value
      : this.sealing.seal(name, value)
  }

  /** Returns the value that is stored as a text; null where no server of this key wrote it. */
  async fromStored(name: string, stored: string | null): Promise<string | null> {
    return stored === null ? null : ((await this.sealing.open(name, stored)) ?? null)
  }

  /** Reads the database and applies what changed since the last call. */
  async load(): Promise<void> {
    const rows = await this.db.read.select().from(changedSettings).orderBy(changedSettings.name)
    const now = JSON.stringify(rows)
    if (now === this.known) return
    this.changed = new Map(rows.map((row) => [row.name, row]))
    const values = new Map<string, string>()
    for (const { name, value: stored } of rows) {
      const value = await this.fromStored(name, stored)
      if (value !== null) values.set(name, value)
      else if (stored !== null) this.log.warn('config.warning', { why: otherKey(name) })
    }
    for (const why of overlay(this.config, values)) this.log.warn('config.warning', { why })
    for (const listener of this.listeners) await listener(this.config)
    // Only now: the next call repeats what a listener failed to apply.
    this.known = now
  }
}

const otherKey = (name: string): string =>
  `${name} was set on a server with another SETTINGS_KEY, or before the file settings-secret was replaced. Set it again in the console.`

/** Returns the stored value of a setting; null is the default. */
export async function readStored(db: Db, name: SettingName): Promise<string | null> {
  const [row] = await db.select().from(changedSettings).where(eq(changedSettings.name, name))
  return row?.value ?? null
}

/** Stores a change; null is the default. Call `load` afterwards. */
export async function storeSetting(
  { clock, settings }: { clock: Clock; settings: LiveSettings },
  db: Db,
  change: Pick<ChangedSetting, 'value' | 'by'> & { name: SettingName },
): Promise<void> {
  const [last] = await db
    .delete(changedSettings)
    .where(eq(changedSettings.name, change.name))
    .returning()
  const before = last?.value ?? null
  const value = await settings.toStored(change.name, change.value)
  await db.insert(changedSettings).values({ ...change, value, before, at: clock.now() })
}
