import type { AppContext } from '../kernel/context.ts'
import { ApiError, rejectRequest } from '../kernel/errors.ts'
import { completed, created, type Success } from '../kernel/http/outcome.ts'
import { descriptionCharsMax, titleCharsMax } from '../kernel/limits.ts'
import { formatCredits, fromCredits } from '../kernel/money.ts'
import { hasVisibleText, isPlainLine, isPlainText } from '../kernel/text.ts'
import type { StoreResponse } from '../money/idempotency/idempotency.ts'
import type { Agent } from '../people/agents/agents.ts'
import * as apps from './apps.ts'
import {
  addFiles,
  bytesOf,
  checkFiles,
  fingerprintOf,
  folderNote,
  readCode,
  storeFiles,
} from './assets/folder-assets.ts'
import type { CheckedFile } from './assets/upload.ts'
import type { ContentInspection } from './content-scan.ts'
import { showVersionCover } from './covers/version-covers.ts'
import { type AppKind, appKinds, type Audience, itemUrl, type Kind } from './kinds.ts'
import { reserveName } from './names.ts'
import { insertApp } from './new-app.ts'
import { notifyListed } from './notifications.ts'
import {
  inspectPage,
  listingIssues,
  readPage,
  scanContent,
  type StoredPage,
  storePage,
  textPolicyIssues,
  withRunFindings,
} from './page-content.ts'
import { libraryNote } from './page-libraries.ts'
import { presentApp, presentScan } from './present.ts'
import { withPublishQuota } from './publish-quota.ts'
import type { PageUpload } from './publish-request.ts'
import type { AppBody, ChangeAppRequest, PublishAppRequest } from './schemas.ts'

/** Texts of an app until its maker sets others. */
export const defaultText = { title: 'Untitled', description: '', shelf: 'other' } as const

/**
 * Publishes a page as a new app, version 1, live immediately and free (document 1, operation 9).
 * Returns 201, or 200 with scan and price for a dry run. Throws `bad_request`, `games_off`,
 * `prices_off`, `too_large`, `blocked_by_scan`, and what `insertApp` throws.
 */
export async function publishApp(
  ctx: AppContext,
  maker: Agent,
  { folder, ...request }: Omit<PublishAppRequest, 'html' | 'files'> & PageUpload,
): Promise<Success> {
  const named = toAppFields(ctx, request)
  const checked = await checkFiles(ctx, folder?.files)
  const code = { files: folder?.files, page: folder?.page, declared: request.uses }
  if (request.dryRun) {
    const inspection = await inspectPage(ctx, request.html, code)
    return completed({ scan: presentScan(inspection), price: 0 })
  }
  const fingerprint = { ...request, ...fingerprintOf(folder) }
  return ctx.idempotency.run(maker.id, request.ref, fingerprint, async (storeResponse) => {
    const inspection = await inspectPage(ctx, request.html, code)
    const title = request.title ?? inspection.title ?? named.title
    const fields = { ...named, title }
    const isForExplore = request.store === true
    const present = (app: apps.App) => ({ app: presentApp(ctx, app) })
    const files = { checked, note: folderNote(folder), page: folder?.page ?? null }
    const item = { fields, isForExplore, inspection, files, present, storeResponse }
    return publishItem(ctx, maker, item)
  })
}

interface NewItem {
  fields: apps.NewApp
  /** The maker wants it on Explore. */
  isForExplore: boolean
  inspection: ContentInspection
  /** The folder of a pack. */
  folder?: StoredPage['folder']
  /** Files of an app with the name of its page, and what to say about them. */
  files?: { checked: CheckedFile[]; note: string; page: string | null }
  present(item: apps.App): Record<string, unknown>
  storeResponse: StoreResponse
}

