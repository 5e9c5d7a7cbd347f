import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, prose } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { checkAgentsOn } from '../../people/authentication.ts'
import { copyLine } from '../components.ts'
import { getGuide } from '../guide/guide.ts'
import type { DescribedOperation } from '../guide/read-description.ts'
import type { Layout, Page } from '../layout.ts'
import { sideNav } from '../lists.ts'
import { sendPopular } from '../public-pages.ts'
import { pageRoutes } from '../session.ts'
import { listApis, operationPath, type ReadOpenApi, type ReferencedApi } from './api-operations.ts'
import { pageNav, searchForm } from './docs.ts'

/** The index of the API reference. */
export const apiRoutes = (ctx: AppContext, layout: Layout, readOpenApi: ReadOpenApi) =>
  pageRoutes(ctx, layout).get('/docs/api', ({ input }) =>
    sendPopular(input, '/docs/api', () => apiPage(ctx, readOpenApi)),
  )

/** Renders the index of the API reference: every operation of both APIs. Throws `agents_off`. */
async function apiPage(ctx: AppContext, readOpenApi: ReadOpenApi): Promise<Page> {
  checkAgentsOn(ctx)
  const apis = await listApis(ctx, readOpenApi)
  const { what, quickstart, auth } = getGuide(ctx)
  return {
    title: t('API reference'),
    path: '/docs/api',
    section: '/docs',
    description: t('All operations of the Agent API and the model gateway, to read and to try.'),
    styles: ['docs.css'],
    scripts: ['copy-line.js'],
    main: html`<div class="docs with-side-nav">
      ${partsNav(apis)}
      <div>
        <h1>API reference</h1>
        ${searchForm(undefined)}
        <p>${what} ${auth.make} Send it as <code>${auth.header}</code>.</p>
        ${quickstart.slice(0, 2).map(
          ({ step, curl }) =>
            html`<p>${t(step)}</p>
              ${copyLine(curl, t(step))}`,
        )}
        ${apis.map((api) => apiSection(ctx, api))} ${pageNav(ctx, 'api')}
      </div>
    </div>`,
  }
}

/** Returns the operations of an API by their areas. */
const areasOf = ({ operations }: ReferencedApi): Map<string, DescribedOperation[]> =>
  Map.groupBy(operations, ({ tags: [area = ''] }) => area)

/** Returns the ID of the list of an area. A link to it opens the list. */
const areaId = ({ id }: ReferencedApi, area: string): string =>
  `${id}-${area.toLowerCase().replace(/\W+/g, '-')}`

/** Links to the areas of both APIs. */
function partsNav(apis: ReferencedApi[]): Html {
  const links = {
    '/docs': t('Docs'),
    '/docs/errors': t('Errors'),
    '/docs/scan': t('Safety check'),
  }
  const parts = apis.map((api) => ({
    title: api.name,
    links: Object.fromEntries(
      [...areasOf(api).keys()].map((area) => [`#${areaId(api, area)}`, area]),
    ),
  }))
  return sideNav(t('On this page'), [{ title: t('Docs'), links }, ...parts])
}

/** Returns a URL of this server for a page of the site: a path where the host is the same. */
function fromSite({ urls }: AppContext, url: string): string {
  const { origin, pathname } = new URL(url)
  return origin === new URL(urls.app).origin ? pathname : url
}

function apiSection(ctx: AppContext, api: ReferencedApi): Html {
  // The reference is in English in every language.
  return html`<section lang="en" dir="ltr">
    <h2 id="${api.id}">${api.name}</h2>
    <p>
      ${
        api.id === 'models' && 'The OpenAI API in front of many models. The same key works there. '
      }<code>${api.url}</code> ·
      <a href="${fromSite(ctx, `${api.url}/openapi.json`)}">openapi.json</a>
    </p>
    ${[...areasOf(api)].map(
      ([area, operations]) =>
        html`<details class="area">
          <summary>
            <h3>${area}</h3>
            ${prose`<span class="small">${operations.length} operations</span>`}
          </summary>
          <ul class="operations" id="${areaId(api, area)}">
            ${operations.map((operation) => operationLink(api, operation))}
          </ul>
        </details>`,
    )}
  </section>`
}

const operationLink = (api: ReferencedApi, operation: DescribedOperation): Html =>
  html`<li>
    <a href="${operationPath(api, operation)}"
      >${methodName(operation)}<code>${operation.path}</code><span>${operation.summary}</span></a
    >
  </li>`

/** The method of an operation; red for what deletes. */
export const methodName = ({ method }: DescribedOperation): Html =>
  html`<span class="method${method === 'DELETE' && ' danger'}">${method}</span>`
