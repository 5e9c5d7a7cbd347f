import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { isForbidden } from '../../kernel/forbidden-text.ts'
import { completed, created, type Success } from '../../kernel/http/outcome.ts'
import { versionNoteCharsMax, versionsPerAppMax } from '../../kernel/limits.ts'
import { isPlainLine } from '../../kernel/text.ts'
import { iso } from '../../kernel/time.ts'
import type { Agent } from '../../people/agents/agents.ts'
import * as apps from '../apps.ts'
import * as assets from '../assets/assets.ts'
import {
  addFiles,
  checkFiles,
  fingerprintOf,
  folderNote,
  readCode,
  storeFiles,
} from '../assets/folder-assets.ts'
import type { ContentInspection } from '../content-scan.ts'
import { showRestoredCover } from '../covers/version-covers.ts'
import { appKinds, itemUrl, type Kind } from '../kinds.ts'
import * as pages from '../page-content.ts'
import { libraryNote, storeLibraries } from '../page-libraries.ts'
import { presentApp, presentScan } from '../present.ts'
import { withPublishQuota } from '../publish-quota.ts'
import type { PageUpload } from '../publish-request.ts'
import { patchVersion } from './patch.ts'
import type { PublishVersionRequest, VersionBody } from './schemas.ts'

export const presentVersion = (row: apps.Version): VersionBody => ({
  version: row.version,
  created: iso(row.created),
  bytes: row.htmlBytes,
  sha256: row.sha256,
  via: row.via,
  note: row.note,
})

/** Returns a version for Explore. The prompt of a build stays private. */
export const presentPublicVersion = (row: apps.Version): VersionBody =>
  presentVersion(row.via === 'build' ? { ...row, note: '' } : row)

/** Returns a valid version note. Throws `bad_request`. */
export function checkNote(note = ''): string {
  if (isPlainLine(note, versionNoteCharsMax) && !isForbidden(note)) return note
  rejectRequest(
    `"note" must be one plain line of at most ${versionNoteCharsMax} characters, without slurs ` +
      'and instructions to agents.',
    'note',
  )
}

/**
 * Returns 201, or 200 for a dry run. When the new page is not allowed on Explore, a listed app
 * keeps the old version and `note` gives the reasons. Throws what publishing an app throws,
 * `not_found` and `taken_down`.
 */
export async function publishVersion(
  ctx: AppContext,
  maker: Agent,
  id: string,
  { folder: sent, ...request }: Omit<PublishVersionRequest, 'html' | 'files'> & PageUpload,
): Promise<Success> {
  const prepare = async () => {
    const app = await apps.getOwnApp(ctx, maker, id)
    const note = checkNote(request.note)
    const { html, folder } = request.patch
      ? await patchVersion(ctx, app, request.patch)
      : { html: request.html, folder: sent }
    const checked = await checkFiles(ctx, folder?.files)
    // A page without a folder stays in that of the version before it, whose files it keeps.
    const [before] = await apps.listVersions(ctx, app, 1)
    const kept = before && !folder ? await readCode(ctx, before) : undefined
    const code = {
      files: folder?.files ?? kept?.files,
      page: folder?.page ?? before?.page ?? null,
      declared: request.uses ?? before?.uses?.declared,
    }
    const inspection = await pages.inspectPage(ctx, html, code)
    return {
      app,
      folder,
      note,
      name: code.page,
      checked,
      inspection,
      scan: presentScan(inspection),
    }
  }
  if (request.dryRun) return completed({ scan: (await prepare()).scan, price: 0 })
  const fingerprint = { id, ...request, ...fingerprintOf(sent) }
  return ctx.idempotency.run(maker.id, request.ref, fingerprint, async (storeResponse) => {
    const { app, folder, note, name, checked, inspection, scan } = await prepare()
    const bytes = inspection.identity.byteLength + (await assets.measureFiles(ctx, app, checked))
    return withPublishQuota(ctx, maker, bytes, async () => {
      const page = await pages.storePage(ctx, inspection, { page: name })
      const stored = await storeFiles(ctx, checked)
      return ctx.db.tx(async (db) => {
        const how = { via: 'html', note } as const
        const added = await addVersion(ctx, db, app, { page, inspection, how })
        if (request.patch) checkBase(added.app, app.version)
        await addFiles(ctx, db, added.app, stored)
        const version = created({
          app: presentApp(ctx, added.app),
          scan,
          note: visibilityNote(ctx, added) + folderNote(folder) + libraryNote(inspection),
        })
        return storeResponse(db, version)
      })
    })
  })
}

