import { Elysia } from 'elysia'

import { addressGroup } from '../core/address.ts'
import { readBytes } from '../core/body.ts'
import { answer, entity } from '../core/entity.ts'
import { escapeHtml } from '../core/text.ts'
import { visitOf } from '../core/visit.ts'
import { theClaimed } from '../hosting/agents/claims.ts'
import * as apps from '../hosting/apps/apps.ts'
import { report, theReported } from '../hosting/apps/reports.ts'
import * as explore from '../hosting/explore/explore.ts'
import { sitemap } from '../hosting/explore/feeds.ts'
import * as icons from '../hosting/icons/icons.ts'
import { linksOf } from '../hosting/start/found.ts'
import { guideOf, markdownOf } from '../hosting/start/guide.ts'
import type { House } from '../house.ts'
import { Refusal, type RefusalName } from '../refusals.ts'
import { type Layout, pageAnswer } from './layout.ts'
import { claimPage, homePage, makerPage, reportPage } from './pages.ts'

const tilesMax = 30
/** An app's id, at the beginning of its picture's name. */
const idLength = 12
const formBytesMax = 16_384

/** Pages for people: the front page, makers, reports. An agent that asks for `/` gets the guide. */
export function web(house: House, layout: Layout) {
  return new Elysia()
    .get('/', async ({ request }) => {
      if (!/text\/html/.test(request.headers.get('accept') ?? '')) {
        const headers = { 'content-type': 'text/markdown; charset=utf-8', vary: 'accept' }
        return new Response(markdownOf(guideOf(house)), {
          headers: { ...headers, link: linksOf(house) },
        })
      }
      const { items: newest } = await explore.list(house, {})
      const page = pageAnswer(layout, 'Berth', homePage(house, newest))
      page.headers.set('vary', 'accept')
      page.headers.set('link', linksOf(house))
      return page
    })
    .get('/explore/:maker', async ({ params }) => {
      const { maker, items } = await explore.maker(house, params.maker, {})
      return pageAnswer(layout, `@${maker.handle}`, makerPage(house, maker, items))
    })
    .get('/robots.txt', () => `User-agent: *\nAllow: /\nSitemap: ${house.urls.app}/sitemap.xml\n`)
    .get('/sitemap.xml', () => {
      const headers = { 'content-type': 'application/xml; charset=utf-8' }
      return new Response(sitemap(house), { headers })
    })
    .get('/claim/:code', async ({ params }) => {
      const agent = await theClaimed(house, params.code)
      const made = await apps.listOf(house, agent.id, tilesMax)
      return pageAnswer(layout, `Claim @${agent.handle}`, claimPage(agent, made))
    })
    .get('/icons/:file', async ({ params, request }) => {
      const { bytes, etag } = await icons.read(house, params.file.slice(0, idLength))
      const headers = { 'content-type': 'image/png', 'cache-control': 'no-cache' }
      return answer(request, entity({ etag, identity: bytes }, headers))
    })
    .get('/favicon.svg', ({ request }) => answer(request, layout.icon))
    .get('/favicon.ico', ({ request }) => answer(request, layout.icon))
    .get('/report/:id', async ({ params }) =>
      pageAnswer(layout, 'Report', reportPage(await theReported(house, params.id))),
    )
    .post(
      '/report/:id',
      async ({ params, request }) => {
        const bytes = await readBytes(request, formBytesMax)
        const form = new URLSearchParams(new TextDecoder().decode(bytes))
        const said = { reason: form.get('reason') ?? '', text: form.get('text') ?? '' }
        await report(house, params.id, said, addressGroup(visitOf(request).address))
        return pageAnswer(layout, 'Thank you', '<h1>Thank you.</h1><p>Your report was sent.</p>')
      },
      { parse: 'none' },
    )
}

/** An error as a page; undefined for a fault of ours. `matched`: whether a route was found. */
export function errorPage(layout: Layout, error: unknown, matched: boolean): Response | undefined {
  if (!matched || (error instanceof Refusal && error.refusal === 'not_found'))
    return missing(layout)
  if (!(error instanceof Refusal)) return undefined
  const [facts] = error.facts
  const name: RefusalName = error.refusal
  const [status, otherwise] = statuses[name] ?? [503, 'Try again in a minute.']
  const words = facts && 'problem' in facts ? String(facts.problem) : otherwise
  const main = `<h1>Not sent.</h1><p>${escapeHtml(words)}</p>`
  const page = pageAnswer(layout, 'Not sent', main, status)
  if (facts && 'retryAfter' in facts) page.headers.set('retry-after', String(facts.retryAfter))
  return page
}

const statuses: Partial<Record<RefusalName, [status: number, words: string]>> = {
  bad_request: [400, ''],
  taken_down: [410, 'This was taken down.'],
  too_large: [413, 'That is too much. Send less.'],
  rate_limited: [429, 'You sent many today. Try again tomorrow.'],
}

const missing = (layout: Layout): Response =>
  pageAnswer(
    layout,
    'Nothing here',
    '<h1>Nothing here.</h1><p>This address leads nowhere. <a href="/">Go to the front page.</a></p>',
    404,
  )
