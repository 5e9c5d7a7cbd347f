import type { AnyElysia } from 'elysia'

import { prefers } from './core/accept.ts'
import type { PublicFile } from './core/public.ts'
import { pathOf } from './core/visit.ts'
import { noSuchOperation } from './gateway/envelope.ts'
import { guideFiles } from './hosting/start/routes.ts'
import type { House } from './house.ts'
import { mount } from './mount.ts'
import { metrics } from './operator/metrics.ts'
import type { Urls } from './urls.ts'
import type { Pages } from './viewer/pages.ts'
import { viewer } from './viewer/routes.ts'
import { openLayout } from './web/layout.ts'
import { faultPage, missing, refusalPage } from './web/pages/error.ts'
import { peoplePages } from './web/people/routes.ts'
import { web } from './web/routes.ts'

/** All but the APIs: public links, pages for people, the guides beside them, and the metrics. */
export function openFaces(
  house: House,
  files: Map<string, PublicFile>,
  pages: Pages,
  api: Pick<AnyElysia, 'handle'>,
) {
  const layout = openLayout(files, house.urls)
  return mount(house, ({ request, error, isUnmatched, fault }) => {
    if (isUnmatched) return isProgram(request) ? lost(request, house.urls) : missing(layout)
    return refusalPage(layout, error) ?? fault((id) => faultPage(layout, id))
  })
    .use(metrics(house))
    .use(guideFiles(house, api))
    .use(viewer(pages))
    .use(web(house, layout))
    .use(peoplePages(house, layout))
}

/** Browsers look with GET, and name html whatever they do. */
const isProgram = (request: Request): boolean =>
  ['GET', 'HEAD'].includes(request.method)
    ? prefers(request, 'application/json', 'text/html')
    : !prefers(request, 'text/html', 'application/json')

/** A client with a wrong base URL shows what it is answered: no page, but where to go. */
function lost({ method, url }: Request, { gateway, base }: Urls): Response {
  const instead = `The base URL of models is ${gateway}/v1, that of the Agent API ${base}.`
  const answer = noSuchOperation(method, pathOf(url), instead)
  answer.headers.set('cache-control', 'no-store')
  return answer
}
