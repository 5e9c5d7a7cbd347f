import { Html, html } from '../../kernel/html.ts'
import { escapeHtml } from '../../kernel/text.ts'
import { t } from '../../kernel/words/message.ts'
import { languageAttributes, scriptWords } from '../../kernel/words/words.ts'
import type { HostedApp } from './app-source.ts'
import { head, type PageAssets } from './page.ts'
import { controllerHeaders, operationSources } from './policy.ts'

/** Returns the path of the page that makes a phone a controller of the app at a path. */
export const controllerPath = (at: string): string => `${at}/controller`

const codePattern = /^[A-Z2-9]{5}$/

/** Returns the code of controllers in the query of a request, or ''. */
export function codeIn({ url }: Pick<Request, 'url'>, name: string): string {
  const code = new URL(url).searchParams.get(name) ?? ''
  return codePattern.test(code) ? code : ''
}

interface ControllerOptions {
  /** The code of the large screen, or '' to ask for it. */
  code: string
  /** The host by which the phone reaches this server. */
  host: string
  assets: PageAssets
}

/**
 * Renders the page that makes a phone a controller of an app on a large screen (`service.room`).
 * The app itself does not run in it.
 */
export function controllerPage(
  app: HostedApp,
  { code, host, assets }: ControllerOptions,
): Response {
  const body = html`<header>
      <h1 dir="auto">${app.title}</h1>
      <p id="player" role="status" hidden></p>
    </header>
    <main>
      <form>
        <h2>Use this phone as a controller</h2>
        <label
          >Code on the large screen<input
            value="${code}"
            maxlength="5"
            dir="ltr"
            autocapitalize="characters"
            autocomplete="off"
            autocorrect="off"
            spellcheck="false"
            required
        /></label>
        <p>
          This app shares what you do in it with its other players and its maker,
          <bdi>@${app.maker}</bdi>.
        </p>
        <button>Connect</button>
        <p id="status" role="status">
          <noscript>A controller needs JavaScript. Turn it on.</noscript>
        </p>
      </form>
      <section id="pad" aria-label="Controller" hidden></section>
    </main>
    ${new Html(scriptWords('bridge'))}`.text
  return new Response(
    `<!doctype html><html ${languageAttributes()} data-app=${app.id} data-maker="@${escapeHtml(app.maker)}">
${head(t('Controller of {title}', { title: app.title }), assets.controllerStyle.text, '')}
<body>${body}<script>${assets.controller.text}</script>`,
    {
      headers: controllerHeaders({
        scriptHash: assets.controller.hash,
        styleHash: assets.controllerStyle.hash,
        operations: operationSources(host, app.id, { hasBridge: true, hasKnobs: false }),
      }),
    },
  )
}
