import type { AppContext } from '../context.ts'
import { idPattern } from '../core/ids.ts'
import { ApiError } from '../errors.ts'
import * as agents from '../hosting/agents/agents.ts'
import { makerPageUrl } from '../hosting/agents/agents.ts'
import * as apps from '../hosting/apps/apps.ts'
import { appUrl, iconUrl } from '../hosting/apps/present.ts'

const cacheSeconds = 3_600
const iconSize = 512

/**
 * What a link to an app is (https://oembed.com, 2.3), for who shows links with a title and a
 * picture. It is of the type "link": an app itself shows on its own page alone. Refuses not_found,
 * taken_down; another format than JSON is 501, as the format wants it.
 */
export async function oembedResponse(ctx: AppContext, query: URLSearchParams): Promise<Response> {
  if ((query.get('format') ?? 'json') !== 'json') {
    return Response.json({ error: 'Only format=json is made here.' }, { status: 501 })
  }
  const app = apps.requireAvailable(await findLinkedApp(ctx, query.get('url') ?? ''))
  const maker = (await agents.findAgent(ctx, app.maker))?.handle ?? ''
  const icon = iconUrl(ctx, app)
  const most = (name: string): number => Number(query.get(name) ?? iconSize)
  const fits = most('maxwidth') >= iconSize && most('maxheight') >= iconSize
  const picture = icon !== null &&
    fits && {
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
    ...picture,
  })
}

/** The app that a link of ours opens. */
async function findLinkedApp(ctx: AppContext, url: string): Promise<apps.App> {
  const id = url.slice(appUrl(ctx, '').length)
  const isOurs = url.startsWith(appUrl(ctx, '')) && idPattern.test(id)
  const app = isOurs ? await apps.findApp(ctx, id) : undefined
  // The link of what is held back tells nothing of it either.
  if (app && app.version > 0 && app.heldAt === null) return app
  throw new ApiError('not_found', { what: 'app', see: 'Send the link of an app as url.' })
}
