import { Elysia } from 'elysia'

import type { AppContext } from '../../kernel/context.ts'
import { readPublic, readPublicText } from '../../kernel/public-files.ts'
import { version } from '../../kernel/version.ts'
import { checkAgentsOn } from '../../people/authentication.ts'
import type { ReadOpenApi } from '../docs/api-operations.ts'
import { docsPath, listDocs } from '../docs/pages.ts'
import { getGuide, guideMarkdown, skillMarkdown } from './guide.ts'
import installText from './install.md' with { type: 'text' }
import { operationsText, readDescription } from './read-description.ts'

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
function apiCatalog({ urls: { app, base, gateway, mcp } }: AppContext) {
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
function mcpServerManifest({ urls: { app, mcp } }: AppContext) {
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

/** Pages of all origins may read the guides. */
const markdown = (text: string, type = 'text/markdown'): Response =>
  new Response(text, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      vary: 'accept',
      'access-control-allow-origin': '*',
    },
  })

const json = (value: unknown, type = 'application/json'): Response =>
  new Response(JSON.stringify(value), {
    headers: { 'content-type': type, 'access-control-allow-origin': '*' },
  })

/** Returns the guide, and a link to each page of the docs (https://llmstxt.org). */
function llmsText(ctx: AppContext): string {
  const { app, base, gateway } = ctx.urls
  const links = [
    ...listDocs(ctx).map((page) => [page.title, app + docsPath(page), page.goal]),
    ['Agent API', `${base}/openapi.json`, 'OpenAPI 3.1 description'],
    ['Model gateway', `${gateway}/v1/openapi.json`, 'OpenAPI 3.1 description'],
    ['All operations', `${app}/llms-full.txt`, 'This text with the operations of both APIs'],
    ['Skill', `${app}/skill.md`, 'This text as an Agent Skill'],
    ['Types', `${app}/service.d.ts`, 'What a page can call: service, as TypeScript'],
    ['Install', `${app}/install.md`, 'Run a server of your own'],
  ]
  const lines = links.map(([title, url, what]) => `- [${title}](${url}): ${what}`)
  return `${guideMarkdown(getGuide(ctx))}\n## Docs\n\n${lines.join('\n')}\n`
}

/** Guides at the top of the site, where agents and their programs expect them. */
export const guideFiles = (ctx: AppContext, readOpenApi: ReadOpenApi) =>
  new Elysia()
    .onTransform(() => checkAgentsOn(ctx))
    .get('/llms.txt', () => markdown(llmsText(ctx), 'text/plain'))
    .get('/llms-full.txt', async () => {
      const [agents, models] = (await readOpenApi()).map(readDescription)
      const all = [
        ...(agents ? [operationsText(agents)] : []),
        ...(models ? [`# Model gateway\n\n${operationsText(models)}`] : []),
      ]
      return markdown([llmsText(ctx), ...all].join('\n'), 'text/plain')
    })
    .get('/skill.md', () => markdown(skillMarkdown(getGuide(ctx))))
    .get('/install.md', () =>
      markdown(installText.replaceAll('{{releases}}', ctx.config.releasesUrl)),
    )
    .get('/service.d.ts', () =>
      markdown(readPublicText(readPublic(), 'bridge/service.d.ts'), 'text/plain'),
    )
    .get('/server.json', () => json(mcpServerManifest(ctx)))
    .get('/.well-known/api-catalog', () => json(apiCatalog(ctx), 'application/linkset+json'))

/**
 * GET /docs: redirects to the reference of both APIs, a page of the site. The location is a path
 * where the site has the same host, so that it works at any address of the server.
 */
export function docsRoutes(ctx: AppContext) {
  const { app, base } = ctx.urls
  const host = new URL(app).origin === new URL(base).origin ? '' : app
  return new Elysia()
    .onTransform(() => checkAgentsOn(ctx))
    .get(
      '/docs',
      () => new Response(null, { status: 302, headers: { location: `${host}/docs/api` } }),
      { detail: { hide: true } },
    )
}
