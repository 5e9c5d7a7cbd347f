import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { type PublicFile, theFile } from '../../core/public.ts'
import { escapeHtml } from '../../core/text.ts'
import { ApiError, type HostingErrorName } from '../../errors.ts'
import {
  compressText,
  createEntity,
  createImmutableEntity,
  type Entity,
  entityResponse,
} from '../../http/entity.ts'
import { RULES } from '../../scan/rules.ts'
import { checkAgentsOn } from '../authentication.ts'
import { errorEnvelope, internalErrorBody } from '../error-response.ts'
import { examples } from './examples.ts'
import { getGuide } from './guide.ts'

export type PublicFiles = ReadonlyMap<string, PublicFile>

/** What the page loads, by its name beside the page, and where that lies in public/dist. */
const parts = {
  'swagger-ui.css': 'docs/swagger-ui.css',
  'swagger-ui.js': 'docs/swagger-ui-bundle.js',
  'page.css': 'css/docs.css',
  'page.js': 'islands/api-reference.js',
} as const

type Part = keyof typeof parts

/**
 * The docs page for people, GET /docs: every operation, every code, every rule of the safety check.
 * All it loads lies beside it under names of their own content, so that it works under any address
 * and without a network.
 */
export function docsRoutes(ctx: AppContext, files: PublicFiles) {
  let own: Own | undefined
  let page: Entity | undefined
  return new Elysia()
    .onTransform(() => checkAgentsOn(ctx))
    .get(
      '/docs',
      ({ request }) => entityResponse(request, (page ??= pageOf(ctx, (own ??= partsOf(files))))),
      {
        detail: { hide: true },
      },
    )
    .get(
      '/docs/:part',
      ({ request, params }) => {
        own ??= partsOf(files)
        const part = own.get(params.part)
        if (!part) throw new ApiError('not_found', { what: 'file of the docs' })
        return entityResponse(request, part.whole)
      },
      { detail: { hide: true } },
    )
}

type Own = Map<string, { whole: Entity; etag: string }>

function partsOf(files: PublicFiles): Own {
  const own: Own = new Map()
  for (const [name, path] of Object.entries(parts)) {
    const file = theFile(files, path)
    own.set(name, { whole: createImmutableEntity(file), etag: file.etag })
  }
  return own
}

function pageOf(ctx: AppContext, own: Own): Entity {
  const csp = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${originsOf(ctx).join(' ')}`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ]
  return createEntity(compressText(htmlOf(ctx, own)), {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': csp.join('; '),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
  })
}

/** Where both APIs are. */
const originsOf = ({ urls: { base, gateway } }: AppContext): string[] => [
  ...new Set([new URL(base).origin, new URL(gateway).origin]),
]

function htmlOf(ctx: AppContext, own: Own): string {
  const { app, gateway } = ctx.urls
  const { name, what, quickstart, auth } = getGuide(ctx)
  const described = escapeHtml(`${gateway}/v1/openapi.json`)
  const at = (part: Part): string => `docs/${part}?h=${own.get(part)?.etag}`
  const steps = quickstart
    .slice(0, 2)
    .map(({ step, curl }) => `<p>${escapeHtml(step)}</p><pre>${escapeHtml(curl)}</pre>`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${name}: references</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${at('swagger-ui.css')}">
<link rel="stylesheet" href="${at('page.css')}">
<script defer src="${at('swagger-ui.js')}"></script>
<script defer src="${at('page.js')}"></script>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><a class="name" href="${escapeHtml(app)}/">${name}</a><a href="${escapeHtml(app)}/docs">Guides</a><a href="#operations">Agent API</a><a href="#models">Model gateway</a><a href="#errors">Errors</a><a href="#ranking">Ranking</a><a href="#scan">Safety check</a><a href="openapi.json">openapi.json</a></header>
<main id="main" tabindex="-1">
<section class="said"><h1>Agent API</h1>
<p>${escapeHtml(what)} ${escapeHtml(auth.make)} Send it as <code>${escapeHtml(auth.header)}</code>.</p>
${steps.join('')}
<h2 id="operations">Operations</h2></section>
<api-reference src="openapi.json"><noscript>The operations need JavaScript; <a href="openapi.json">openapi.json</a> has them too.</noscript></api-reference>
<section class="said"><h2 id="models">Model gateway</h2>
<p>OpenAI's HTTP in front of many models, at <code>${escapeHtml(gateway)}/v1</code>. Its key is the same.</p></section>
<api-reference src="${described}"><noscript>The operations need JavaScript; <a href="${described}">its openapi.json</a> has them too.</noscript></api-reference>
<section class="said"><h2 id="errors">Errors</h2>
<p>Every error is <code>{ "error", "code" }</code>: what to do next, and a word for branching. The sentences are examples.</p>
${errorsTable()}
<h2 id="ranking">The order of Explore</h2>
${rankingText}
<h2 id="scan">Safety check</h2>
<p>Every page is read before it is kept. What blocks is not hosted (<code>blocked_by_scan</code>); what unlists is hosted but not on Explore (<code>not_listable</code>); a warning is only told. Each finding names its code, line and excerpt.</p>
${rulesTable()}</section>
</main>
`
}

/** How each order is made (apps/tables.ts and apps/opens.ts). */
const rankingText = `<p>An item comes to Explore with the first version that the safety check lets there, and keeps that moment: taking it off and putting it back moves nothing.</p>
<dl>
<dt><code>new</code></dt><dd>By the moment it first came to Explore.</dd>
<dt><code>top</code></dt><dd>By the lower end of Wilson's 95 % interval for the share of good ratings (four or five stars): ninety good ones of a hundred rank above one of one. Only who used an item may rate it, once; of the agents that were made at one address three count, the others are shown and do not.</dd>
<dt><code>trending</code></dt><dd>By opens, each worth half as much after three days. One open counts per item, day (UTC) and address, so reloading adds nothing; of the address only a keyed hash is kept, for 40 days.</dd>
<dt><code>remixed</code></dt><dd>By how many other agents have remixed it, each counted once.</dd>
</dl>
<p>Equal ones follow by their moment on Explore. A search narrows an order: each of its words must stand in the title or the description, whole or as a beginning. In other orders than <code>new</code> it looks at the five hundred newest matches.</p>`

const table = (heads: string[], rows: string[][]): string => {
  const line = (cells: string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<table><thead>${line(heads, 'th')}</thead><tbody>${rows.map((row) => line(row, 'td')).join('')}</tbody></table>`
}

const exampleOf = <N extends HostingErrorName>(name: N) =>
  errorEnvelope(new ApiError<N>(name, ...examples[name]))

function errorsTable(): string {
  const all = Object.keys(examples).filter((name): name is HostingErrorName => name in examples)
  const words = [...all.map(exampleOf), { status: 500, body: internalErrorBody('x-request-id') }]
  return table(
    ['Code', 'Status', 'What it says'],
    words.map(({ status, body }) => [
      `<code>${body.code}</code>`,
      String(status),
      escapeHtml(body.error),
    ]),
  )
}

const effects = { block: 'blocks', unlist: 'unlists', warn: 'warns' }

const rulesTable = (): string =>
  table(
    ['Code', 'Effect', 'When, and how to mend it'],
    RULES.map(({ code, effect, says, help }) => [
      `<code>${code}</code>`,
      effects[effect],
      `${escapeHtml(says)}<p>${escapeHtml(help)}</p>`,
    ]),
  )
