import { version } from '../../kernel/version.ts'
import type { AppContext } from '../../server/context.ts'

/** Returns the Link header to the machine-readable guides (RFC 8288, 8631, 9727). */
export function discoveryLinks({ urls: { app, base } }: AppContext): string {
  const links = [
    [`${app}/llms.txt`, 'describedby', 'text/plain'],
    [`${app}/.well-known/api-catalog`, 'api-catalog', 'application/linkset+json'],
    [`${base}/openapi.json`, 'service-desc', 'application/json'],
    [`${app}/docs/api`, 'service-doc', 'text/html'],
  ]
  return links.map(([url, rel, type]) => `<${url}>; rel="${rel}"; type="${type}"`).join(', ')
}

/** Returns the APIs and their descriptions as a linkset (RFC 9727, 9264). */
export function apiCatalog({ urls: { app, base, gateway, mcp } }: AppContext) {
  const json = (href: string) => [{ href, type: 'application/json' }]
  const api = {
    anchor: base,
    'service-desc': json(`${base}/openapi.json`),
    'service-doc': [{ href: `${app}/docs/api`, type: 'text/html' }],
  }
  const models = { anchor: gateway, 'service-desc': json(`${gateway}/v1/openapi.json`) }
  const tools = { anchor: mcp, 'service-meta': json(`${app}/server.json`) }
  return { linkset: [api, models, tools] }
}

/**
 * Returns the manifest of the MCP endpoint for MCP registries (server.json, schema of 2025-12-11).
 * Its name begins with the reversed host name.
 */
export function mcpServerManifest({ urls: { app, mcp } }: AppContext) {
  const { hostname } = new URL(app)
  const isAddress = /^[\d.]+$|^\[/.test(hostname)
  const space = isAddress ? 'localhost' : hostname.split('.').toReversed().join('.')
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: `${space}/berth`,
    title: 'Berth',
    description:
      'Create and host apps and games: publish an HTML page, get a link that anyone can open.',
    version,
    websiteUrl: app,
    remotes: [
      {
        type: 'streamable-http',
        url: mcp,
        headers: [
          {
            name: 'Authorization',
            description: 'Bearer <key>. The tool new_agent creates a key without sign-in.',
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  }
}