/** Publishes scanned content as version 1 of a new item. Throws what `insertApp` throws. */
export async function publishItem(
  ctx: AppContext,
  maker: Agent,
  {
    fields: named,
    isForExplore,
    inspection,
    folder = null,
    files,
    present,
    storeResponse,
  }: NewItem,
): Promise<Success> {
  const reasons = isForExplore ? listingIssues(inspection, named) : []
  const fields = { ...named, listed: isForExplore && reasons.length === 0 ? 'on' : 'off' } as const
  const checked = files?.checked ?? []
  const bytes = inspection.identity.byteLength + bytesOf(checked)
  return withPublishQuota(ctx, maker, bytes, async () => {
    const page = await storePage(ctx, inspection, { folder, page: files?.page ?? null })
    const stored = await storeFiles(ctx, checked)
    return ctx.db.tx(async (db) => {
      await reserveName(ctx, db, maker.id, fields.name)
      const item = await insertApp(ctx, db, maker, fields, page)
      await addFiles(ctx, db, item, stored)
      if (item.listed === 'on') await notifyListed(ctx, db, item)
      const note = publishedNote(ctx, item, reasons) + (files?.note ?? '') + libraryNote(inspection)
      return storeResponse(db, created({ ...present(item), scan: presentScan(inspection), note }))
    })
  })
}

/** Returns the fields of a new app. Throws `bad_request`, `games_off` and `prices_off`. */
export function toAppFields(
  ctx: AppContext,
  request: Omit<PublishAppRequest, 'html' | 'prompt'>,
): apps.NewApp & { kind: AppKind } {
  if (request.kind === 'game' && !ctx.config.gamesOn) throw new ApiError('games_off')
  if (request.store) checkListable(request.audience ?? 'public', false)
  checkTexts(request)
  return {
    kind: request.kind ?? 'app',
    title: request.title ?? defaultText.title,
    description: request.description ?? defaultText.description,
    ...(request.audience && { audience: request.audience }),
    ...toListing(ctx, request),
  }
}

/** Returns the shelf and the remix terms of a new item. Throws `bad_request` and `prices_off`. */
export const toListing = (
  ctx: AppContext,
  request: Pick<PublishAppRequest, 'shelf' | 'remix' | 'priceRemix'>,
): Pick<apps.NewApp, 'shelf' | 'listed' | 'remix' | 'priceRemix'> => ({
  shelf: request.shelf ?? defaultText.shelf,
  listed: 'off',
  ...termsOf(ctx, request, { remix: 'free', priceRemix: null }),
})

/** Describes where a new item is live, and whether Explore lists it. */
function publishedNote(ctx: AppContext, app: apps.App, reasons: string[]): string {
  const live = `Live at ${itemUrl(ctx, app)}.`
  if (app.listed === 'on') return `${live} It is on Explore.`
  if (reasons.length === 0) return `${live} It is not on Explore. To list it, PATCH store true.`
  return `${live} It cannot go on Explore yet: ${reasons.join(' ')}`
}

/** Changes an app or game (document 1, operation 11). Throws what `changeItem` throws. */
export async function changeApp(
  ...args: Parameters<typeof changeItem>
): Promise<{ app: AppBody; note: string }> {
  const [ctx] = args
  const { item, note } = await changeItem(...args)
  return { app: presentApp(ctx, item), note }
}

/**
 * Changes the texts, shelf, remix terms and Explore listing of an item. `note` describes the effect
 * on Explore. Throws `bad_request`, `taken_down`, `prices_off`, `busy` (`store: false` during the
 * first build), and `not_listable` after the other changes are stored.
 */
export async function changeItem(
  ctx: AppContext,
  maker: Agent,
  id: string,
  request: ChangeAppRequest,
  of: readonly Kind[] = appKinds,
): Promise<{ item: apps.App; note: string }> {
  const app = await apps.getOwnApp(ctx, maker, id, of)
  const { store, ...others } = request
  if (Object.keys(request).length === 0)
    rejectRequest('The request changes nothing. Send at least one field.')
  // The running build may list the app when it completes.
  if (store === false) apps.checkBuilt(app)
  checkTexts(request)
  if (others.aiMargin && !ctx.config.pricesOn)
    rejectRequest('Prices are not available on this server. Send "aiMargin": 0.', 'aiMargin')
  const found = store ? await findListingIssues(ctx, app) : []
  const { before, after, reasons } = await ctx.db.tx(async (db) => {
    const before = await apps.lockApp(ctx, db, app)
    if (store) checkListable(before.audience, before.expires !== null)
    const { title, description } = before
    const staysListed = before.listed !== 'off' && store !== false
    const textIssues = staysListed ? textPolicyIssues(others) : []
    const reasons = store
      ? [...found, ...textPolicyIssues({ title, description, ...others })]
      : textIssues
    const isAllowed = reasons.length === 0
    // The scanned page is no longer the newest version.
    if (store && isAllowed && before.version !== app.version) {
      throw new ApiError('try_again', { why: 'a new version was published meanwhile' })
    }
    const changed = await apps.updateApp(ctx, db, before, {
      ...others,
      // A listed app keeps its texts when the new ones are not allowed.
      ...(textIssues.length > 0 && { title, description }),
      ...termsOf(ctx, request, before),
      ...(store !== undefined && isAllowed && { listed: store ? 'on' : 'off' }),
    })
    const after = store === undefined ? changed : await showVersionCover(ctx, db, changed)
    if ((after.listed === 'on') !== (before.listed === 'on')) await notifyListed(ctx, db, after)
    return { before, after, reasons }
  })
  if (reasons.length > 0) throw new ApiError('not_listable', { reasons })
  return { item: after, note: changedNote(before, after) }
}

