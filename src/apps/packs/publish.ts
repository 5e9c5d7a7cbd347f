import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { completed, created, type Success } from '../../kernel/http/outcome.ts'
import { descriptionCharsMax } from '../../kernel/limits.ts'
import { isPlainLine } from '../../kernel/text.ts'
import type { Agent } from '../../people/agents/agents.ts'
import * as apps from '../apps.ts'
import type { Folder, Share } from '../folders/folder.ts'
import { stepDoneCharsMax, stepTitleCharsMax } from '../folders/limits.ts'
import { type Pack, readPack, rejectPack } from '../folders/read-pack.ts'
import type { PackKind } from '../kinds.ts'
import { inspectContent, storePage } from '../page-content.ts'
import { presentPackAs, presentScan } from '../present.ts'
import { withPublishQuota } from '../publish-quota.ts'
import { publishItem, toListing } from '../publish.ts'
import { addVersion, checkNote, visibilityNote } from '../versions/versions.ts'
import type { ParsedRequest } from './request.ts'

type Fields = ParsedRequest['fields']

/** The request as an idempotency key compares it. The hash of the archive stands for the files. */
const fingerprintOf = (fields: Fields, { folder }: Pack) => ({ ...fields, files: folder.archive })

/**
 * Publishes a folder as a new skill or framework, version 1, live immediately and free. Returns
 * 201, or 200 with the scan for a dry run. Throws `bad_request`, `bad_skill`, `skill_name_taken`,
 * `payments_off`, `prices_off`, `too_large`, `blocked_by_scan`, and what `insertApp` throws.
 */
export async function publishPack(
  ctx: AppContext,
  maker: Agent,
  kind: PackKind,
  { fields, files }: ParsedRequest,
): Promise<Success> {
  const listing = toListing(ctx, fields)
  const pack = await readPack(files)
  const folder = await withSteps(ctx, pack.folder, fields)
  if (fields.dryRun) return dryRun(ctx, kind, pack)
  const fingerprint = fingerprintOf(fields, pack)
  return ctx.idempotency.run(maker.id, fields.ref, fingerprint, async (storeResponse) => {
    const inspection = await inspectContent(ctx, kind, pack.tar)
    const texts = { title: pack.name, description: shortDescription(folder) }
    return publishItem(ctx, maker, {
      fields: { kind, name: pack.name, ...texts, ...listing },
      isForExplore: fields.store === true,
      inspection: { ...inspection, gzip: pack.gzip },
      folder,
      present: (item) => presentPackAs(ctx, item, folder),
      storeResponse,
    })
  })
}

/**
 * Publishes the next version. Steps and share stay unless the request has others. Throws what
 * `publishPack` throws, `not_found` and `taken_down`.
 */
export async function publishPackVersion(
  ctx: AppContext,
  maker: Agent,
  { id, kind }: { id: string; kind: PackKind },
  { fields, files }: ParsedRequest,
): Promise<Success> {
  const item = await apps.getOwnApp(ctx, maker, id, [kind])
  const note = checkNote(fields.note)
  const before = (await apps.getVersion(ctx, id, item.version)).folder
  const pack = await readPack(files)
  if (pack.name !== item.name) {
    rejectPack([`SKILL.md: "name" must stay "${item.name}". Publish a new pack for another name.`])
  }
  const folder = await withSteps(ctx, pack.folder, fields, before)
  if (fields.dryRun) return dryRun(ctx, kind, pack)
  const fingerprint = { id, ...fingerprintOf(fields, pack) }
  return ctx.idempotency.run(maker.id, fields.ref, fingerprint, async (storeResponse) => {
    const inspection = await inspectContent(ctx, kind, pack.tar)
    return withPublishQuota(ctx, maker, pack.tar.byteLength, async () => {
      const page = await storePage(ctx, { ...inspection, gzip: pack.gzip }, { folder })
      return ctx.db.tx(async (db) => {
        const how = { via: 'files', note } as const
        const added = await addVersion(ctx, db, item, { page, inspection, how })
        // A description that the maker set for Explore stays.
        const isSame = before && item.description === shortDescription(before)
        const app =
          isSame && added.reasons.length === 0
            ? await apps.updateApp(ctx, db, added.app, { description: shortDescription(folder) })
            : added.app
        const version = created({
          ...presentPackAs(ctx, app, folder),
          scan: presentScan(inspection),
          note: visibilityNote(ctx, { ...added, app }),
        })
        return storeResponse(db, version)
      })
    })
  })
}

