import type { AppContext } from '../kernel/context.ts'
import { cacheUntilCommit } from '../kernel/db/query.ts'
import { type Entity, entityResponse } from '../kernel/http/entity.ts'
import { currentLanguage } from '../kernel/words/words.ts'
import { queryOf } from './components.ts'
import {
  type Layout,
  type Page,
  pageEntity,
  type RenderedPage,
  renderedResponse,
  renderPage,
} from './layout.ts'
import { findUser, privatePage } from './session.ts'

const cachedPagesMax = 200
const popularPages = cacheUntilCommit<Entity>(cachedPagesMax)
const otherPages = cacheUntilCommit<RenderedPage>(cachedPagesMax)

/** A page is cached in each language. */
const keyOf = (name: string): string => `${currentLanguage()} ${name}`

type PageSource = () => Page | Promise<Page>

/** Sends public pages: rendered once for all visitors, or with the header of a signed-in one. */
export function publicPages(ctx: AppContext, layout: Layout) {
  const findPersonal = async (
    request: Request,
    page: PageSource,
  ): Promise<Response | undefined> => {
    const req = await findUser({ ctx, layout, request, query: queryOf(request) })
    return req && privatePage(req, { section: '/', ...(await page()) })
  }
  const sendUncached = async (request: Request, page: PageSource): Promise<Response> =>
    (await findPersonal(request, page)) ?? renderedResponse(renderPage(layout, await page()))
  return {
    sendUncached,
    async send(request: Request, name: string, page: PageSource): Promise<Response> {
      const render = async () => renderPage(layout, await page())
      const personal = await findPersonal(request, page)
      return personal ?? renderedResponse(await otherPages(ctx.db, keyOf(name), render))
    },
    /** Compresses the page once as well. */
    async sendPopular(request: Request, name: string, page: PageSource): Promise<Response> {
      const render = async () => pageEntity(layout, await page())
      const personal = await findPersonal(request, page)
      return personal ?? entityResponse(request, await popularPages(ctx.db, keyOf(name), render))
    },
  }
}
