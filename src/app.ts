import { once } from './core/once.ts'
import { readPublic } from './core/public.ts'
import { pathOf } from './core/visit.ts'
import { isGateway } from './gateway/paths.ts'
import { videoHandler } from './gateway/videos/handler.ts'
import { assetsHandler } from './hosting/assets/landing.ts'
import { buildHandler } from './hosting/builds/building.ts'
import { hookHandler } from './hosting/notes/hooks/handler.ts'
import { tellIfLow } from './hosting/notes/low.ts'
import type { House } from './house.ts'
import { healthAnswer } from './operator/health.ts'
import { hostedBy } from './viewer/hosting.ts'
import { Pages } from './viewer/pages.ts'
import { quickAnswer } from './viewer/quick.ts'
import { trialBy } from './viewer/trial.ts'

/**
 * The map of the house: what is mounted where, and which envelope each part says no in. A part is
 * loaded with its first request, so that the start of a house does not wait for it.
 */
export function openApp(house: House) {
  house.onCharge = (db, hold, left) => tellIfLow(house, db, hold, left)
  house.jobs.register('build', buildHandler(house))
  house.jobs.register('assets', assetsHandler(house))
  house.jobs.register('hook', hookHandler(house))
  house.jobs.register('video', videoHandler(house))
  const files = readPublic()
  house.looker.register(trialBy(files, house.clock))
  const { app, apps } = house.urls
  const urls = apps === app ? { app } : { app, apps }
  const pages = new Pages(hostedBy(house), urls, house.clock, files)
  const api = once(async () => (await import('./hosting/api.ts')).agentApi(house, files))
  const agentApi = later(async () => {
    const { mountAgentApi } = await import('./mount.ts')
    return mountAgentApi(house).use(await api())
  })
  const gatewayApi = later(async () => {
    const { mountGateway } = await import('./mount.ts')
    const { gatewayApi: open } = await import('./gateway/api.ts')
    return mountGateway(house).use(open(house))
  })
  const faces = later(async () => {
    const { openFaces } = await import('./faces.ts')
    return openFaces(house, files, pages, {
      handle: async (request) => (await api()).handle(request),
    })
  })
  return {
    fetch(request: Request): Response | Promise<Response> {
      const path = pathOf(request.url)
      const quick = quickAnswer(pages, request, path) ?? healthAnswer(house, request, path)
      if (quick) return quick
      if (isGateway(path)) return gatewayApi.fetch(request)
      return isAgentApi(path) ? agentApi.fetch(request) : faces.fetch(request)
    },
    /** Mounts the APIs now; else each is mounted with its first request. */
    load: async () => ({ agentApi: await agentApi.load(), gatewayApi: await gatewayApi.load() }),
  }
}

interface Mounted {
  fetch(request: Request): Response | Promise<Response>
}

/** A part that is loaded when it is first asked for. */
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
