import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { prefers } from '../core/accept.ts'
import { answer, type Entity, entity } from '../core/entity.ts'
import { idChars } from '../core/ids.ts'
import { untilCommit } from '../db/query.ts'
import { ApiError } from '../errors.ts'
import { sitemap } from '../hosting/explore/feeds.ts'
import * as icons from '../hosting/icons/icons.ts'
import { report, theReported } from '../hosting/moderation/reports.ts'
import { checkSite } from '../hosting/people/visitor.ts'
import { linksOf } from '../hosting/start/found.ts'
import { guideOf, markdownOf } from '../hosting/start/guide.ts'
import { callerAddress } from '../http/request-context.ts'
import { formBytesMax } from '../limits.ts'
import {
  draw,
  type Drawn,
  drawnAnswer,
  type Layout,
  type Page,
  pageAnswer,
  pageEntity,
} from './layout.ts'
import { embedOf } from './oembed.ts'
import { cataloguePage } from './pages/catalogue.ts'
import { docsPage } from './pages/docs.ts'
import { explorePage, isCommon, nameOf } from './pages/explore.ts'
import { homePage } from './pages/home.ts'
import { itemPage } from './pages/item.ts'
import { makerPage } from './pages/maker.ts'
import { noWords, reportPage, thanksPage, wordsOf } from './pages/report.ts'
import { queryOf } from './parts.ts'
import { orAgain, visitFor } from './people/desk.ts'
import { readForm } from './people/form.ts'

/** Pages for people: what was shared, its makers, the models. */
export const web = (ctx: AppContext, layout: Layout) =>
  new Elysia().use(browsing(ctx, layout)).use(asking(ctx, layout)).use(files(ctx, layout))

const pagesMax = 200
const common = untilCommit<Entity>(pagesMax)
const others = untilCommit<Drawn>(pagesMax)

/** Where one looks around. An agent that asks for `/` gets the guide. */
function browsing(ctx: AppContext, layout: Layout) {
  /** A page is drawn once for all who are shown it; where they are many, it is compressed too. */
  const shownToMany = async (request: Request, name: string, page: () => Page | Promise<Page>) =>
    answer(request, await common(ctx.db, name, async () => pageEntity(layout, await page())))
  const shown = async (name: string, page: () => Promise<Page>) =>
    drawnAnswer(await others(ctx.db, name, async () => draw(layout, await page())))
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
      const [name, page] = [nameOf(query), () => explorePage(ctx, query)]
      return isCommon(query) ? shownToMany(request, name, page) : shown(name, page)
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
    .get('/catalogue', ({ request }) => pageAnswer(layout, cataloguePage(ctx, queryOf(request))))
}

/** Where one is asked for something. */
const asking = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/report/:id', async ({ params }) =>
      pageAnswer(layout, reportPage(await theReported(ctx, params.id), noWords)),
    )
    .post(
      '/report/:id',
      async ({ params, request }) => {
        const app = await theReported(ctx, params.id)
        const visit = await visitFor({ ctx, layout, request })
        let words = noWords
        const work = async (): Promise<Response> => {
          // Nobody is signed in by it, so there is no token; no other site may send it either.
          checkSite(ctx, request)
          const form = await readForm(request, formBytesMax)
          words = wordsOf(form)
          await report(ctx, app.id, words, callerAddress(request))
          return pageAnswer(layout, thanksPage)
        }
        return orAgain(visit, work, (said) => reportPage(app, words, said))
      },
      { parse: 'none' },
    )

/** What pages load, and what programs look for. */
const files = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/static/:name', ({ params, request }) => {
      const file = layout.files.get(params.name)
      if (file) return answer(request, file.whole)
      throw new ApiError('not_found', { what: 'file', see: 'Pages name those there are.' })
    })
    .get('/icons/:file', async ({ params, request }) => {
      // The picture's name begins with the id of its app.
      const { bytes, etag } = await icons.read(ctx, params.file.slice(0, idChars))
      const headers = { 'content-type': 'image/png', 'cache-control': 'no-cache' }
      return answer(request, entity({ etag, identity: bytes }, headers))
    })
    .get('/favicon.svg', ({ request }) => answer(request, layout.icon))
    .get('/favicon.ico', ({ request }) => answer(request, layout.icon))
    .get('/robots.txt', () => `User-agent: *\nAllow: /\nSitemap: ${ctx.urls.app}/sitemap.xml\n`)
    .get('/sitemap.xml', () => {
      const headers = { 'content-type': 'application/xml; charset=utf-8' }
      return new Response(sitemap(ctx), { headers })
    })
    .get('/oembed', ({ request }) => embedOf(ctx, queryOf(request)))
