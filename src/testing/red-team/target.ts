import { Elysia } from 'elysia'

import { Pages } from '../../apps/viewer/pages.ts'
import { viewerRoutes } from '../../apps/viewer/routes.ts'
import { toBlob } from '../../kernel/http/entity.ts'
import { newSecret } from '../../kernel/ids.ts'
import { systemClock } from '../../kernel/time.ts'
import { type Browser, localName, recorder } from '../browsers/browser.ts'
import type { MemoryAppSource } from '../fakes/memory-app-source.ts'

/** The host under attack: the viewer, and the same pages without protection. */
export interface Target {
  origin: string
  /** Marks of the vectors that sent a request to the host, other than for a file of their own. */
  reached: Set<string>
  /** Returns the address of a file of a version, whose requests are recorded by its mark. */
  fileOf(id: string, mark: string, version?: number): string
  close(): void
}

const html = { 'content-type': 'text/html; charset=utf-8' }
/** Data to steal on this origin. The page also replies on a broadcast channel. */
const treasure = `<!doctype html><title>host</title><script>
document.cookie='person=ann';localStorage.setItem('person','ann');const d=indexedDB.open('host',1);d.onupgradeneeded=()=>d.result.createObjectStore('treasure');caches.open('host').then(c=>c.put('/treasure',new Response('x')));
const c=new BroadcastChannel('x');c.onmessage=(e)=>{if(e.data==='from the app')c.postMessage('from the host')}
</script>`
const stage =
  '<style>html,body,iframe{margin:0;border:0;width:100%;height:100%;display:block}</style>'

/** Adds the recorder to a page, for a driver that cannot inject it. */
async function recorded(response: Response): Promise<Response> {
  const csp = response.headers.get('content-security-policy')
  const isPage = response.headers.get('content-type')?.startsWith('text/html')
  if (!isPage || csp?.startsWith('sandbox')) return response
  const hash = new Bun.CryptoHasher('sha256').update(recorder).digest('base64')
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  const withHash = csp?.replace('script-src', `script-src 'sha256-${hash}'`)
  if (withHash !== undefined) headers.set('content-security-policy', withHash)
  const page = await response.text()
  const start = /^(?:<!doctype html>)?/i
  const body = page.replace(start, (whole) => `${whole}<script>${recorder}</script>`)
  return new Response(body, { status: response.status, headers })
}

/**
 * The place of the host: a secure context without TLS, a plain host in a local network, whose
 * browsers send no Sec-Fetch headers, or a host with TLS.
 */
export type Place = 'localhost' | 'lan' | 'https'

/** Options of a host: answers before the viewer, and where it is. */
export interface TargetOptions {
  handle?: (request: Request) => Response | Promise<Response> | undefined
  place?: Place
  /** PEM, for https. */
  tls?: { key: string; cert: string }
}

/** Opens the host. */
export function openTarget(
  hosted: MemoryAppSource,
  browser: Browser['name'],
  { handle, place = 'localhost', tls }: TargetOptions = {},
): Target {
  const reached = new Set<string>()
  const text = (id: string): string => new TextDecoder().decode(hosted.apps.get(id)?.html.identity)
  const note = ({ params }: { params: Record<string, string> }): Response => {
    reached.add(params['mark'] ?? '')
    return new Response('ann', { headers: { 'content-type': 'text/plain' } })
  }
  const server = Bun.serve({
    hostname: place === 'localhost' ? 'localhost' : '127.0.0.1',
    port: 0,
    ...(tls && { tls }),
    async fetch(request) {
      const own = handle?.(request)
      if (own) return own
      const [, mark] =
        /^https?:\/\/[^/?]+\/(?:f\/[0-9a-f]{32}\/|[^?]*\?)reach-(\w+)/.exec(request.url) ?? []
      if (mark !== undefined) reached.add(mark)
      if (browser !== 'webkit') return app.handle(request)
      for (const name of ['accept-encoding', 'if-none-match']) request.headers.delete(name)
      return recorded(await app.handle(request))
    },
  })
  const host = place === 'localhost' ? 'localhost' : localName
  const origin = `${tls ? 'https' : 'http'}://${host}:${server.port}`
  // Without a configured address, the viewer names the local host of a request.
  const urls =
    place === 'localhost' ? { app: 'http://localhost' } : { app: origin, isConfigured: true }
  const pages = new Pages(hosted, urls, systemClock, newSecret())
  const app = new Elysia()
    .use(viewerRoutes(pages))
    .get('/watch', () => new Response(treasure, { headers: html }))
    .get(
      '/control/:id',
      ({ params }) =>
        new Response(`${treasure}${stage}<iframe src="/inner/${params.id}"></iframe>`, {
          headers: html,
        }),
    )
    .get('/inner/:id', ({ params }) => new Response(text(params.id), { headers: html }))
    .get('/own/:id/:name', async ({ params }) => {
      const file = hosted.apps.get(params.id)?.files.get(params.name)
      const content = file && (await hosted.file(file))
      const headers = { 'content-type': file?.type ?? 'text/plain' }
      return new Response(content && toBlob(content.identity), { headers })
    })
    .all('/reach/:mark/*', note)
  return {
    origin,
    reached,
    fileOf(id, mark, version = 1) {
      const token = pages.tokens.seal({ id, version }, 0, false)
      return `${origin}/f/${token}/reach-${mark}.js`
    },
    close: () => void server.stop(true),
  }
}
