import { Elysia } from 'elysia'

import * as covers from '../apps/covers/covers.ts'
import { sitemap } from '../apps/explore/feeds.ts'
import * as icons from '../apps/icon/icon.ts'
import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { createEntity, entityResponse } from '../kernel/http/entity.ts'
import { senderOf } from '../kernel/http/request-context.ts'
import { idChars } from '../kernel/ids.ts'
import { accountRoutes } from './account.ts'
import { agentPageRoutes } from './agents/agent-routes.ts'
import { agentRoutes } from './agents/agents.ts'
import { boatRoutes } from './boats.ts'
import { readCard } from './cards.ts'
import { collectionRoutes } from './collections.ts'
import { queryOf } from './components.ts'
import { connectorRoutes } from './connectors.ts'
import { deviceRoutes } from './device.ts'
import type { ReadOpenApi } from './docs/api-operations.ts'
import { apiRoutes } from './docs/api-page.ts'
import { docsRoutes } from './docs/docs.ts'
import { operationRoutes } from './docs/operation-page.ts'
import { exploreRoutes } from './explore/explore.ts'
import { familyRoutes } from './explore/family-page.ts'
import { itemRoutes } from './explore/item.ts'
import { logRoutes } from './explore/log-page.ts'
import { personRoutes } from './explore/person.ts'
import { remixRoutes } from './explore/remix.ts'
import { followRoutes } from './follows.ts'
import { homeRoutes } from './home.ts'
import { languageRoutes } from './language.ts'
import type { Layout } from './layout.ts'
import { compareRoutes } from './models/compare.ts'
import { modelListRoutes } from './models/list.ts'
import { modelRoutes } from './models/model-page.ts'
import { newAppRoutes } from './new/new.ts'
import { notificationRoutes } from './notifications/page.ts'
import { oembedResponse } from './oembed.ts'
import { openRoutes } from './open.ts'
import { newPackRoutes } from './packs/new-pack.ts'
import { runRoutes } from './packs/run-page.ts'
import { playgroundRoutes } from './playground/playground.ts'
import { sendAvatar } from './profile.ts'
import { reportRoutes } from './report.ts'
import { providerRoutes } from './sign-in/provider.ts'
import { signInRoutes } from './sign-in/sign-in.ts'
import { studioRoutes } from './studio/routes.ts'
import { addMoneyRoutes } from './wallet/add-money.ts'
import { historyRoutes } from './wallet/history.ts'
import { walletRoutes } from './wallet/wallet.ts'

/** Pages that anyone can open, and their files. */
export const publicRoutes = (ctx: AppContext, layout: Layout, readOpenApi: ReadOpenApi) =>
  new Elysia()
    .use(homeRoutes(ctx, layout))
    .use(boatRoutes(ctx, layout))
    .use(exploreRoutes(ctx, layout))
    .use(itemRoutes(ctx, layout))
    .use(logRoutes(ctx, layout))
    .use(familyRoutes(ctx, layout))
    .use(personRoutes(ctx, layout))
    .use(runRoutes(ctx, layout))
    .use(modelListRoutes(ctx, layout))
    .use(compareRoutes(ctx, layout))
    .use(modelRoutes(ctx, layout))
    .use(docsRoutes(ctx, layout, readOpenApi))
    .use(apiRoutes(ctx, layout, readOpenApi))
    .use(operationRoutes(ctx, layout, readOpenApi))
    .use(reportRoutes(ctx, layout))
    .use(openRoutes(ctx, layout))
    .use(languageRoutes(ctx, layout))
    .use(fileRoutes(ctx, layout))

/** Sign-in, and pages for people who are signed in. */
export const privateRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .use(remixRoutes(ctx, layout))
    .use(newAppRoutes(ctx, layout))
    .use(newPackRoutes(ctx, layout))
    .use(signInRoutes(ctx, layout))
    .use(providerRoutes(ctx, layout))
    .use(agentRoutes(ctx, layout))
    .use(agentPageRoutes(ctx, layout))
    .use(deviceRoutes(ctx, layout))
    .use(connectorRoutes(ctx, layout))
    .use(notificationRoutes(ctx, layout))
    .use(followRoutes(ctx, layout))
    .use(collectionRoutes(ctx, layout))
    .use(accountRoutes(ctx, layout))
    .use(walletRoutes(ctx, layout))
    .use(historyRoutes(ctx, layout))
    .use(addMoneyRoutes(ctx, layout))
    .use(playgroundRoutes(ctx, layout))
    .use(studioRoutes(ctx, layout))

