import type { AppContext } from '../../kernel/context.ts'
import { assetBytesMax, previewLinkMs } from '../../kernel/limits.ts'
import { iso } from '../../kernel/time.ts'
import { signPath } from '../../store/signed-url.ts'
import type { App } from '../apps.ts'
import type { Asset, FileLimits } from './assets.ts'
import type { AssetBody, AssetList } from './schemas.ts'

/** Returns the path of a preview URL inside the API, as it is signed. */
export const previewPath = (app: string, version: number | string, name: string): string =>
  `/looks/${app}/${version}/${encodeURIComponent(name)}`

/** Returns an asset in wire format, with a preview URL that expires within the hour. */
export function presentAsset(ctx: AppContext, row: Asset): AssetBody {
  const { name, kind, type, bytes, sha256, width, height, lastsMs, what, seed, maker } = row
  const path = previewPath(row.app, row.version, name)
  return {
    name,
    kind,
    type,
    bytes,
    sha256,
    ...(width !== null && { width }),
    ...(height !== null && { height }),
    ...(lastsMs !== null && { seconds: lastsMs / 1_000 }),
    ...(what !== null && { what }),
    ...(seed !== null && { seed }),
    maker,
    url: ctx.urls.base + signPath(ctx.secret, path, ctx.clock.now() + previewLinkMs),
    created: iso(row.created),
  }
}

/** Returns the asset list of an app (document 1, operation 15). */
export function presentAssetList(
  ctx: AppContext,
  app: App,
  { rows, waiting, limits }: Pick<AssetList, 'waiting'> & { rows: Asset[]; limits: FileLimits },
): AssetList {
  return {
    version: app.version,
    assets: rows.map((row) => presentAsset(ctx, row)),
    waiting: waiting.map(({ name, kind, what }) => ({ name, kind, what })),
    limits: {
      fileBytes: assetBytesMax,
      files: limits.files,
      appBytes: limits.bytes,
    },
    used: { files: rows.length, bytes: rows.reduce((sum, row) => sum + row.bytes, 0) },
    note:
      'In the page: await service.assets.ready, then service.assets.url(name). ' +
      'The URLs here are previews and expire within the hour.',
  }
}
