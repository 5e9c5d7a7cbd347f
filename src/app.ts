import { Elysia } from 'elysia'

import { once } from './core/once.ts'
import { readPublic } from './core/public.ts'
import { pathOf, visitOf } from './core/visit.ts'
import * as gateway from './gateway/envelope.ts'
import { isGateway } from './gateway/paths.ts'
import { videoHandler } from './gateway/videos/handler.ts'
import { assetsHandler } from './hosting/assets/landing.ts'
import { buildHandler } from './hosting/builds/building.ts'
import { errorAnswer, faultAnswer, noSuchOperation } from './hosting/envelope.ts'
import { hookHandler } from './hosting/notes/hooks/handler.ts'
import { guideFiles } from './hosting/start/routes.ts'
import type { House } from './house.ts'
import { health } from './operator/health.ts'
import { metrics } from './operator/metrics.ts'
import { hostedBy } from './viewer/hosting.ts'
import { Pages } from './viewer/pages.ts'
import { quickAnswer } from './viewer/quick.ts'
import { viewer } from './viewer/routes.ts'
import { trialBy } from './viewer/trial.ts'
import { type Layout, openLayout } from './web/layout.ts'
import { faultPage, missing, refusalPage } from './web/pages/error.ts'
import { peoplePages } from './web/people/routes.ts'
import { web } from './web/routes.ts'

/** The map of the house: what is mounted where, and which envelope each part says no in. */
export function openApp(house: House) {
  house.jobs.register('build', buildHandler(house))
  house.jobs.register('assets', assetsHandler(house))
  house.jobs.register('hook', hookHandler(house))
  house.jobs.register('video', videoHandler(house))
  const files = readPublic()
  house.looker.register(trialBy(files, house.clock))
  const { app, apps } = house.urls
  const urls = apps === app ? { app } : { app, apps }
  const pages = new Pages(hostedBy(house), urls, house.clock, files)
  const layout = openLayout(files, house.urls)
  const api = once(async () => (await import('./hosting/api.ts')).agentApi(house, files))
  const agentApi = later(async () => mount(house, layout).use(await api()))
  const gatewayApi = later(async () => {
    const { gatewayApi: open } = await import('./gateway/api.ts')
    return mount(house, layout).use(open(house))
  })
  const faces = mount(house, layout)
    .use(health(house))
    .use(metrics(house))
    .use(guideFiles(house, { handle: async (request) => (await api()).handle(request) }))
    .use(viewer(pages))
    .use(web(house, layout))
    .use(peoplePages(house, layout))
  return {
    fetch(request: Request): Response | Promise<Response> {
      const path = pathOf(request.url)
      const quick = quickAnswer(pages, request, path)
      if (quick) return quick
      if (isGateway(path)) return gatewayApi.fetch(request)
      return isAgentApi(path) ? agentApi.fetch(request) : faces.fetch(request)
    },
    /** Mounts the APIs now; else each is mounted with its first request. */
    load: async () => ({ agentApi: await agentApi.load(), gatewayApi: await gatewayApi.load() }),
  }
}

/** What is new is not taken while the disk has less free than DISK_FLOOR_BYTES. */
const bringsMore = new Set(['POST', 'PUT'])

/** A router with the house's errors and its log. */
function mount(house: House, layout: Layout) {
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
      if (!isAgentApi(pathname)) {
        if (code === 'NOT_FOUND') return missing(layout)
        return refusalPage(layout, error) ?? fault((id) => faultPage(layout, id))
      }
      if (code === 'NOT_FOUND') return noSuchOperation(request.method, pathname, house.urls.base)
      return errorAnswer(error, fault, request.url)
    })
    .onRequest(({ request }) => {
      // The rest is for what is under way: money is settled, things are changed or deleted.
      if (bringsMore.has(request.method)) house.store.checkRoom(0)
    })
    .onTransform({ as: 'global' }, ({ request, route }) => {
      visitOf(request).route = route
    })
}

interface Mounted {
  fetch(request: Request): Response | Promise<Response>
}

/** A part that is loaded when it is first asked for: the start of a house does not wait for it. */
function later<Part extends Mounted>(open: () => Promise<Part>) {
  let loaded: Part | undefined
  const load = once(async () => (loaded = await open()))
  return {
    load,
    fetch: (request: Request): Response | Promise<Response> =>
      loaded ? loaded.fetch(request) : load().then((part) => part.fetch(request)),
  }
}

/** Whether a path belongs to the Agent API, as it is mounted inside. */
const isAgentApi = (pathname: string): boolean => /^\/api(\/|$)/.test(pathname)
