import { join } from 'node:path'

import { problemOf } from '../../apps/imports/archive.ts'
import { importAgent, type ImportResult } from '../../apps/imports/imports.ts'
import { itemUrl } from '../../apps/kinds.ts'
import { exportAgent } from '../../apps/me/export.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, isApiError } from '../../kernel/errors.ts'
import { fromCredits, type NanoUsd, toCredits } from '../../kernel/money.ts'
import { messageOf } from '../../kernel/text.ts'
import { iso } from '../../kernel/time.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import { findByMention } from '../../people/agents/agents.ts'
import { commandLine, recordAudit } from '../../people/audit/audit.ts'
import { backupName, copyDurably } from '../../store/backups.ts'
import { writeNew } from '../../store/data-files.ts'
import { createStagingFolder, removeStagingFolder } from '../../store/restore-swap.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import { creditsOf, grantCredits } from './grants.ts'

const importUsage = 'usage: berth import <file> --from <server> [--as <handle>] [--credits <most>]'

/** `berth import <file>`: imports an agent that another server exported. */
export async function importCommand(
  ctx: AppContext,
  [file = '', from = '', handle = '', most = '0', ...more]: string[],
): Promise<CommandResult> {
  if (file === '' || more.length > 0) return failed(importUsage)
  if (!/^\d{1,9}$/.test(most)) {
    return failed(`--credits is a whole number of credits. ${importUsage}`)
  }
  try {
    const result = await importFile(ctx, file, { from, handle })
    const imported = describeImport(ctx, result)
    const data = importData(ctx, result)
    try {
      const given = await giveCredits(ctx, result, fromCredits(Number(most)))
      return succeeded(`${imported}\n${given}`, data)
    } catch (error) {
      // The import is complete, and its key is shown only now.
      return failed(`${imported}\nIt got no credits. Import it again: ${messageOf(error)}`, data)
    }
  } catch (error) {
    const problem = problemOf(error)
    if (problem === undefined) throw error
    const isOfHandle = isApiError(error, 'handle_taken') || isApiError(error, 'bad_handle')
    return failed(isOfHandle ? `${problem} Give it another one: --as <handle>` : problem)
  }
}

/** Imports a copy of the file, which stays as it is meanwhile. */
async function importFile(
  ctx: AppContext,
  file: string,
  { from, handle }: { from: string; handle: string },
): Promise<ImportResult> {
  ctx.storage.requireFreeSpace(0)
  const stamp = `${backupName(iso(ctx.clock.now()))}-import`
  const dir = createStagingFolder(ctx.config.dataDir, stamp)
  try {
    const copy = join(dir, 'agent.zip')
    await copyDurably(file, copy)
    const result = await importAgent(ctx, copy, { from, ...(handle !== '' && { handle }) })
    const item = `@${result.agent.handle}`
    const entry = { by: commandLine, did: 'import', item, why: result.file.server }
    await ctx.db.tx((db) => recordAudit(ctx, db, entry))
    return result
  } finally {
    await removeStagingFolder(dir)
  }
}

/** Gives the credits that the operator allows, once for an archive. */
async function giveCredits(
  ctx: AppContext,
  { agent, archive, credits }: ImportResult,
  most: NanoUsd,
): Promise<string> {
  const owner = agentOwner(agent.id)
  const amount = credits < most ? credits : most
  if (amount > 0n) {
    const grantee = {
      kind: 'agent',
      name: `@${agent.handle}`,
      owner,
      created: agent.created,
    } as const
    try {
      await grantCredits(ctx, grantee, { amount, ref: `import:${archive}`, by: commandLine })
    } catch (error) {
      if (!(error instanceof ApiError) || error.errorName !== 'ref_conflict') throw error
    }
  }
  const had = toCredits(credits)
  const balances = `It had ${had} credits there and has ${await creditsOf(ctx, { owner })} here.`
  return most === 0n ? `${balances} To give it those: --credits ${Math.ceil(had)}` : balances
}

/** Returns an import as `--json` prints it. */
const importData = (
  ctx: AppContext,
  { agent, keyText, items, reviews, comments }: ImportResult,
) => ({
  handle: agent.handle,
  ...(keyText !== undefined && { key: keyText }),
  items: items.map((item) => ({
    ...item,
    ...(item.state !== 'skipped' && { link: itemUrl(ctx, item) }),
  })),
  reviews,
  comments,
})

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

/** Describes an import in lines: what came, the key, and the link of each item. */
function describeImport(ctx: AppContext, result: ImportResult): string {
  const { agent, file, items, keyText, reviews, comments } = result
  const added = items.filter(({ state }) => state === 'new').length
  const skipped = items.filter(({ state }) => state === 'skipped')
  const name = `@${agent.handle}`
  const came = [
    counted(added, 'item'),
    counted(reviews, 'review'),
    counted(comments, 'comment'),
  ].join(', ')
  const head =
    keyText === undefined
      ? `${name} was imported before. Added now: ${came}.`
      : `Imported @${file.agent.handle} from ${file.server} as ${name}: ${came}.`
  const key =
    keyText === undefined
      ? `For a new key: berth keys add ${name}`
      : `Its API key, which is shown only now: ${keyText}`
  const links = items
    .filter(({ state }) => state !== 'skipped')
    .map((item) => {
      const was =
        item.id === item.origin ? '' : `  (its id was ${item.origin}, which is taken here)`
      return `${itemUrl(ctx, item)}  ${item.title}${was}`
    })
  const lost = skipped.map(({ origin, title, why }) => `Not imported: ${origin} ${title}: ${why}`)
  return [head, key, ...links, ...lost].join('\n')
}

/** `berth export @handle <file>`: writes everything of an agent as a zip. */
export async function exportCommand(
  ctx: AppContext,
  [name = '', file = '', ...more]: string[],
): Promise<CommandResult> {
  if (file === '' || more.length > 0) return failed('usage: berth export @handle [file]')
  const agent = name.startsWith('@') ? await findByMention(ctx, name) : undefined
  if (!agent || agent.closed !== null) return failed(`${name} does not exist on this server.`)
  const bytes = await writeNew(file, exportAgent(ctx, agent))
  const text = `Exported ${name} to ${file}: ${bytes.toLocaleString('en')} bytes.`
  return succeeded(text, { handle: agent.handle, file, bytes })
}
