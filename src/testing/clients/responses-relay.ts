import { type ClientServer, startClientServer } from './server.ts'

/** A server whose model is at an upstream with the Responses API: another server's demo model. */
export interface ResponsesRelay {
  server: ClientServer
  /** Returns the paths that the upstream was called at, and forgets them. */
  takePaths(): string[]
  stop(): Promise<void>
}

/** Starts both servers. `id`: the model of the first one. It makes no web searches. */
export async function startResponsesRelay(id: string): Promise<ResponsesRelay> {
  const upstream = await startClientServer()
  const [, origin = ''] = upstream.baseUrls
  let paths: string[] = []
  const recorder = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      paths.push(pathname)
      return fetch(origin + pathname, request)
    },
  })
  const row = {
    id,
    kind: 'openai',
    baseUrl: `${recorder.url.origin}/v1`,
    apiKey: upstream.key,
    model: 'demo/chat',
    responses: true,
    contextLength: 200_000,
    maxOutput: 64_000,
  }
  const server = await startClientServer([row], { SEARCH_ON: 'off' })
  return {
    server,
    takePaths() {
      const taken = [...new Set(paths)]
      paths = []
      return taken
    },
    async stop() {
      await server.stop()
      await recorder.stop(true)
      await upstream.stop()
    },
  }
}
