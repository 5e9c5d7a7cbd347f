import { Html, html } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { scriptWords } from '../../kernel/words/words.ts'
import type { HostedApp } from './app-source.ts'
import { iconPath, manifestLinks } from './own-manifest.ts'
import { messageDocument, type PageAssets } from './page.ts'
import { messageHeaders } from './policy.ts'

/** Returns the path of the page that installs the app at a path. It is in the scope of the app. */
export const installPath = (at: string): string => `${at}/install`

const menus = [
  [msg('Safari on iPhone and iPad'), msg('Share, then Add to Home Screen')],
  [msg('Safari on Mac'), msg('File, then Add to Dock')],
  [msg('Chrome and Edge'), msg('Menu, then Install or Add to home screen')],
  [msg('Firefox on Android'), msg('Menu, then Add to Home screen')],
] as const

/**
 * Renders the page that installs an app. The page of the app itself has only a link to it, and
 * loads no script for it.
 */
export function installPage(app: HostedApp, parts: PageAssets, hasCopy: boolean): Response {
  const at = `/a/${app.id}`
  const title = t('Install {title}', { title: app.title })
  const about = hasCopy
    ? html`<p>
          It opens like an app of its own, in full screen. Without a network it opens with what you
          saved in it. What it gets from this server, such as models, scores and shared data, needs
          the network.
        </p>
        <p id="copied" role="status"></p>`
    : html`<p>It opens like an app of its own, in full screen. It needs the network.</p>`
  const body = html`<img src="${iconPath(app, '192')}" alt="" width="96" height="96" />
    <h1>${title}</h1>
    ${about}
    <p id="done" role="status"></p>
    <p><button id="install" hidden>Install</button></p>
    <ul id="help">
      ${menus.map(([browser, menu]) => html`<li><b>${browser}</b><br />${menu}</li>`)}
    </ul>
    <p><a class="quiet" href="${at}">Open the app</a></p>
    ${new Html(scriptWords('frame'))}`.text
  const headers = messageHeaders(parts.messageStyle.hash, parts.install.hash)
  const policy = headers['content-security-policy'] ?? ''
  return new Response(
    messageDocument({ title, body, more: manifestLinks(app) }, parts) +
      `<script>${parts.install.text}</script>`,
    {
      headers: {
        ...headers,
        'content-security-policy': `${policy}; manifest-src 'self'; img-src 'self'; worker-src 'self'`,
      },
    },
  )
}
