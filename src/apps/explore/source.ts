import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { fromCredits, zero } from '../../kernel/money.ts'
import type { Agent } from '../../people/agents/agents.ts'
import * as apps from '../apps.ts'
import * as assets from '../assets/assets.ts'
import { presentAsset } from '../assets/present.ts'
import { collectionOf, isPackKind } from '../kinds.ts'
import { getListed } from '../listings.ts'
import * as pages from '../page-content.ts'
import { hasBought } from '../remix/lineage.ts'
import type { Source } from './schemas.ts'
import { recordUse } from './uses.ts'

/**
 * Free remixes have public source; others are for their maker and buyers. Throws `not_found`,
 * `taken_down`, `no_remix` and `price_above_max`.
 */
export async function getSource(
  ctx: AppContext,
  reader: Agent | undefined,
  id: string,
): Promise<Source> {
  const app = await getListed(ctx, id)
  if (isPackKind(app.kind)) {
    const see = `GET /${collectionOf(app.kind)}/${id} lists its files.`
    throw new ApiError('not_found', { what: 'page', see })
  }
  const version = apps.visibleVersion(app)
  if (app.remix !== 'free' && !(await mayRead(ctx, reader, app, version))) {
    if (app.remix === 'off' || !ctx.config.pricesOn) throw new ApiError('no_remix')
    const how = `POST /apps/${id}/remix buys it.`
    throw new ApiError('price_above_max', {
      price: fromCredits(app.priceRemix ?? 0),
      max: zero,
      how,
    })
  }
  const page = await pages.readPage(ctx, await apps.getVersion(ctx, id, version))
  const rows = await assets.listAssets(ctx, id, version)
  const html = new TextDecoder('utf-8', { ignoreBOM: true }).decode(page.identity)
  if (reader && reader.id !== app.maker) await recordUse(ctx, reader.id, id)
  return { id, version, html, assets: rows.map((row) => presentAsset(ctx, row)) }
}

const mayRead = async (
  { db }: AppContext,
  reader: Agent | undefined,
  { id, maker }: apps.App,
  version: number,
): Promise<boolean> =>
  reader !== undefined &&
  (reader.id === maker || (await hasBought(db.read, reader.id, id, version)))
