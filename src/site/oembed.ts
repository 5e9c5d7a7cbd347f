import * as apps from '../apps/apps.ts'
import { isOpenToAll } from '../apps/audience/access.ts'
import { presentCover } from '../apps/covers/present-cover.ts'
import { largeSize } from '../apps/covers/schemas.ts'
import { appUrl, isPackKind } from '../apps/kinds.ts'
import { iconUrl } from '../apps/present.ts'
import { embedCode, embeddersOf, embedSize } from '../apps/viewer/policy.ts'
import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { idPattern } from '../kernel/ids.ts'
import * as agents from '../people/agents/agents.ts'

const cacheSeconds = 3_600
const iconSize = 512

/**
 * Returns the oEmbed description of an app's link (https://oembed.com). Its type is "rich" with a
 * frame (section 2.3.4.4) where operator and maker allow embedding, and otherwise "link". Formats
 * other than JSON are 501. Throws `not_found`, `taken_down`.
 */
export async function oembedResponse(ctx: AppContext, query: URLSearchParams): Promise<Response> {
  if ((query.get('format') ?? 'json') !== 'json') {
    return Response.json({ error: 'Only format=json is supported.' }, { status: 501 })
  }
  const app = apps.requireAvailable(await findLinkedApp(ctx, query.get('url') ?? ''))
  const maker = (await agents.findAgent(ctx, app.maker))?.handle ?? ''
  const canEmbed = app.embeds && embeddersOf(ctx.config).length > 0
  const limits = { width: limitOf(query, 'maxwidth'), height: limitOf(query, 'maxheight') }
  return Response.json({
    version: '1.0',
    ...(canEmbed ? richPart(ctx, app, limits) : { type: 'link' }),
    title: app.title,
    author_name: `@${maker}`,
    author_url: agents.makerPageUrl(ctx, maker),
    provider_name: 'Berth',
    provider_url: ctx.urls.app,
    cache_age: cacheSeconds,
    ...thumbnail(ctx, app, limits),
  })
}

interface Size {
  width: number
  height: number
}

const limitOf = (query: URLSearchParams, name: string): number =>
  Number(query.get(name)) || Infinity

function richPart(ctx: AppContext, { id, title }: apps.App, limits: Size) {
  const width = Math.min(embedSize.width, limits.width)
  const height = Math.min(embedSize.height, limits.height)
  return {
    type: 'rich',
    html: embedCode({ link: appUrl(ctx, id), title, width, height }),
    width,
    height,
  }
}

/** The cover, or the icon of an app without one, if it fits. */
function thumbnail(ctx: AppContext, app: apps.App, limits: Size) {
  const cover = presentCover(ctx, app)
  const icon = iconUrl(ctx, app)
  const [url, size] = cover
    ? [cover.large, largeSize]
    : [icon, { width: iconSize, height: iconSize }]
  if (url === null || size.width > limits.width || size.height > limits.height) return {}
  return { thumbnail_url: url, thumbnail_width: size.width, thumbnail_height: size.height }
}

async function findLinkedApp(ctx: AppContext, url: string): Promise<apps.App> {
  const id = url.slice(appUrl(ctx, '').length)
  const isOurs = url.startsWith(appUrl(ctx, '')) && idPattern.test(id)
  const app = isOurs ? await apps.findApp(ctx, id) : undefined
  // Quarantined apps, and those that not everyone may open, are not described.
  const isOpen = app && isOpenToAll(ctx, app) && app.quarantinedAt === null
  const isShown = isOpen && app.version > 0 && !isPackKind(app.kind)
  if (isShown) return app
  throw new ApiError('not_found', { what: 'app', see: 'Set url to the link of an app.' })
}