/** Scans the newest version again and returns the reasons that keep it off Explore. */
async function findListingIssues(ctx: AppContext, app: apps.App): Promise<string[]> {
  if (app.version === 0) return ['It has no version yet. Wait until its first build is done.']
  const version = await apps.getVersion(ctx, app.id, app.version)
  const { identity } = await readPage(ctx, version)
  const code = await readCode(ctx, version)
  const inspection = await scanContent(ctx, app.kind, identity, code)
  return listingIssues(withRunFindings(inspection, version))
}

/** Throws `bad_request` for an item that Explore cannot list. */
function checkListable(audience: Audience, ends: boolean): void {
  if (audience === 'public' && !ends) return
  rejectRequest(
    'Explore lists public items without an end only. ' +
      'PATCH /apps/{id}/audience {"audience": "public", "expiresAt": null} first.',
    'store',
  )
}

function checkTexts(request: ChangeAppRequest): void {
  const { title, description } = request
  if (title !== undefined && (!isPlainLine(title, titleCharsMax) || !hasVisibleText(title)))
    rejectRequest(`"title" must be one plain line of 1 to ${titleCharsMax} characters.`)
  if (description !== undefined && !isPlainText(description, descriptionCharsMax))
    rejectRequest(`"description" must be plain text of at most ${descriptionCharsMax} characters.`)
}

/** Returns the remix terms after a request. A price requires `remix: "price"`, and the reverse. */
function termsOf(
  ctx: AppContext,
  request: ChangeAppRequest,
  before: Pick<apps.App, 'remix' | 'priceRemix'>,
): Pick<apps.App, 'remix' | 'priceRemix'> {
  const { remix = before.remix, priceRemix: requested = before.priceRemix } = request
  // Unchanged terms stay valid, even where new prices are off.
  if (remix === before.remix && requested === before.priceRemix) {
    return { remix, priceRemix: before.priceRemix }
  }
  if (remix !== 'price') {
    if (request.priceRemix === undefined) return { remix, priceRemix: null }
    rejectRequest('"priceRemix" requires "remix": "price".')
  }
  if (!ctx.config.pricesOn) throw new ApiError('prices_off')
  const priceRemix = request.priceRemix ?? before.priceRemix
  if (priceRemix !== null) return { remix, priceRemix }
  rejectRequest('"remix": "price" requires "priceRemix".')
}

/** Describes the effect of a change on Explore and on remixes. */
function changedNote(before: apps.App, after: apps.App): string {
  const isSame = after.remix === before.remix && after.priceRemix === before.priceRemix
  return isSame ? listingNote(before, after) : `${listingNote(before, after)} ${termsNote(after)}`
}

function listingNote(before: apps.App, after: apps.App): string {
  if (after.listed === 'pending') {
    return 'It goes on Explore when the operator releases it from quarantine.'
  }
  if (after.listed !== 'on') {
    return before.listed === 'on'
      ? 'It is now off Explore. Its link works.'
      : 'It is not on Explore.'
  }
  if (before.listed !== 'on') return 'It is now on Explore.'
  return after.listedVersion === before.listedVersion
    ? 'It stays on Explore.'
    : `It stays on Explore, now with version ${after.listedVersion}.`
}

function termsNote({ remix, priceRemix }: apps.App): string {
  if (remix === 'off') return 'Remixes are now off.'
  return remix === 'free'
    ? 'A remix is now free.'
    : `A remix costs ${formatCredits(fromCredits(priceRemix ?? 0))} credits now.`
}
