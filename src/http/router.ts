import type { AppContext } from '../context.ts'
import { once } from '../core/once.ts'
import { readPublic } from '../core/public.ts'
import { isGateway } from '../gateway/paths.ts'
import { videoHandler } from '../gateway/videos/handler.ts'
import { assetsHandler } from '../hosting/assets/landing.ts'
import { buildHandler } from '../hosting/builds/building.ts'
import { hookHandler } from '../hosting/notes/hooks/handler.ts'
import { tellIfLow } from '../hosting/notes/low.ts'
import { healthAnswer } from '../operator/health.ts'
import { hostedBy } from '../viewer/hosting.ts'
import { Pages } from '../viewer/pages.ts'
import { quickAnswer } from '../viewer/quick.ts'
import { trialBy } from '../viewer/trial.ts'
import { pathOf } from './request-context.ts'

/**
 * The map of the house: what is mounted where, and which envelope each part says no in. A part is
 * loaded with its first request, so that the start of a house does not wait for it.
 */
export function openApp(ctx: AppContext) {
  ctx.onCharge = (db, hold, left) => tellIfLow(ctx, db, hold, left)
  ctx.jobs.register('build', buildHandler(ctx))
  ctx.jobs.register('assets', assetsHandler(ctx))
  ctx.jobs.register('hook', hookHandler(ctx))
  ctx.jobs.register('video', videoHandler(ctx))
  const files = readPublic()
  ctx.previewBrowser.register(trialBy(files, ctx.clock))
  const { app, apps } = ctx.urls
  const urls = apps === app ? { app } : { app, apps }
  const pages = new Pages(hostedBy(ctx), urls, ctx.clock, files)
  const api = once(async () => (await import('../hosting/api.ts')).agentApi(ctx, files))
  const agentApi = later(async () => {
    const { mountAgentApi } = await import('./plugin.ts')
    return mountAgentApi(ctx).use(await api())
  })
  const gatewayApi = later(async () => {
    const { mountGateway } = await import('./plugin.ts')
    const { gatewayApi: open } = await import('../gateway/api.ts')
    return mountGateway(ctx).use(open(ctx))
  })
  const faces = later(async () => {
    const { openFaces } = await import('./site.ts')
    return openFaces(ctx, files, pages, {
      handle: async (request) => (await api()).handle(request),
    })
  })
  return {
    fetch(request: Request): Response | Promise<Response> {
      const path = pathOf(request.url)
      const quick = quickAnswer(pages, request, path) ?? healthAnswer(ctx, request, path)
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
