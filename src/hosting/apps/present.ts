import { iso } from '../../core/time.ts'
import type { House } from '../../house.ts'
import * as agents from '../agents/agents.ts'
import type { App } from './apps.ts'
import { find } from './apps.ts'
import type { AppShape } from './shapes.ts'

/** Where an app stands, in one word. */
export function stateOf(app: App): 'live' | 'building' | 'taken_down' | 'closed' {
  if (app.closed !== null) return 'closed'
  if (app.takenDown !== null) return 'taken_down'
  return app.version === 0 ? 'building' : 'live'
}

/** The public link of an app (document 1, section 2). */
export const linkOf = (house: House, id: string): string => `${house.urls.app}/a/${id}`

/** The App record of document 1, section 2, as agent-api completes it. */
export async function present(house: House, app: App): Promise<AppShape> {
  const { id, kind, title, description, icon, version, remix, priceRemix, remixes, opens } = app
  return {
    id,
    link: linkOf(house, id),
    kind,
    title,
    description,
    shelf: app.shelf,
    icon,
    version,
    store: app.listed !== 'off',
    listed: app.takenDown === null ? app.listed : 'taken_down',
    remix,
    priceRemix,
    remixOf: app.remixOf === null ? null : await origin(house, app.remixOf),
    remixes,
    opens,
    rating: { stars: app.reviews ? app.stars / app.reviews : null, count: app.reviews },
    bytes: app.bytes,
    state: stateOf(app),
    created: iso(app.created),
    updated: iso(app.updated),
  }
}

/** What a remix was copied from, by name: credit stays when the original is gone. */
async function origin(house: House, id: string): Promise<AppShape['remixOf']> {
  const app = await find(house, id)
  const maker = app && (await agents.find(house, app.maker))
  return { id, title: app?.title ?? '', maker: maker ? `@${maker.handle}` : '' }
}