/** Throws `patch_conflict` where another version came between a patch and its base. */
function checkBase({ version }: apps.App, base: number): void {
  if (version !== base + 1) throw new ApiError('patch_conflict', { version: version - 1, base })
}

interface NextVersion {
  page: pages.StoredPage
  inspection: ContentInspection
  how: Pick<apps.Version, 'via' | 'note'>
  /** Version whose assets are copied; the last one by default. */
  filesOf?: number
}

/** An app with its new version, and the reasons that keep that version off Explore. */
interface VersionResult {
  app: apps.App
  reasons: string[]
}

/** Explore keeps the old version when the new one is not allowed there. */
export async function addVersion(
  ctx: AppContext,
  db: Db,
  app: apps.App,
  { page, inspection, how, filesOf }: NextVersion,
): Promise<VersionResult> {
  const added = await apps.addVersion(ctx, db, app, page, how)
  const { id, version, listed } = added
  if (version > versionsPerAppMax)
    rejectRequest(`An app has at most ${versionsPerAppMax} versions. Publish a new app.`)
  await assets.copyAssets(db, { app: id, version: filesOf ?? version - 1 }, { app: id, version })
  if (listed === 'off') return { app: added, reasons: [] }
  const reasons = pages.listingIssues(inspection)
  if (reasons.length > 0) return { app: added, reasons }
  return { app: await apps.updateApp(ctx, db, added, { listed: 'on' }), reasons }
}

/** Describes which version visitors see, and why. */
export function visibilityNote(ctx: AppContext, { app, reasons }: VersionResult): string {
  const link = itemUrl(ctx, app)
  if (reasons.length === 0) return `Version ${app.version} is live at ${link}.`
  const visible = apps.visibleVersion(app)
  return (
    `Version ${app.version} is stored but not visible: Explore and ${link} show version ${visible}, ` +
    `because the new page is not allowed on Explore: ${reasons.join(' ')} Fix it, or PATCH store false.`
  )
}

/** Publishes an older version again after a new scan. Throws what `publishVersion` throws. */
export async function restoreVersion(
  ctx: AppContext,
  maker: Agent,
  id: string,
  number: number,
  of: readonly Kind[] = appKinds,
): Promise<{ app: apps.App; note: string }> {
  const app = await apps.getOwnApp(ctx, maker, id, of)
  const old = await apps.getVersion(ctx, id, number)
  const { identity } = await pages.readPage(ctx, old)
  const code = await readCode(ctx, old)
  const scanned = await pages.inspectContent(ctx, app.kind, identity, code)
  const inspection = pages.withRunFindings(scanned, old)
  const { sha256, pack, htmlBytes, gzipBytes, brBytes, asks, folder, page: name } = old
  const libraries = old.libraries ?? (await storeLibraries(ctx, inspection.libraries))
  const stored = {
    sha256,
    pack,
    htmlBytes,
    gzipBytes,
    brBytes,
    asks,
    folder,
    page: name,
    libraries,
    uses: inspection.uses ?? null,
  }
  const { cover, coverSmall, coverColor } = old
  const images = { cover, coverSmall, coverColor }
  const page = { ...stored, ...images, ...pages.toScanRecord(ctx, inspection) }
  const how = { via: 'restore', note: `Version ${number} again.` } as const
  const next = { page, inspection, how, filesOf: number }
  const added = await ctx.db.tx(async (db) => {
    const result = await addVersion(ctx, db, app, next)
    if (cover === null) return result
    return { ...result, app: await showRestoredCover(ctx, db, result.app) }
  })
  const again = `Version ${added.app.version} is version ${number} again.`
  return { app: added.app, note: `${again} ${visibilityNote(ctx, added)}` }
}

/** Returns the HTML of a version; the newest by default. Throws `not_found` and `taken_down`. */
export async function getHtml(
  ctx: AppContext,
  maker: Agent,
  id: string,
  number: number | undefined,
): Promise<Uint8Array> {
  const app = await apps.getOwnApp(ctx, maker, id)
  const version = await apps.getVersion(ctx, id, number ?? app.version)
  return (await pages.readPage(ctx, version)).identity
}
