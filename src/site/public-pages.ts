import { cacheUntilCommit } from '../kernel/db/query.ts'
import type { Html } from '../kernel/html.ts'
import { compressText, createEntity, type Entity, entityResponse } from '../kernel/http/entity.ts'
import { currentLanguage } from '../kernel/words/words.ts'
import { type Page, pageEntity, type RenderedPage, renderedResponse, renderPage } from './layout.ts'
import { findUser, type PageInput, privatePage } from './session.ts'

const cachedPagesMax = 200
const popularPages = cacheUntilCommit<Entity>(cachedPagesMax)
const otherPages = cacheUntilCommit<RenderedPage>(cachedPagesMax)

/** A page is cached in each language. */
const keyOf = (name: string): string => `${currentLanguage()} ${name}`

type PageSource = () => Page | Promise<Page>

/** Sends a public page with the header of a signed-in person; undefined without a session. */
async function findPersonal(input: PageInput, page: PageSource): Promise<Response | undefined> {
  const req = await findUser(input)
  return req && privatePage(req, { section: '/', ...(await page()) })
}

/** Sends a public page that is rendered for each visitor. */
export const sendUncached = async (input: PageInput, page: PageSource): Promise<Response> =>
  (await findPersonal(input, page)) ?? renderedResponse(renderPage(input.layout, await page()))

/** Sends a public page that is rendered once for all visitors. */
export async function sendPage(
  input: PageInput,
  name: string,
  page: PageSource,
): Promise<Response> {
  const render = async () => renderPage(input.layout, await page())
  const personal = await findPersonal(input, page)
  return personal ?? renderedResponse(await otherPages(input.ctx.db, keyOf(name), render))
}

/** Sends a public page that is also compressed once. */
export async function sendPopular(
  input: PageInput,
  name: string,
  page: PageSource,
): Promise<Response> {
  const render = async () => pageEntity(input.layout, await page())
  const personal = await findPersonal(input, page)
  if (personal) return personal
  return entityResponse(input.request, await popularPages(input.ctx.db, keyOf(name), render))
}

/** Sends a part of a public page, which a script loads. Browsers keep it until it changes. */
export async function sendPart(
  { ctx, layout, request }: PageInput,
  name: string,
  part: () => Promise<Html>,
): Promise<Response> {
  const headers = { ...layout.headers, vary: 'accept-language, cookie' }
  const render = async () => createEntity(compressText((await part()).text), headers)
  return entityResponse(request, await popularPages(ctx.db, keyOf(name), render))
}
