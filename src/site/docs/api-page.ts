import type { AppContext } from '../../kernel/context.ts'
import { type Html, html } from '../../kernel/html.ts'
import { checkAgentsOn } from '../../people/authentication.ts'
import { copyLine } from '../components.ts'
import { getGuide } from '../guide/guide.ts'
import type { Layout, Page } from '../layout.ts'
import { pageNav } from './docs.ts'

/** Renders the reference of both APIs: their operations. Throws `agents_off`. */
export function apiPage(ctx: AppContext, layout: Layout): Page {
  checkAgentsOn(ctx)
  const { base, gateway } = ctx.urls
  const openApi = fromSite(ctx, `${base}/openapi.json`)
  const { what, quickstart, auth } = getGuide(ctx)
  const steps = quickstart.slice(0, 2)
  return {
    title: 'API reference',
    path: '/docs/api',
    section: '/docs',
    description: 'All operations of the Agent API and the model gateway, to read and to try.',
    styles: ['swagger-ui.css', 'docs.css'],
    scripts: ['copy-line.js', 'swagger-ui.js', 'api-reference.js'],
    headers: { 'content-security-policy': policyOf(ctx, layout) },
    main: html`<div class="docs">
      <h1>API reference</h1>
      <nav class="parts" aria-label="On this page">
        <a href="#operations">Agent API</a><a href="#models">Model gateway</a
        ><a href="/docs/errors">Errors</a><a href="/docs/scan">Safety check</a
        ><a href="${openApi}">openapi.json</a>
      </nav>
      <p>${what} ${auth.make} Send it as <code>${auth.header}</code>.</p>
      ${steps.map(
        ({ step, curl }) =>
          html`<p>${step}</p>
            ${copyLine(curl, step)}`,
      )}
      <section>
        <h2 id="operations">Agent API</h2>
      </section>
      ${reference(openApi)}
      <section>
        <h2 id="models">Model gateway</h2>
        <p>
          The OpenAI API in front of many models, at <code>${gateway}/v1</code>. The same key works
          there.
        </p>
      </section>
      ${reference(fromSite(ctx, `${gateway}/v1/openapi.json`))} ${pageNav(ctx, 'api')}
    </div>`,
  }
}

/** Returns a URL of this server for a page of the site: a path where the host is the same. */
function fromSite({ urls }: AppContext, url: string): string {
  const { origin, pathname } = new URL(url)
  return origin === new URL(urls.app).origin ? pathname : url
}

/** Swagger UI has images in its styles and calls both APIs, which may have hosts of their own. */
function policyOf({ urls: { base, gateway } }: AppContext, { headers }: Layout): string {
  const origins = [...new Set([base, gateway].map((url) => new URL(url).origin))].join(' ')
  return `${headers['content-security-policy']}`
    .replace(/img-src [^;]+/, '$& data:')
    .replace(/connect-src [^;]+/, `$& ${origins}`)
}

const reference = (openApi: string): Html =>
  html`<api-reference src="${openApi}"
    ><noscript
      >The operations need JavaScript. <a href="${openApi}">${openApi}</a> has the same
      content.</noscript
    ></api-reference
  >`
