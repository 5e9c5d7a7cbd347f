import type { AppContext } from '../kernel/context.ts'
import { iso } from '../kernel/time.ts'
import type { App } from './apps.ts'
import type { ContentFinding, ContentInspection } from './content-scan.ts'
import { presentCover } from './covers/present-cover.ts'
import type { Folder } from './folders/folder.ts'
import { itemUrl, requireAppKind } from './kinds.ts'
import type { AppBody, OriginBody, PackBody, ScanResult } from './schemas.ts'

export function stateOf(app: App): AppBody['state'] {
  if (app.closed !== null) return 'closed'
  if (app.takenDown !== null) return 'taken_down'
  return app.version === 0 ? 'building' : 'live'
}

/** Returns the icon URL of an app. It changes with the image. */
export const iconUrl = (ctx: AppContext, { id, icon }: Pick<App, 'id' | 'icon'>): string | null =>
  icon && `${ctx.urls.app}/icons/${id}-${icon.slice(0, 12)}.png`

/** Returns the App record (document 1, section 2; docs/spec/agent-api-decisions.md, "Apps"). */
export function presentApp(ctx: AppContext, app: App): AppBody {
  return { ...presentItem(ctx, app), kind: requireAppKind(app) }
}

/** Returns the fields that all kinds of items share. */
export function presentItem(ctx: AppContext, app: App): Omit<AppBody, 'kind'> & Pick<App, 'kind'> {
  const {
    id,
    kind,
    title,
    description,
    version,
    remix,
    priceRemix,
    comments,
    live,
    embeds,
    aiMargin,
  } = app
  return {
    id,
    link: itemUrl(ctx, app),
    kind,
    title,
    description,
    shelf: app.shelf,
    icon: iconUrl(ctx, app),
    cover: presentCover(ctx, app),
    version,
    store: app.listed !== 'off',
    listed: app.takenDown === null ? app.listed : 'taken_down',
    remix,
    priceRemix,
    comments,
    audience: app.audience,
    expiresAt: app.expires === null ? null : iso(app.expires),
    live,
    embeds,
    aiMargin,
    remixOf: presentOrigin(app),
    remixes: app.remixes,
    opens: app.opens,
    rating: presentRating(app),
    bytes: app.bytes,
    state: stateOf(app),
    ...(app.quarantinedAt !== null && {
      held: { reason: app.quarantineReason ?? '', at: iso(app.quarantinedAt) },
    }),
    created: iso(app.created),
    updated: iso(app.updated),
  }
}

export type Origin = Pick<App, 'remixOf' | 'remixOfTitle' | 'remixOfMaker'>

/** Returns the origin of a remix. The credit stays when the original is deleted. */
export const presentOrigin = ({
  remixOf: id,
  remixOfTitle,
  remixOfMaker,
}: Origin): OriginBody | null =>
  id === null ? null : { id, title: remixOfTitle ?? '', maker: `@${remixOfMaker}` }

type Rated = Pick<App, 'stars' | 'reviews'>

export const presentRating = ({ stars, reviews }: Rated): AppBody['rating'] => ({
  stars: reviews ? stars / reviews : null,
  count: reviews,
})

export const presentScan = ({ scan, uses }: ContentInspection): ScanResult => ({
  verdict: scan.verdict,
  ...(uses && { uses: uses.service }),
  warnings: scan.findings.map(presentFinding),
})

export const presentFinding = ({ effect, ...finding }: ContentFinding) => ({
  ...finding,
  severity: effect,
})

/** Returns a pack under the name of its kind: `{ skill }` or `{ framework }`. */
export function presentPackAs(ctx: AppContext, item: App, folder: Folder): PackBody {
  const { license, compatibility, metadata, allowedTools, steps = [], share } = folder
  const shared = {
    ...presentItem(ctx, item),
    name: item.name ?? '',
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(metadata !== undefined && { metadata }),
    ...(allowedTools !== undefined && { allowedTools }),
  }
  return item.kind === 'framework'
    ? { framework: { ...shared, kind: 'framework', steps, ...(share && { share }) } }
    : { skill: { ...shared, kind: 'skill' } }
}
