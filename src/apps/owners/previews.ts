import type { AppContext } from '../../kernel/context.ts'
import { senderOf } from '../../kernel/http/request-context.ts'
import * as agents from '../../people/agents/agents.ts'
import { findSessionUser } from '../../people/session-user.ts'
import * as apps from '../apps.ts'
import { nameChars } from '../covers/present-cover.ts'
import { withPublicCover } from '../covers/version-covers.ts'
import { isPackKind } from '../kinds.ts'

/**
 * Returns an app and its version that the signed-in person may preview: the owner while the app is
 * available, and the operator in any state. Returns undefined otherwise.
 */
export async function findPreview(
  ctx: AppContext,
  request: Request,
  id: string,
  version: number,
): Promise<{ app: apps.App; maker: agents.Agent; row: apps.Version } | undefined> {
  const person = (await findSessionUser(ctx, senderOf(request)))?.person
  const app = person && (await apps.findApp(ctx, id))
  const maker = app && (await agents.findAgent(ctx, app.maker))
  if (!maker || isPackKind(app.kind)) return undefined
  const isAvailable = app.closed === null && app.takenDown === null && maker.closed === null
  if (!person.operator && !(maker.owner === person.id && isAvailable)) return undefined
  const [row] = await apps.listVersions(ctx, app, 1, version + 1)
  return row?.version === version ? { app, maker, row } : undefined
}

const coverFile = new RegExp(`^([1-9]\\d{0,5})-([0-9a-f]{${nameChars}})\\.webp$`)

/** Finds a version whose cover is public. */
async function findPublicVersion(
  ctx: AppContext,
  id: string,
  version: number,
): Promise<apps.Version | undefined> {
  const app = await apps.findApp(ctx, id)
  if (!app) return undefined
  const rows = await apps.listVersions(ctx, app, 1, version + 1)
  const [row] = await withPublicCover(ctx, app, rows)
  return row?.version === version ? row : undefined
}

/**
 * Reads a cover that was captured from a version, "<version>-<hash>.webp". Those of versions that
 * Explore shows or showed are public, all others for a person who may preview the version. Returns
 * undefined otherwise.
 */
export async function readVersionCover(
  ctx: AppContext,
  request: Request,
  app: string,
  file: string,
): Promise<{ bytes: Uint8Array; etag: string } | undefined> {
  const [, version, hash = ''] = coverFile.exec(file) ?? []
  if (version === undefined) return undefined
  const row =
    (await findPublicVersion(ctx, app, Number(version))) ??
    (await findPreview(ctx, request, app, Number(version)))?.row
  const sha256 = [row?.cover, row?.coverSmall].find((name) => name?.startsWith(hash))
  const bytes = sha256 && (await ctx.storage.read(sha256))
  return bytes ? { bytes, etag: sha256.slice(0, 32) } : undefined
}
