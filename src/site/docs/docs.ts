import { listByMaker } from '../../apps/apps.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part, prose } from '../../kernel/html.ts'
import { lazyFor, SharedResult } from '../../kernel/lazy.ts'
import { lookUp } from '../../kernel/schema.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { currentLanguage, inEnglish } from '../../kernel/words/words.ts'
import type { Person } from '../../people/people.ts'
import { searchTerm } from '../components.ts'
import { inputField } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { emptyState, searchField, sideNav } from '../lists.ts'
import { sendPopular, sendUncached } from '../public-pages.ts'
import { pageRoutes, requireUser } from '../session.ts'
import { listApis, operationPath, type ReadOpenApi, type ReferencedApi } from './api-operations.ts'
import { type DocsPage, docsPath, listDocs } from './pages.ts'

const searchCharsMax = 100
const hitsMax = 30
/** Characters around a match. */
const around = 90

/** A page or an operation with the words that match. */
interface Hit {
  path: string
  title: string
  before: string
  match: string
  after: string
}

interface Entry {
  path: string
  title: string
  text: string
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

/** Returns the text of rendered HTML. */
const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(#?\w+);/g, (all, name: string) => lookUp(entities, name) ?? all)
    .replace(/\s+/g, ' ')
    .trim()

const operationsOf = (api: ReferencedApi): Entry[] =>
  api.operations.map((operation) => {
    const { method, path, operationId, summary, description = '' } = operation
    return {
      path: operationPath(api, operation),
      title: `${method} ${path}`,
      text: `${operationId}: ${summary} ${description}`.trim(),
    }
  })

async function readEntries(ctx: AppContext, readOpenApi: ReadOpenApi): Promise<Entry[]> {
  const pages = listDocs(ctx).map((page) => ({
    path: docsPath(page),
    title: page.title,
    text: `${page.goal}. ${textOf(page.main?.text ?? '')}`,
  }))
  return [...pages, ...(await listApis(ctx, readOpenApi)).flatMap(operationsOf)]
}

/** The entries of a server, in English for all languages. All pages take 20 ms to render. */
const entriesOf = lazyFor(({ clock }: AppContext) => new SharedResult<Entry[]>(clock))

/**
 * Returns the pages and operations that have every word of a search, those with one in the title
 * first.
 */
async function searchDocs(ctx: AppContext, q: string, readOpenApi: ReadOpenApi): Promise<Hit[]> {
  const entries = await entriesOf(ctx).get(() => inEnglish(() => readEntries(ctx, readOpenApi)))
  const words = q.toLowerCase().split(/\s+/)
  const rank = ({ title, text }: Entry): number => {
    const [low, all] = [title.toLowerCase(), `${title} ${text}`.toLowerCase()]
    if (!words.every((word) => all.includes(word))) return 0
    return words.some((word) => low.includes(word)) ? 2 : 1
  }
  return entries
    .map((entry) => ({ entry, points: rank(entry) }))
    .filter(({ points }) => points > 0)
    .toSorted((a, b) => b.points - a.points)
    .slice(0, hitsMax)
    .map(({ entry }) => toHit(entry, words))
}

function toHit({ path, title, text }: Entry, words: string[]): Hit {
  const low = text.toLowerCase()
  const word = words.find((one) => low.includes(one)) ?? ''
  const at = Math.max(0, low.indexOf(word))
  const from = Math.max(0, at - around)
  const end = at + word.length
  return {
    path,
    title,
    before: `${from > 0 ? '…' : ''}${text.slice(from, at)}`,
    match: text.slice(at, end),
    after: `${text.slice(end, end + around)}${end + around < text.length ? '…' : ''}`,
  }
}

const agentsMax = 50

/** The fields whose values its script puts into the examples. They stay in the browser. */
const docsValues: Html = html`<docs-values>
  <details>
    <summary>Use my key and IDs in the examples</summary>
    <form class="form">
      <div class="triple">
        ${inputField({ label: msg('API key'), name: 'KEY', type: 'password', isOptional: true, max: 100 })}
        ${inputField({ label: msg('App ID'), name: 'ID', isOptional: true, max: 40 })}
      </div>
      <p class="actions">
        <button type="button" class="button quiet slim fill-ids">Fill in my newest app</button>
        <button type="button" class="button quiet slim clear">Clear</button>
      </p>
      <p class="small">
        The values stay in this tab. Create a key in <a href="/agents">Agents</a> or
        <a href="/wallet#keys">your wallet</a>. <span role="status"></span>
      </p>
    </form>
  </details>
</docs-values>`

/** Returns the ID of the newest app of a person's agents. */
async function findNewestApp(ctx: AppContext, person: Person): Promise<string | null> {
  const agents = (await listActingAgents(ctx, person)).slice(0, agentsMax)
  const lists = await Promise.all(agents.map(({ id }) => listByMaker(ctx, id, 1)))
  const [newest] = lists.flat().toSorted((a, b) => b.created - a.created)
  return newest?.id ?? null
}

export const searchForm = (q: string | undefined): Html =>
  html`<live-search
    ><form class="search" role="search" action="/docs">
      ${searchField(t('Search the docs'), q, searchCharsMax)}
    </form></live-search
  >`

const docsNav = (ctx: AppContext, currentPath: string): Html => {
  const groups: Record<string, Record<string, string>> = {}
  for (const page of listDocs(ctx)) {
    groups[page.group] = { ...groups[page.group], [docsPath(page)]: t(page.title) }
  }
  const groupLinks = Object.entries(groups).map(([title, links]) => ({ title: t(title), links }))
  return sideNav(
    t('Docs'),
    [{ title: t('Docs'), links: { '/docs': t('Start') } }, ...groupLinks],
    currentPath,
  )
}

interface LinkedPage {
  path: string
  title: string
}

/** Links to the page before and the page after one. */
export const turnNav = (label: string, before?: LinkedPage, after?: LinkedPage): Html =>
  html`<nav class="turn" aria-label="${label}">
    ${before && html`<a rel="prev" href="${before.path}"><span class="small">Previous</span> ${before.title}</a>`}
    ${after && html`<a rel="next" href="${after.path}"><span class="small">Next</span> ${after.title}</a>`}
  </nav>`

/** Links to the pages before and after one, in the order of the docs. */
export function pageNav(ctx: AppContext, id: string): Html {
  const all = listDocs(ctx)
  const at = all.findIndex((page) => page.id === id)
  const linked = (page: DocsPage | undefined) =>
    page && { path: docsPath(page), title: t(page.title) }
  return turnNav(t('Pages of the docs'), linked(all[at - 1]), linked(all[at + 1]))
}

/** Renders the start of the docs: pages by the goal of the reader, or the results of a search. */
async function docsStart(
  ctx: AppContext,
  query: URLSearchParams,
  readOpenApi: ReadOpenApi,
): Promise<Page> {
  const q = searchTerm(query, searchCharsMax)
  const hits = q === undefined ? [] : await searchDocs(ctx, q, readOpenApi)
  return {
    title: q === undefined ? t('Docs') : t('{q} · Docs', { q }),
    ...(q === undefined && { path: '/docs' }),
    section: '/docs',
    description: t(
      'Publish apps, call models, connect agents: guides by goal, and the API reference.',
    ),
    scripts: ['live-search.js'],
    styles: ['docs.css'],
    main: html`<div class="docs with-side-nav">
      ${docsNav(ctx, '/docs')}
      <div>
        <h1>Docs</h1>
        <p class="lead">Two APIs, one key: one creates and hosts apps, the other calls models.</p>
        ${searchForm(q)}
        <p class="visually-hidden" id="search-status" role="status">
          ${q !== undefined && t('{length} results', { length: hits.length })}
        </p>
        <div id="search-results">${q === undefined ? goals(ctx) : results(q, hits)}</div>
      </div>
    </div>`,
  }
}

function goals(ctx: AppContext): Html {
  const groups = Map.groupBy(listDocs(ctx), ({ group }) => group)
  const { base, gateway, mcp } = ctx.urls
  return html`${[...groups].map(
      ([group, pages]) =>
        html`<section>
          <h2>${t(group)}</h2>
          <ul class="goals">
            ${pages.map(
              (page) =>
                html`<li>
                  <a href="${docsPath(page)}"
                    ><strong>${t(page.goal)}</strong><span>${t(page.title)}</span></a
                  >
                </li>`,
            )}
          </ul>
        </section>`,
    )}
    <section>
      <h2>Addresses</h2>
      <dl>
        <dt>Agent API</dt>
        <dd><code>${base}</code> · <a href="${base}/openapi.json">openapi.json</a></dd>
        <dt>Model gateway</dt>
        <dd>
          <code>${gateway}/v1</code> · <a href="${gateway}/v1/openapi.json">openapi.json</a> ·
          <a href="/catalogue">Models and prices</a>
        </dd>
        <dt>MCP</dt>
        <dd><code>${mcp}</code></dd>
        <dt>For agents</dt>
        <dd>
          <a href="/skill.md">skill.md</a> · <a href="/llms.txt">llms.txt</a> ·
          <a href="/llms-full.txt">llms-full.txt</a>
        </dd>
      </dl>
    </section>`
}

const results = (q: string, hits: Hit[]): Part =>
  hits.length === 0
    ? emptyState(
        html`No results for “<bdi>${q}</bdi>”`,
        t('Try one word, or an operation such as publish.'),
      )
    : html`<ol class="hits">
        ${hits.map(
          ({ path, title, before, match, after }) =>
            html`<li>
              <a href="${path}">${title}</a>
              <p class="small">${before}${match !== '' && html`<mark>${match}</mark>`}${after}</p>
            </li>`,
        )}
      </ol>`

/** Marks an article, which is English in each language of the site. */
const inEnglishOnly = (article: Part): Part =>
  currentLanguage() === 'en' ? article : prose`<div lang="en" dir="ltr">${article}</div>`

/** Renders a page of the docs. Throws `not_found`. */
function docsPage(ctx: AppContext, id: string): Page {
  const page = listDocs(ctx).find((one) => one.id === id && one.main)
  if (!page) throw new ApiError('not_found', { what: t('page of the docs'), see: t('See /docs.') })
  const path = docsPath(page)
  return {
    title: t('{title} · Docs', { title: t(page.title) }),
    path,
    section: '/docs',
    description: t(page.goal),
    scripts: ['copy-line.js', 'docs-values.js'],
    styles: ['docs.css'],
    main: html`<div class="docs with-side-nav">
      ${docsNav(ctx, path)}
      <div>${inEnglishOnly(page.main)}${hasExamples(page) && docsValues}${pageNav(ctx, id)}</div>
    </div>`,
  }
}

const hasExamples = ({ main }: DocsPage): boolean => main?.text.includes('<copy-line') === true

/** The docs, and the values of a person for their examples. */
export const docsRoutes = (ctx: AppContext, layout: Layout, readOpenApi: ReadOpenApi) =>
  pageRoutes(ctx, layout)
    .get('/docs', ({ input }) => {
      const page = () => docsStart(ctx, input.query, readOpenApi)
      return input.query.has('q') ? sendUncached(input, page) : sendPopular(input, '/docs', page)
    })
    .get('/docs/:id', ({ input, params: { id } }) =>
      sendPopular(input, `/docs/${id}`, () => docsPage(ctx, id)),
    )
    .get('/docs/mine', ({ input }) =>
      requireUser(input, async ({ visitor }) =>
        Response.json(
          { app: await findNewestApp(ctx, visitor.person) },
          { headers: { 'cache-control': 'no-store' } },
        ),
      ),
    )
