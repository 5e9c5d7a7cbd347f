import { eq } from 'drizzle-orm'

import type { Config, SettingName } from '../config/settings.ts'
import { overlay } from '../config/values.ts'
import type { Db, Engine } from '../db/engine.ts'
import type { Log } from '../log.ts'
import type { Clock } from '../time.ts'
import { changedSettings } from './tables.ts'

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
  ) {}

  /** Calls `listener` after each change. */
  onChange(listener: Listener): void {
    this.listeners.push(listener)
  }

  /** Returns the last change of a setting. */
  find(name: SettingName): ChangedSetting | undefined {
    return this.changed.get(name)
  }

  /** Reads the database and applies what changed since the last call. */
  async load(): Promise<void> {
    const rows = await this.db.read.select().from(changedSettings).orderBy(changedSettings.name)
    const now = JSON.stringify(rows)
    if (now === this.known) return
    this.changed = new Map(rows.map((row) => [row.name, row]))
    const values = new Map(
      rows.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const])),
    )
    for (const why of overlay(this.config, values)) this.log.warn('config.warning', { why })
    for (const listener of this.listeners) await listener(this.config)
    // Only now: the next call repeats what a listener failed to apply.
    this.known = now
  }
}

/** Returns the stored value of a setting; null is the default. */
export async function readStored(db: Db, name: SettingName): Promise<string | null> {
  const [row] = await db.select().from(changedSettings).where(eq(changedSettings.name, name))
  return row?.value ?? null
}

/** Stores a change; null is the default. Call `load` afterwards. */
export async function storeSetting(
  { clock }: { clock: Clock },
  db: Db,
  change: Pick<ChangedSetting, 'name' | 'value' | 'by'>,
): Promise<void> {
  const [last] = await db
    .delete(changedSettings)
    .where(eq(changedSettings.name, change.name))
    .returning()
  const before = last?.value ?? null
  await db.insert(changedSettings).values({ ...change, before, at: clock.now() })
}