async function dryRun(ctx: AppContext, kind: PackKind, { tar }: Pack): Promise<Success> {
  const inspection = await inspectContent(ctx, kind, tar)
  return completed({ scan: presentScan(inspection), price: 0 })
}

/** Explore shows descriptions of at most 500 characters, SKILL.md may have 1,024. */
function shortDescription({ description }: Folder): string {
  const chars = [...description.replace(/\s+/g, ' ')]
  return chars.length <= descriptionCharsMax
    ? chars.join('')
    : `${chars.slice(0, descriptionCharsMax - 1).join('')}…`
}

/**
 * Adds the steps and the share of a framework. A version keeps those of the last one; a null share
 * ends it. Throws `bad_request`, `blocked_by_scan` and `payments_off`.
 */
export async function withSteps(
  ctx: AppContext,
  folder: Folder,
  { steps = [], share }: Pick<Fields, 'steps' | 'share'>,
  before?: Folder | null,
): Promise<Folder> {
  checkSteps(steps)
  if (steps.length > 0) await scanSteps(steps)
  const ownSteps = steps.length > 0 ? steps : before?.steps
  const ownShare = share === undefined ? before?.share : share && (await checkShare(ctx, share))
  return { ...folder, ...(ownSteps && { steps: ownSteps }), ...(ownShare && { share: ownShare }) }
}

function checkSteps(steps: NonNullable<Fields['steps']>): void {
  const ids = new Set<string>()
  for (const { id, title, done } of steps) {
    if (!isPlainLine(title, stepTitleCharsMax) || !isPlainLine(done, stepDoneCharsMax)) {
      rejectRequest(
        `The step "${id}" must have a plain "title" of at most ${stepTitleCharsMax} characters ` +
          `and a plain "done" of at most ${stepDoneCharsMax}.`,
        'steps',
      )
    }
    if (ids.has(id)) {
      rejectRequest(`Two steps have the id "${id}". Give each step an id of its own.`, 'steps')
    }
    ids.add(id)
  }
}

/**
 * Scans the texts of steps, which agents follow like the files. Any finding is `blocked_by_scan`:
 * what a person would have to decide about belongs in SKILL.md.
 */
async function scanSteps(steps: NonNullable<Fields['steps']>): Promise<void> {
  const { scanPack } = await import('../scan/packs/scan-pack.ts')
  const text = steps.map(({ title, done }) => `${title}\n${done}\n`).join('\n')
  const { findings } = await scanPack([{ path: 'steps.md', text }])
  if (findings.length === 0) return
  const reasons = findings.map(({ line, code, help, excerpt }) => {
    const step = steps[Math.floor((line - 1) / linesPerStep)]
    return `step "${step?.id}": ${code}: ${help} (${excerpt})`
  })
  throw new ApiError('blocked_by_scan', { reasons })
}

/** A title, a criterion and an empty line. */
const linesPerStep = 3

const percentDecimals = 4

/**
 * Returns a share as it is stored: the chain in CAIP-2, the token and the payee as addresses.
 * Agents pay it in the USDC of this server's chain. Throws `bad_request` and `payments_off`.
 */
async function checkShare({ x402 }: AppContext, share: Share): Promise<Share> {
  if (!x402) {
    throw new ApiError('payments_off', { setting: 'X402_PAY_TO', advice: 'Leave out "share".' })
  }
  const { id, name, asset } = x402.network
  const isOther = !['usdc', asset.toLowerCase()].includes(share.asset.toLowerCase())
  if ((share.network !== id && share.network !== name) || isOther) {
    throw badShare(`must be in USDC on ${id}: "network": "${id}", "asset": "${asset}"`)
  }
  if (Number(share.percent.toFixed(percentDecimals)) !== share.percent) {
    throw badShare(`has a "percent" of at most ${percentDecimals} decimals`)
  }
  // The check of addresses is loaded with the first share.
  const { isAddress, zeroAddress } = await import('viem')
  if (!isAddress(share.payTo) || share.payTo === zeroAddress) {
    throw badShare('needs the address of a wallet as "payTo", with its letters as copied')
  }
  return { ...share, network: id, asset }
}

const badShare = (problem: string): ApiError<'bad_request'> =>
  new ApiError('bad_request', { problem: `"share" ${problem}.`, param: 'share' })
