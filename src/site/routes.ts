import { Elysia } from 'elysia'

import * as covers from '../apps/covers/covers.ts'
import * as explore from '../apps/explore/explore.ts'
import { sitemap } from '../apps/explore/feeds.ts'
import * as icons from '../apps/icon/icon.ts'
import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { prefers } from '../kernel/http/accept.ts'
import { createEntity, entityResponse } from '../kernel/http/entity.ts'
import { pathOf, senderOf } from '../kernel/http/request-context.ts'
import { idChars } from '../kernel/ids.ts'
import { accountRoutes } from './account.ts'
import { agentRoutes } from './agents/agents.ts'
import { agentHistoryRoutes } from './agents/history.ts'
import { readCard } from './cards.ts'
import { collectionRoutes } from './collections.ts'
import { queryOf } from './components.ts'
import { connectorRoutes } from './connectors.ts'
import { deviceRoutes } from './device.ts'
import type { ReadOpenApi } from './docs/api-operations.ts'
import { apiPage } from './docs/api-page.ts'
import { docsPage, docsStart, findNewestApp } from './docs/docs.ts'
import { operationPage } from './docs/operation-page.ts'
import { cacheKey, explorePage, isPopular } from './explore/explore.ts'
import { familyPage } from './explore/family-page.ts'
import { findPersonalPage, itemPage, itemRoutes } from './explore/item.ts'
import { logPage } from './explore/log-page.ts'
import { makerPage } from './explore/maker.ts'
import { findHandlePath, personPage } from './explore/person.ts'
import { remixRoutes } from './explore/remix.ts'
import { findPersonalMakerPage, followRoutes } from './follows.ts'
import { getGuide, guideMarkdown } from './guide/guide.ts'
import { discoveryLinks } from './guide/routes.ts'
import { homePage } from './home.ts'
import { languageRoutes } from './language.ts'
import type { Layout } from './layout.ts'
import { tilesShown } from './lists.ts'
import { comparePage, comparePath } from './models/compare.ts'
import { modelListPage } from './models/list.ts'
import { findModelPage } from './models/model-page.ts'
import { newAppRoutes } from './new/new.ts'
import { notificationRoutes } from './notifications.ts'
import { oembedResponse } from './oembed.ts'
import { openRoutes } from './open.ts'
import { newPackRoutes } from './packs/new-pack.ts'
import { runPage } from './packs/run-page.ts'
import { modelsPath } from './paths.ts'
import { playgroundRoutes } from './playground/playground.ts'
import { sendAvatar } from './profile.ts'
import { publicPages } from './public-pages.ts'
import { reportRoutes } from './report.ts'
import { findUser, privatePage, redirectTo, requireUser } from './session.ts'
import { providerRoutes } from './sign-in/provider.ts'
import { signInRoutes } from './sign-in/sign-in.ts'
import { studioRoutes } from './studio/routes.ts'
import { addMoneyRoutes } from './wallet/add-money.ts'
import { historyRoutes } from './wallet/history.ts'
import { walletRoutes } from './wallet/wallet.ts'

/** Pages that anyone can open, and their files. */
export const publicRoutes = (ctx: AppContext, layout: Layout, readOpenApi: ReadOpenApi) =>
  new Elysia()
    .use(browseRoutes(ctx, layout, readOpenApi))
    .use(reportRoutes(ctx, layout))
    .use(openRoutes(ctx, layout))
    .use(languageRoutes(ctx, layout))
    .use(fileRoutes(ctx, layout))

/** Sign-in, and pages for people who are signed in. */
export const privateRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .use(itemRoutes(ctx, layout))
    .use(remixRoutes(ctx, layout))
    .use(newAppRoutes(ctx, layout))
    .use(newPackRoutes(ctx, layout))
    .use(signInRoutes(ctx, layout))
    .use(providerRoutes(ctx, layout))
    .use(agentRoutes(ctx, layout))
    .use(agentHistoryRoutes(ctx, layout))
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

