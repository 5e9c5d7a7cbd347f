import { Elysia } from 'elysia'

import { checkAgentsOn } from '../../people/authentication.ts'
import type { AppContext } from '../../server/context.ts'

/**
 * GET /docs: redirects to the reference of both APIs, a page of the site. The location is a path
 * where the site has the same host, so that it works at any address of the server.
 */
export function docsRoutes(ctx: AppContext) {
  const { app, base } = ctx.urls
  const host = new URL(app).origin === new URL(base).origin ? '' : app
  return new Elysia()
    .onTransform(() => checkAgentsOn(ctx))
    .get(
      '/docs',
      () => new Response(null, { status: 302, headers: { location: `${host}/docs/api` } }),
      { detail: { hide: true } },
    )
}
