import { eq } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import type { Signals } from '../../kernel/db/signals.ts'
import type { Clock } from '../../kernel/time.ts'
import { restrictions } from './tables.ts'

export type Restriction = typeof restrictions.$inferSelect
export type RestrictionKind = Restriction['kind']

/** Names of what a restriction covers: "address:203.0.113.0/24", "key:ak_…", "account:agent:…". */
export const subjectPattern = /^(address|key|account):\S{1,120}$/

/** The clients that the operator slowed down or blocked, in memory for every request. */
export class Restrictions {
  private kinds = new Map<string, RestrictionKind>()

  constructor(private readonly ctx: { db: { read: Db }; signals: Signals }) {
    ctx.signals.follow('restrictions', () => this.load())
  }

  /** Reads them again in all processes. Call it after the commit of a change. */
  async reload(): Promise<void> {
    await this.load()
    await this.ctx.signals.send('restrictions')
  }

  /** Reads the database: at the start, with a signal, and each minute. */
  async load(): Promise<void> {
    const rows = await this.ctx.db.read.select().from(restrictions)
    this.kinds = new Map(rows.map(({ subject, kind }) => [subject, kind]))
  }

  kindOf(subject: string): RestrictionKind | undefined {
    return this.kinds.get(subject)
  }

  /** Returns all that are restricted. */
  list(): [subject: string, kind: RestrictionKind][] {
    return [...this.kinds]
  }

  /** Returns the strictest restriction of some subjects. */
  find(...subjects: string[]): { subject: string; kind: RestrictionKind } | undefined {
    if (this.kinds.size === 0) return undefined
    const found = subjects.flatMap((subject) => {
      const kind = this.kinds.get(subject)
      return kind ? [{ subject, kind }] : []
    })
    return found.find(({ kind }) => kind === 'block') ?? found[0]
  }
}

/** Stores or removes a restriction. Returns false for no change. Call `reload` afterwards. */
export async function setRestriction(
  { clock }: { clock: Clock },
  db: Db,
  subject: string,
  kind: RestrictionKind | null,
): Promise<boolean> {
  const [before] = await db
    .delete(restrictions)
    .where(eq(restrictions.subject, subject))
    .returning()
  if (kind !== null) {
    await db.insert(restrictions).values({ subject, kind, created: clock.now() })
  }
  return (before?.kind ?? null) !== kind
}
