import { and, eq } from 'drizzle-orm'

import type { Engine } from '../../kernel/db/engine.ts'
import { changedRowCount } from '../../kernel/db/query.ts'
import { hasEnded, thisProcess } from '../../kernel/db/replicas/process.ts'
import type { Clock } from '../../kernel/time.ts'
import { storedResponses } from './tables.ts'

/** The name of a stored response, or of a lock. */
interface Name {
  owner: string
  ref: string
}

const isClaim = ({ owner, ref }: Name) =>
  and(eq(storedResponses.owner, owner), eq(storedResponses.ref, ref), eq(storedResponses.status, 0))

const textOf = ({ owner, ref }: Name): string => `${owner} ${ref}`

/**
 * Claims of names among the processes of a PostgreSQL database. A claim is committed before the
 * work begins, so that no other process begins it. It ends with its release, with the response that
 * replaces it, or with its process.
 */
export class Claims {
  /** Ends the holds of dead processes before their claims are taken over. */
  beforeTakeover: (() => Promise<unknown>) | undefined
  private readonly own = new Map<string, Name>()
  /** Claims whose release failed. */
  private readonly unreleased = new Map<string, Name>()
  /** The claim that `releaseLate` deletes now. */
  private releasing: string | undefined

  constructor(
    private readonly db: Engine,
    private readonly clock: Clock,
  ) {}

  /** Claims a name. Returns false where another live process has it, or a response is stored. */
  async take(name: Name): Promise<boolean> {
    const text = textOf(name)
    if (this.releasing === text) return false
    // A late release must not delete the new claim.
    const isUnreleased = this.unreleased.delete(text)
    let isTaken = false
    try {
      isTaken = (await this.insert(name)) || (await this.takeOver(name))
    } finally {
      if (isUnreleased && !isTaken) this.unreleased.set(text, name)
    }
    if (isTaken) this.own.set(text, name)
    return isTaken
  }

  /** Forgets a claim that its response has replaced. */
  forget(name: Name): void {
    this.own.delete(textOf(name))
  }

  /** Ends a claim without a response. What fails is repeated by `releaseLate`. */
  async release(name: Name): Promise<void> {
    const text = textOf(name)
    if (!this.own.delete(text)) return
    try {
      await this.delete(name)
    } catch {
      this.unreleased.set(text, name)
    }
  }

  /** Releases the claims whose release failed. Runs as maintenance. */
  async releaseLate(): Promise<void> {
    for (const [text, name] of [...this.unreleased]) {
      if (!this.unreleased.has(text)) continue
      this.releasing = text
      try {
        await this.delete(name)
        this.unreleased.delete(text)
      } finally {
        this.releasing = undefined
      }
    }
  }

  private async insert({ owner, ref }: Name): Promise<boolean> {
    const claim = { owner, ref, status: 0, request: '', body: '', process: thisProcess }
    const inserted = await this.db.tx((db) =>
      db
        .insert(storedResponses)
        .values({ ...claim, at: this.clock.now() })
        .onConflictDoNothing(),
    )
    return changedRowCount(inserted) > 0
  }

  /** Takes the claim of an ended process, or an unreleased one of this process. */
  private async takeOver(name: Name): Promise<boolean> {
    const isFree = and(isClaim(name), hasEnded(storedResponses.process))
    const [abandoned] = await this.db.read
      .select({ ref: storedResponses.ref })
      .from(storedResponses)
      .where(isFree)
    if (abandoned) await this.beforeTakeover?.()
    const isOwn = and(isClaim(name), eq(storedResponses.process, thisProcess))
    const taken = await this.db.tx((db) =>
      db
        .update(storedResponses)
        .set({ process: thisProcess, at: this.clock.now() })
        .where(abandoned ? isFree : isOwn),
    )
    return changedRowCount(taken) > 0
  }

  private delete(name: Name): Promise<unknown> {
    const isOwn = and(isClaim(name), eq(storedResponses.process, thisProcess))
    return this.db.tx((db) => db.delete(storedResponses).where(isOwn))
  }
}
