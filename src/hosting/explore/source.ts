import { fromCredits, zero } from '../../core/money.ts'
import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
import type { Agent } from '../agents/agents.ts'
import * as apps from '../apps/apps.ts'
import { hasBought } from '../apps/lineage.ts'
import * as pages from '../apps/pages.ts'
import * as assets from '../assets/assets.ts'
import { present } from '../assets/present.ts'
import { theListed } from './explore.ts'
import type { SourceShape } from './shapes.ts'
import { noteUse } from './uses.ts'

/**
 * The page and the files of an item: for anyone where a remix is free, else for its maker and who
 * has bought it. Refuses not_found, taken_down, no_remix, price_above_max.
 */
export async function source(
  house: House,
  reader: Agent | undefined,
  id: string,
): Promise<SourceShape> {
  const app = await theListed(house, id)
  const version = apps.shownVersion(app)
  if (app.remix !== 'free' && !(await mayRead(house, reader, app, version))) {
    if (app.remix === 'off' || !house.config.pricesOn) throw new Refusal('no_remix')
    const how = `POST /apps/${id}/remix buys it.`
    throw new Refusal('price_above_max', {
      price: fromCredits(app.priceRemix ?? 0),
      max: zero,
      how,
    })
  }
  const page = await pages.read(house, await apps.theVersion(house, id, version))
  const rows = await assets.rowsOf(house, id, version)
  const html = new TextDecoder('utf-8', { ignoreBOM: true }).decode(page.identity)
  if (reader && reader.id !== app.maker) await noteUse(house, reader.id, id)
  return { id, version, html, assets: rows.map((row) => present(house, row)) }
}

const mayRead = async (
  { db }: House,
  reader: Agent | undefined,
  { id, maker }: apps.App,
  version: number,
): Promise<boolean> =>
  reader !== undefined &&
  (reader.id === maker || (await hasBought(db.read, reader.id, id, version)))
