import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { idChars } from '../core/ids.ts'
import { cacheUntilCommit } from '../db/query.ts'
import { ApiError } from '../errors.ts'
import * as icons from '../hosting/apps/icon/icon.ts'
import { sitemap } from '../hosting/explore/feeds.ts'
import { checkSite } from '../hosting/people/session-user.ts'
import { createReport, getReportedApp } from '../hosting/reports/reports.ts'
import { linksOf } from '../hosting/start/found.ts'
import { guideOf, markdownOf } from '../hosting/start/guide.ts'
import { prefers } from '../http/accept.ts'
import { createEntity, type Entity, entityResponse } from '../http/entity.ts'
import { callerAddress } from '../http/request-context.ts'
import { formBytesMax } from '../limits.ts'
import { cataloguePage } from './catalogue.ts'
import { queryOf } from './components.ts'
import { docsPage } from './docs/docs.ts'
import { cacheKey, explorePage, isPopular } from './explore/explore.ts'
import { itemPage } from './explore/item.ts'
import { makerPage } from './explore/maker.ts'
import { readForm } from './forms.ts'
import { homePage } from './home.ts'
import {
  type Layout,
  type Page,
  pageEntity,
  pageResponse,
  type RenderedPage,
  renderedResponse,
  renderPage,
} from './layout.ts'
import { oembedResponse } from './oembed.ts'
import { emptyReport, reportFields, reportPage, reportSentPage } from './report.ts'
import { getPageRequest, withErrorPage } from './session.ts'

/** Pages for people: what was shared, its makers, the models. */
export const publicRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .use(browseRoutes(ctx, layout))
    .use(reportRoutes(ctx, layout))
    .use(fileRoutes(ctx, layout))

const cachedPagesMax = 200
const popularPages = cacheUntilCommit<Entity>(cachedPagesMax)
const otherPages = cacheUntilCommit<RenderedPage>(cachedPagesMax)

/** Where one looks around. An agent that asks for `/` gets the guide. */
function browseRoutes(ctx: AppContext, layout: Layout) {
  /** A page is drawn once for all who are shown it; where they are many, it is compressed too. */
  const shownToMany = async (request: Request, name: string, page: () => Page | Promise<Page>) =>
    entityResponse(
      request,
      await popularPages(ctx.db, name, async () => pageEntity(layout, await page())),
    )
  const shown = async (name: string, page: () => Promise<Page>) =>
    renderedResponse(await otherPages(ctx.db, name, async () => renderPage(layout, await page())))
  return new Elysia()
    .get('/', ({ request }) => {
      const isBrowser = prefers(request, 'text/html', 'text/markdown')
      if (isBrowser || !ctx.config.agentsOn) {
        return shownToMany(request, '/', () => homePage(ctx))
      }
      const guide = guideOf(ctx)
      const headers = { vary: 'accept', link: linksOf(ctx) }
      if (prefers(request, 'application/json', 'text/markdown')) {
        return Response.json(guide, { headers })
      }
      const type = { 'content-type': 'text/markdown; charset=utf-8' }
      return new Response(markdownOf(guide), { headers: { ...headers, ...type } })
    })
    .get('/explore', ({ request }) => {
      const query = queryOf(request)
      const [name, page] = [cacheKey(query), () => explorePage(ctx, query)]
      return isPopular(query) ? shownToMany(request, name, page) : shown(name, page)
    })
    .get('/explore/:name', ({ params, request }) => {
      // The router has null for what cannot be decoded.
      const name = String(params.name)
      const query = queryOf(request)
      if (!name.startsWith('@')) {
        const at = `${name} ${query.get('reviews') ?? ''} ${query.get('comments') ?? ''}`
        return shown(at, () => itemPage(ctx, name, query))
      }
      return shown(`${name} ${query.get('cursor') ?? ''}`, () => makerPage(ctx, name, query))
    })
    .get('/docs', ({ request }) => shownToMany(request, '/docs', () => docsPage(ctx)))
    .get('/catalogue', ({ request }) => pageResponse(layout, cataloguePage(ctx, queryOf(request))))
}

/** Where one is asked for something. */
const reportRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/report/:id', async ({ params }) =>
      pageResponse(layout, reportPage(await getReportedApp(ctx, params.id), emptyReport)),
    )
    .post(
      '/report/:id',
      async ({ params, request }) => {
        const app = await getReportedApp(ctx, params.id)
        const pageRequest = await getPageRequest({ ctx, layout, request })
        let words = emptyReport
        const work = async (): Promise<Response> => {
          // Nobody is signed in by it, so there is no token; no other site may send it either.
          checkSite(ctx, request)
          const form = await readForm(request, formBytesMax)
          words = reportFields(form)
          await createReport(ctx, app.id, words, callerAddress(request))
          return pageResponse(layout, reportSentPage)
        }
        return withErrorPage(pageRequest, work, (message) => reportPage(app, words, message))
      },
      { parse: 'none' },
    )

/** What pages load, and what programs look for. */
const fileRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/static/:name', ({ params, request }) => {
      const file = layout.files.get(params.name)
      if (file) return entityResponse(request, file.whole)
      throw new ApiError('not_found', { what: 'file', see: 'Pages name those there are.' })
    })
    .get('/icons/:file', async ({ params, request }) => {
      // The picture's name begins with the id of its app.
      const { bytes, etag } = await icons.readIcon(ctx, params.file.slice(0, idChars))
      const headers = { 'content-type': 'image/png', 'cache-control': 'no-cache' }
      return entityResponse(request, createEntity({ etag, identity: bytes }, headers))
    })
    .get('/favicon.svg', ({ request }) => entityResponse(request, layout.icon))
    .get('/favicon.ico', ({ request }) => entityResponse(request, layout.icon))
    .get('/robots.txt', () => `User-agent: *\nAllow: /\nSitemap: ${ctx.urls.app}/sitemap.xml\n`)
    .get('/sitemap.xml', () => {
      const headers = { 'content-type': 'application/xml; charset=utf-8' }
      return new Response(sitemap(ctx), { headers })
    })
    .get('/oembed', ({ request }) => oembedResponse(ctx, queryOf(request)))
