import type { AppContext } from '../../context.ts'
import { iso } from '../../core/time.ts'
import type { App } from './apps.ts'
import type { AppShape, OriginShape } from './schemas.ts'

/** Where an app stands, in one word. */
export function stateOf(app: App): AppShape['state'] {
  if (app.closed !== null) return 'closed'
  if (app.takenDown !== null) return 'taken_down'
  return app.version === 0 ? 'building' : 'live'
}

/** The public link of an app (document 1, section 2). */
export const linkOf = (ctx: AppContext, id: string): string => `${ctx.urls.app}/a/${id}`

/** Where an app's picture is; another picture has another address. */
export const iconOf = (ctx: AppContext, { id, icon }: Pick<App, 'id' | 'icon'>): string | null =>
  icon && `${ctx.urls.app}/icons/${id}-${icon.slice(0, 12)}.png`

/** The App record of document 1, section 2, as agent-api completes it. */
export function present(ctx: AppContext, app: App): AppShape {
  const { id, kind, title, description, version, remix, priceRemix, comments } = app
  return {
    id,
    link: linkOf(ctx, id),
    kind,
    title,
    description,
    shelf: app.shelf,
    icon: iconOf(ctx, app),
    version,
    store: app.listed !== 'off',
    listed: app.takenDown === null ? app.listed : 'taken_down',
    remix,
    priceRemix,
    comments,
    remixOf: originOf(app),
    remixes: app.remixes,
    opens: app.opens,
    rating: ratingOf(app),
    bytes: app.bytes,
    state: stateOf(app),
    ...(app.heldAt !== null && { held: { reason: app.heldFor ?? '', at: iso(app.heldAt) } }),
    created: iso(app.created),
    updated: iso(app.updated),
  }
}

export type Origin = Pick<App, 'remixOf' | 'remixOfTitle' | 'remixOfMaker'>

/** What a remix was copied from, by name: credit stays when the original is gone. */
export const originOf = ({
  remixOf: id,
  remixOfTitle,
  remixOfMaker,
}: Origin): OriginShape | null =>
  id === null ? null : { id, title: remixOfTitle ?? '', maker: `@${remixOfMaker}` }

type Rated = Pick<App, 'stars' | 'reviews'>

/** The mean of an app's ratings; null without one. */
export const ratingOf = ({ stars, reviews }: Rated): AppShape['rating'] => ({
  stars: reviews ? stars / reviews : null,
  count: reviews,
})