/** Home, Explore, docs and models. Agents that request `/` receive the guide. */
function browseRoutes(ctx: AppContext, layout: Layout, readOpenApi: ReadOpenApi) {
  const { send, sendPopular, sendUncached } = publicPages(ctx, layout)
  return new Elysia()
    .get('/', ({ request }) => {
      const isBrowser = prefers(request, 'text/html', 'text/markdown')
      if (isBrowser || !ctx.config.agentsOn) {
        return sendPopular(request, '/', () => homePage(ctx))
      }
      const guide = getGuide(ctx)
      const headers = { vary: 'accept', link: discoveryLinks(ctx) }
      if (prefers(request, 'application/json', 'text/markdown')) {
        return Response.json(guide, { headers })
      }
      const type = { 'content-type': 'text/markdown; charset=utf-8' }
      return new Response(guideMarkdown(guide), { headers: { ...headers, ...type } })
    })
    .get('/explore', ({ request }) => {
      const query = queryOf(request)
      const [name, page] = [cacheKey(query), () => explorePage(ctx, query)]
      return isPopular(query) ? sendPopular(request, name, page) : send(request, name, page)
    })
    .get('/explore/:name', async ({ params, request }) => {
      const { name } = params
      const query = queryOf(request)
      if (name.startsWith('@')) {
        const path = await findHandlePath(ctx, name.slice(1))
        if (path.startsWith('/@')) return redirectTo(path)
        const key = `${name} ${query.get('cursor') ?? ''} ${tilesShown(query)}`
        const personal = await findPersonalMakerPage({ ctx, layout, request, query }, name)
        return personal ?? send(request, key, () => makerPage(ctx, name, query))
      }
      const personal = await findPersonalPage({ ctx, layout, request, query }, name)
      const parts = ['reviews', 'comments', 'file'].map((part) => query.get(part) ?? '')
      const key = JSON.stringify([name, ...parts])
      return personal ?? send(request, key, () => itemPage(ctx, name, query))
    })
    .get('/@:handle', async ({ request }) => {
      // Elysia types no parameter with a prefix.
      const handle = pathOf(request.url).slice(2)
      const path = await findHandlePath(ctx, handle)
      if (path !== `/@${handle}`) return redirectTo(path)
      return send(request, `/@${handle}`, () => personPage(ctx, handle))
    })
    .get('/runs/:id', async ({ params, request }) => {
      const req = await findUser({ ctx, layout, request, query: queryOf(request) })
      const page = () => runPage(ctx, params.id, req?.visitor.person)
      return req ? privatePage(req, await page()) : sendUncached(request, page)
    })
    .get('/explore/:name/log', ({ params: { name }, request }) => {
      const query = queryOf(request)
      const key = `${name} log ${query.get('cursor') ?? ''}`
      return send(request, key, () => logPage(ctx, name, query))
    })
    .get('/explore/:name/family', ({ params: { name }, request }) =>
      send(request, `${name} family`, () => familyPage(ctx, name)),
    )
    .get('/explore/:name/next', async ({ params }) => redirectTo(await nextPath(ctx, params.name)))
    .get('/docs', ({ request }) => {
      const query = queryOf(request)
      const page = () => docsStart(ctx, query, readOpenApi)
      return query.has('q') ? sendUncached(request, page) : sendPopular(request, '/docs', page)
    })
    .get('/docs/:id', ({ params: { id }, request }) =>
      sendPopular(request, `/docs/${id}`, () => docsPage(ctx, id)),
    )
    .get('/docs/api', ({ request }) =>
      sendPopular(request, '/docs/api', () => apiPage(ctx, readOpenApi)),
    )
    .get('/docs/api/:api/:id', ({ params, request }) =>
      send(request, `/docs/api/${params.api}/${params.id}`, () =>
        operationPage(ctx, layout, readOpenApi, params),
      ),
    )
    .get('/docs/mine', ({ request }) =>
      requireUser({ ctx, layout, request, query: queryOf(request) }, async ({ visitor }) =>
        Response.json(
          { app: await findNewestApp(ctx, visitor.person) },
          { headers: { 'cache-control': 'no-store' } },
        ),
      ),
    )
    .get(modelsPath, ({ request }) =>
      sendUncached(request, () => modelListPage(ctx, queryOf(request))),
    )
    .get(comparePath, ({ request }) =>
      sendUncached(request, () => comparePage(ctx, queryOf(request))),
    )
    .get(`${modelsPath}/*`, ({ params, request }) =>
      sendUncached(request, () => findModelPage(ctx, params['*'])),
    )
}

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

/** Most played items that "Next" walks through. */
const nextItemsMax = 100

/**
 * Returns the path of the next most played item of the same kind. After the last, starts again.
 * Throws `not_found`, `taken_down`.
 */
async function nextPath(ctx: AppContext, id: string): Promise<string> {
  const { kind } = (await explore.getItem(ctx, id)).item
  const { items } = await explore.listTiles(ctx, { kind, sort: 'played', limit: nextItemsMax })
  const at = items.findIndex((one) => one.id === id)
  return `/a/${(items[at + 1] ?? items[0])?.id ?? id}`
}

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
