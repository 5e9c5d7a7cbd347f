import { hostname } from 'node:os'
import { resolve } from 'node:path'

import { and, eq, ne, type SQL, sql, type SQLWrapper } from 'drizzle-orm'

import { newId, sha256 } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { second } from '../../time.ts'
import { dialect } from '../columns.ts'
import type { Db, Engine } from '../engine.ts'
import { leases, replicas } from './tables.ts'

/** Id of this process, stored in the rows that it works on. */
export const thisProcess = newId()

/** Name of this process's PostgreSQL sessions. */
export const sessionName = `berth ${thisProcess}`

/**
 * Returns a condition: the process that a column names has ended. A SQLite database has one owner,
 * so every other process has ended. On PostgreSQL a server lives while its row exists.
 */
export function hasEnded(process: SQLWrapper): SQL | undefined {
  const isOther = sql`${process} <> ${thisProcess}`
  if (dialect === 'sqlite') return isOther
  return and(isOther, sql`not exists (select 1 from ${replicas} where ${replicas.id} = ${process})`)
}

/** Other servers of a database that are listed. */
const othersMax = 1_000

/** Returns the ids of the other servers that use this database. */
export async function listOtherProcesses(db: Db): Promise<string[]> {
  if (dialect === 'sqlite') return []
  const others = await db
    .select({ id: replicas.id })
    .from(replicas)
    .where(ne(replicas.id, thisProcess))
    .limit(othersMax)
  return others.map(({ id }) => id)
}

const beatMs = 2 * second
/** A process that was not seen for this time counts as dead. A transaction takes at most 5 s. */
const deadMs = 9 * second

/** The clock of the database, because those of machines differ. */
const databaseNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
const deadline = sql`${databaseNow} - ${deadMs}`

/**
 * Shows the other servers of a PostgreSQL database that this process lives, with one transaction
 * every two seconds, and removes those that died (docs/decisions/0079). SQLite has one server.
 */
export class Presence {
  private timer: Timer | undefined
  private beating: Promise<void> | undefined
  private leads = false

  constructor(
    private readonly ctx: { db: Engine; log: Log },
    private readonly server: { folder: string; version: string },
  ) {}

  /** Returns whether this process does the work that runs once in the whole system. */
  get isLeader(): boolean {
    return this.ctx.db.kind === 'sqlite' || this.leads
  }

  /** Registers this process. An earlier process of the same data folder has ended. */
  async start(): Promise<void> {
    const { db } = this.ctx
    if (db.kind === 'sqlite') return
    const { folder } = this.server
    await db.tx((tx) =>
      tx.delete(replicas).where(and(eq(replicas.folder, folder), ne(replicas.id, thisProcess))),
    )
    await this.beat()
    this.timer = setInterval(() => {
      this.beating ??= this.beat()
        .catch((error: unknown) => {
          // Another process may lead by now.
          this.leads = false
          this.ctx.log.error('replicas.beat', error)
        })
        .finally(() => (this.beating = undefined))
    }, beatMs)
  }

  /** Removes this process, so that others take over its work at once. */
  async close(): Promise<void> {
    if (!this.timer) return
    clearInterval(this.timer)
    await this.beating
    this.leads = false
    await this.ctx.db
      .tx(async (tx) => {
        await tx.delete(replicas).where(eq(replicas.id, thisProcess))
        await tx.delete(leases).where(eq(leases.process, thisProcess))
      })
      .catch((error: unknown) => this.ctx.log.error('replicas.leave', error))
  }

  private async beat(): Promise<void> {
    this.leads = await this.ctx.db.tx(async (tx) => {
      await this.show(tx)
      await removeDead(tx)
      return takeLead(tx)
    })
  }

  private async show(db: Db): Promise<void> {
    const isGap = sql`${replicas.seen} < ${deadline}`
    await db
      .insert(replicas)
      .values({ id: thisProcess, ...this.server, since: databaseNow, seen: databaseNow })
      .onConflictDoUpdate({
        target: replicas.id,
        set: {
          since: sql`case when ${isGap} then ${databaseNow} else ${replicas.since} end`,
          seen: databaseNow,
        },
      })
  }
}

/**
 * Removes processes that were not seen. After an outage of the database all look dead, so only a
 * process that was seen without a gap for as long removes others.
 */
async function removeDead(db: Db): Promise<void> {
  const hasNoGap = sql`exists (select 1 from ${replicas} own
    where own.id = ${thisProcess} and own.since < ${deadline})`
  await db.delete(replicas).where(and(sql`${replicas.seen} < ${deadline}`, hasNoGap))
}

/** Takes or renews the lead. A leader that is not seen loses it. */
async function takeLead(db: Db): Promise<boolean> {
  const lease = { process: thisProcess, until: sql`${databaseNow} + ${deadMs}` }
  const taken = await db
    .insert(leases)
    .values({ name: 'leader', ...lease })
    .onConflictDoUpdate({
      target: leases.name,
      set: lease,
      setWhere: sql`${leases.process} = ${thisProcess} or ${leases.until} < ${databaseNow}`,
    })
    .returning({ name: leases.name })
  return taken.length > 0
}

const hostnameCharsMax = 64

/** Returns the name of a server in the console, such as "berth-1:3000". */
export const serverNameOf = (origin: string): string =>
  `${hostname().slice(0, hostnameCharsMax)}:${new URL(origin).port || 80}`

/** Names a data folder: copies of a folder have the same secret, on other machines or paths. */
export const folderIdOf = ({ dataDir }: { dataDir: string }, secret: string): string =>
  sha256(`${hostname()} ${resolve(dataDir)} ${secret}`).slice(0, 32)
