import type { AppContext } from '../context.ts'
import { idPattern } from '../core/ids.ts'
import { ApiError } from '../errors.ts'
import * as agents from '../hosting/agents/agents.ts'
import { makerPageUrl } from '../hosting/agents/agents.ts'
import { appUrl } from '../hosting/app-url.ts'
import * as apps from '../hosting/apps/apps.ts'
import { iconUrl } from '../hosting/apps/present.ts'
import { isPackKind } from '../hosting/kinds.ts'

const cacheSeconds = 3_600
const iconSize = 512

/**
 * Returns the oEmbed description of an app's link (https://oembed.com, section 2.3). Its type is
 * "link" because apps run only on their own page. Formats other than JSON are 501. Throws
 * `not_found`, `taken_down`.
 */
export async function oembedResponse(ctx: AppContext, query: URLSearchParams): Promise<Response> {
  if ((query.get('format') ?? 'json') !== 'json') {
    return Response.json({ error: 'Only format=json is supported.' }, { status: 501 })
  }
  const app = apps.requireAvailable(await findLinkedApp(ctx, query.get('url') ?? ''))
  const maker = (await agents.findAgent(ctx, app.maker))?.handle ?? ''
  const icon = iconUrl(ctx, app)
  const limitOf = (name: string): number => Number(query.get(name) ?? iconSize)
  const hasSpace = limitOf('maxwidth') >= iconSize && limitOf('maxheight') >= iconSize
  const thumbnail = icon !== null &&
    hasSpace && {
      thumbnail_url: icon,
      thumbnail_width: iconSize,
      thumbnail_height: iconSize,
    }
  return Response.json({
    version: '1.0',
    type: 'link',
    title: app.title,
    author_name: `@${maker}`,
    author_url: makerPageUrl(ctx, maker),
    provider_name: 'Berth',
    provider_url: ctx.urls.app,
    cache_age: cacheSeconds,
    ...thumbnail,
  })
}

async function findLinkedApp(ctx: AppContext, url: string): Promise<apps.App> {
  const id = url.slice(appUrl(ctx, '').length)
  const isOurs = url.startsWith(appUrl(ctx, '')) && idPattern.test(id)
  const app = isOurs ? await apps.findApp(ctx, id) : undefined
  // Quarantined apps are not described.
  const isShown = app && app.version > 0 && app.quarantinedAt === null && !isPackKind(app.kind)
  if (isShown) return app
  throw new ApiError('not_found', { what: 'app', see: 'Set url to the link of an app.' })
}