function withoutSniffing(response: Response): Response {
  response.headers.set('x-content-type-options', 'nosniff')
  return response
}

function coverResponse(request: Request, file: { bytes: Uint8Array; etag: string }): Response {
  // `private` keeps the covers of removed apps out of shared caches.
  const cache = 'private, max-age=31536000, immutable'
  const headers = { 'content-type': 'image/webp', 'cache-control': cache }
  return entityResponse(request, createEntity({ etag: file.etag, identity: file.bytes }, headers))
}

/** Static files, icons and documents for crawlers. */
const fileRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/static/:name', ({ params, request }) => {
      const file = layout.files.get(params.name)
      if (file) return entityResponse(request, file.entity)
      throw new ApiError('not_found', {
        what: 'file',
        see: 'Reload the page to get its current files.',
      })
    })
    .get('/icons/:file', async ({ params, request }) => {
      // A file name starts with the ID of its app.
      const { bytes, etag } = await icons.readIcon(
        ctx,
        params.file.slice(0, idChars),
        senderOf(request),
      )
      const headers = { 'content-type': 'image/png', 'cache-control': 'no-cache' }
      return entityResponse(request, createEntity({ etag, identity: bytes }, headers))
    })
    .get('/icons/:file/:name', async ({ params: { file: app, name }, request }) => {
      const { readAppIcon } = await import('./app-icons.ts')
      return entityResponse(request, await readAppIcon(ctx, app, name))
    })
    .get('/covers/:file', async ({ params, request }) =>
      coverResponse(request, await covers.readCover(ctx, params.file, senderOf(request))),
    )
    .get('/covers/:file/:image', async ({ params: { file: app, image }, request }) => {
      const { readVersionCover } = await import('../apps/owners/previews.ts')
      const found = await readVersionCover(ctx, request, app, image)
      if (found) return coverResponse(request, found)
      throw new ApiError('not_found', { what: 'picture' })
    })
    .get('/avatars/:file', ({ params, request }) =>
      sendAvatar({ ctx, layout, request, query: queryOf(request) }, params.file),
    )
    .get('/cards/:file', async ({ params, request }) =>
      entityResponse(request, await readCard(ctx, params.file)),
    )
    .get('/manifest.webmanifest', () => {
      const headers = { 'content-type': 'application/manifest+json' }
      return withoutSniffing(new Response(JSON.stringify(manifest), { headers }))
    })
    .get('/favicon.svg', ({ request }) => entityResponse(request, layout.icon))
    .get('/favicon.ico', ({ request }) => entityResponse(request, layout.icon))
    .get('/robots.txt', () => `User-agent: *\nAllow: /\nSitemap: ${ctx.urls.app}/sitemap.xml\n`)
    .get('/sitemap.xml', () => {
      const headers = { 'content-type': 'application/xml; charset=utf-8' }
      return withoutSniffing(new Response(sitemap(ctx), { headers }))
    })
    .get('/oembed', async ({ request }) =>
      withoutSniffing(await oembedResponse(ctx, queryOf(request))),
    )

/** The web app manifest: browsers can install the site (https://www.w3.org/TR/appmanifest/). */
const manifest = {
  name: 'Berth',
  short_name: 'Berth',
  description: 'Make, play and remix apps and games.',
  start_url: '/',
  display: 'standalone',
  background_color: '#fdfdfc',
  theme_color: '#0b6e63',
  icons: [
    { src: '/static/icon-192.png', sizes: '192x192', type: 'image/png' },
    { src: '/static/icon-512.png', sizes: '512x512', type: 'image/png' },
    { src: '/static/icon-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    { src: '/favicon.svg', sizes: 'any', type: 'image/svg+xml' },
  ],
}
