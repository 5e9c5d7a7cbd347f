import { Elysia } from 'elysia'

import { readPublic } from './core/public.ts'
import { visitOf } from './core/visit.ts'
import { gatewayApi, isGateway } from './gateway/api.ts'
import * as gateway from './gateway/envelope.ts'
import { videoHandler } from './gateway/videos/handler.ts'
import { agentApi } from './hosting/api.ts'
import { errorAnswer, faultAnswer, noSuchOperation } from './hosting/envelope.ts'
import { guideFiles } from './hosting/start/routes.ts'
import type { House } from './house.ts'
import { health } from './operator/health.ts'
import { hostedBy } from './viewer/hosting.ts'
import { Pages } from './viewer/pages.ts'
import { quickAnswer } from './viewer/quick.ts'
import { viewer } from './viewer/routes.ts'
import { openLayout } from './web/layout.ts'
import { errorPage, web } from './web/routes.ts'

/** The map of the house: what is mounted where, and which envelope each part says no in. */
export function openApp(house: House) {
  house.jobs.register('video', videoHandler(house))
  const files = readPublic()
  const { app, apps, base } = house.urls
  const urls = apps === app ? { app } : { app, apps }
  const pages = new Pages(hostedBy(house), urls, house.clock, files)
  const layout = openLayout(files)
  const api = agentApi(house, files)
  // Without the handler's setting the router takes the path of a host of one to three letters to
  // begin later than it does, so that a path in front could hide an address from the door.
  return new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError(({ error, code, request }) => {
      const { pathname } = new URL(request.url)
      const fault = (answer = faultAnswer) => {
        const { id, route } = visitOf(request)
        house.log.fault('unexpected', error, { id, route })
        return answer(id)
      }
      if (isGateway(pathname)) {
        if (code === 'NOT_FOUND') return gateway.noSuchOperation(request.method, pathname)
        return gateway.errorAnswer(error, () => fault(gateway.faultAnswer))
      }
      if (!isAgentApi(pathname)) return errorPage(layout, error, code !== 'NOT_FOUND') ?? fault()
      if (code === 'NOT_FOUND') return noSuchOperation(request.method, pathname, base)
      return errorAnswer(error, fault)
    })
    .onRequest(({ request }) => {
      const quick = quickAnswer(pages, request)
      if (quick) visitOf(request).route = quick.route
      return quick?.response
    })
    .onTransform({ as: 'global' }, ({ request, route }) => {
      visitOf(request).route = route
    })
    .use(health(house))
    .use(guideFiles(house, api))
    .use(viewer(pages))
    .use(web(house, layout))
    .use(api)
    .use(gatewayApi(house))
}

/** Whether a path belongs to the Agent API, as it is mounted inside. */
const isAgentApi = (pathname: string): boolean => /^\/api(\/|$)/.test(pathname)
