import type { Config } from './settings.ts'

/** The public URLs of the server, without a slash at the end. */
export interface Urls {
  base: string
  gateway: string
  app: string
  mcp: string
  /** The origin of the sandbox frame: `app`, or a host of its own. */
  apps: string
}

/** Returns the public URLs. `origin` is the address of this process, for URLs that are not set. */
export function urlsOf(config: Config, origin: string): Urls {
  const app = config.appUrl || origin
  return {
    base: config.baseUrl || `${app}/api`,
    gateway: config.gatewayUrl || app,
    app,
    mcp: config.mcpUrl || `${app}/mcp`,
    apps: config.appsUrl || app,
  }
}

/** Returns the origin of a host, which may be an IPv6 address, and a port. */
export const originAt = (host: string, port: number, scheme: 'http' | 'https' = 'http'): string =>
  `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
