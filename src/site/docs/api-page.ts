import type { AppContext } from '../../kernel/context.ts'
import { type Html, html } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { checkAgentsOn } from '../../people/authentication.ts'
import { copyLine } from '../components.ts'
import { getGuide } from '../guide/guide.ts'
import type { DescribedOperation } from '../guide/read-description.ts'
import type { Layout, Page } from '../layout.ts'
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
    main: html`<div class="docs">
      <h1>API reference</h1>
      <nav class="parts" aria-label="On this page">
        ${apis.map(({ id, name }) => html`<a href="#${id}">${name}</a>`)}
        <a href="/docs/errors">Errors</a><a href="/docs/scan">Safety check</a>
      </nav>
      <p>${what} ${auth.make} Send it as <code>${auth.header}</code>.</p>
      ${quickstart.slice(0, 2).map(
        ({ step, curl }) =>
          html`<p>${t(step)}</p>
            ${copyLine(curl, t(step))}`,
      )}
      ${searchForm(undefined)} ${apis.map((api) => apiSection(ctx, api))} ${pageNav(ctx, 'api')}
    </div>`,
  }
}

/** Returns a URL of this server for a page of the site: a path where the host is the same. */
function fromSite({ urls }: AppContext, url: string): string {
  const { origin, pathname } = new URL(url)
  return origin === new URL(urls.app).origin ? pathname : url
}

function apiSection(ctx: AppContext, api: ReferencedApi): Html {
  const areas = Map.groupBy(api.operations, ({ tags: [area = ''] }) => area)
  // The reference is in English in every language.
  return html`<section lang="en" dir="ltr">
    <h2 id="${api.id}">${api.name}</h2>
    <p>
      ${
        api.id === 'models' && 'The OpenAI API in front of many models. The same key works there. '
      }<code>${api.url}</code> ·
      <a href="${fromSite(ctx, `${api.url}/openapi.json`)}">openapi.json</a>
    </p>
    ${[...areas].map(
      ([area, operations]) =>
        html`<h3>${area}</h3>
          <ul class="operations">
            ${operations.map((operation) => operationLink(api, operation))}
          </ul>`,
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
