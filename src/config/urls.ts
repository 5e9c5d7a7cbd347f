import type { Config } from './settings.ts'

/** The public addresses, none with a slash at its end. */
export interface Urls {
  base: string
  gateway: string
  app: string
  mcp: string
  /** Where the sandbox frame is served: the same as `app`, or a host of its own. */
  apps: string
}

/**
 * The addresses an instance tells, from its settings. Parts without an address of their own are at
 * that of the pages, and all are at `origin` where nothing is set.
 */
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

/** Plain http at a host, which may be an IPv6 address, and a port. */
export const originAt = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`
