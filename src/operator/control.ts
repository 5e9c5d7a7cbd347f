import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import type { AppContext } from '../context.ts'
import { isRecord } from '../core/schema.ts'
import { errorCodeOf } from '../core/text.ts'
import { commands } from './commands.ts'
import { failed, failedBy, type Outcome } from './outcome.ts'

const socketOf = (dataDir: string): string => join(dataDir, 'control.sock')

/** A backup or a doctor of a large house is quiet as long as it takes; the types leave this out. */
const patient: object = { idleTimeout: 0 }

/**
 * Listens on the data folder's control socket, which only its owner can open, so that `berth grant`
 * and its kin work beside a running server. Answers how to stop.
 */
export function openControl(ctx: AppContext): () => Promise<void> {
  const unix = socketOf(ctx.config.dataDir)
  rmSync(unix, { force: true })
  const server = Bun.serve({
    ...patient,
    unix,
    async fetch(request) {
      const asked: unknown = await request.json()
      if (!isAsked(asked)) return new Response('ask with a command and its words', { status: 400 })
      return Response.json(await run(ctx, asked))
    },
  })
  chmodSync(unix, 0o600)
  return async () => {
    await server.stop()
    rmSync(unix, { force: true })
  }
}

/** A command and its words, as they were typed. */
export interface Asked {
  command: string
  words: string[]
}

const isAsked = (asked: unknown): asked is Asked =>
  isRecord(asked) && typeof asked['command'] === 'string' && Array.isArray(asked['words'])

/** Runs a command on an open house. What it throws becomes its outcome. */
export async function run(ctx: AppContext, { command, words }: Asked): Promise<Outcome> {
  try {
    const known = Object.hasOwn(commands, command) ? commands[command] : undefined
    return known ? await known(ctx, words) : failed(`There is no ${command}.`)
  } catch (error) {
    return failedBy(error)
  }
}

/** Asks a running server to run a command; undefined when none runs on this data folder. */
export async function askRunning(dataDir: string, asked: Asked): Promise<Outcome | undefined> {
  try {
    const answer = await fetch('http://berth/', {
      unix: socketOf(dataDir),
      method: 'POST',
      body: JSON.stringify(asked),
      timeout: false,
    })
    const outcome: unknown = await answer.json()
    return isOutcome(outcome) ? outcome : failed('The running server is another version.')
  } catch (error) {
    const code = errorCodeOf(error) || String(error)
    if (nobodyThere.has(code)) return undefined
    return failed(`The running server gave no answer: ${code}.`)
  }
}

const nobodyThere = new Set(['ENOENT', 'ENOTDIR', 'ECONNREFUSED'])

const isOutcome = (outcome: unknown): outcome is Outcome =>
  isRecord(outcome) && typeof outcome['ok'] === 'boolean' && typeof outcome['text'] === 'string'
