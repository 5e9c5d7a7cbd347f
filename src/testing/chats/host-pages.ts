import { join } from 'node:path'

import { serveSandbox } from './sandbox.ts'

/** The hosts of chats: the reference implementation, and that of MCP-UI. */
export const hostNames = ['reference', 'mcp-ui'] as const
export type HostName = (typeof hostNames)[number]

async function bundle(name: HostName): Promise<string> {
  const result = await Bun.build({
    entrypoints: [join(import.meta.dir, `${name}-host.js`)],
    target: 'browser',
    format: 'iife',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  return (await result.outputs[0]?.text()) ?? ''
}

/** Serves the pages of hosts and the sandbox of their views, each on an origin of its own. */
export function serveHosts() {
  const sandbox = serveSandbox()
  const scripts = new Map<HostName, Promise<string>>()
  const scriptOf = (name: HostName): Promise<string> => {
    const script = scripts.get(name) ?? bundle(name)
    scripts.set(name, script)
    return script
  }
  const server = Bun.serve({
    port: 0,
    async fetch({ url }) {
      const [, path = '', file] = new URL(url).pathname.split('/')
      const name = hostNames.find((one) => one === path)
      if (!name) return new Response(null, { status: 404 })
      const isScript = file === 'host.js'
      const body = isScript
        ? await scriptOf(name)
        : `<!doctype html><meta charset=utf-8><meta name=viewport content="width=device-width"><title>Chat</title><body><script src=/${name}/host.js></script>`
      const type = isScript ? 'text/javascript' : 'text/html'
      return new Response(body, { headers: { 'content-type': `${type}; charset=utf-8` } })
    },
  })
  return {
    urlOf: (name: HostName) => `http://localhost:${server.port}/${name}`,
    sandbox: `http://localhost:${sandbox.port}/`,
    async stop() {
      await server.stop(true)
      await sandbox.stop(true)
    },
  }
}
