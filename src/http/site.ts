import type { AnyElysia } from 'elysia'

import type { Urls } from '../config/urls.ts'
import type { AppContext } from '../context.ts'
import { prefers } from '../core/accept.ts'
import type { PublicFile } from '../core/public.ts'
import { noSuchOperation } from '../gateway/envelope.ts'
import { guideFiles } from '../hosting/start/routes.ts'
import { metrics } from '../operator/metrics.ts'
import type { Pages } from '../viewer/pages.ts'
import { viewer } from '../viewer/routes.ts'
import { openLayout } from '../web/layout.ts'
import { faultPage, missing, refusalPage } from '../web/pages/error.ts'
import { peoplePages } from '../web/people/routes.ts'
import { web } from '../web/routes.ts'
import { mount } from './plugin.ts'
import { pathOf } from './request-context.ts'

/** All but the APIs: public links, pages for people, the guides beside them, and the metrics. */
export function openFaces(
  ctx: AppContext,
  files: Map<string, PublicFile>,
  pages: Pages,
  api: Pick<AnyElysia, 'handle'>,
) {
  const layout = openLayout(files, ctx.urls)
  return mount(ctx, ({ request, error, isUnmatched, fault }) => {
    if (isUnmatched) return isProgram(request) ? lost(request, ctx.urls) : missing(layout)
    return refusalPage(layout, error) ?? fault((id) => faultPage(layout, id))
  })
    .use(metrics(ctx))
    .use(guideFiles(ctx, api))
    .use(viewer(pages))
    .use(web(ctx, layout))
    .use(peoplePages(ctx, layout))
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
