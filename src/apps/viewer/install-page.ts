import { escapeHtml } from '../../kernel/text.ts'
import type { HostedApp } from './app-source.ts'
import { manifestPath } from './manifest.ts'
import { messageDocument, type PageAssets } from './page.ts'
import { messageHeaders } from './policy.ts'

/** Returns the path of the page that installs the app at a path. It is in the scope of the app. */
export const installPath = (at: string): string => `${at}/install`

const menus = [
  ['Safari on iPhone and iPad', 'Share, then Add to Home Screen'],
  ['Safari on Mac', 'File, then Add to Dock'],
  ['Chrome and Edge', 'Menu, then Install or Add to home screen'],
  ['Firefox on Android', 'Menu, then Add to Home screen'],
] as const

const online = 'It needs the network.'
const offline =
  'Without a network it opens with what you saved in it. What it gets from this server, such as models, scores and shared data, needs the network.'

/**
 * Renders the page that installs an app. The page of the app itself has only a link to it, and
 * loads no script for it.
 */
export function installPage(app: HostedApp, parts: PageAssets, hasCopy: boolean): Response {
  const at = `/a/${app.id}`
  const manifest = `<link rel=manifest href=${manifestPath(at)} crossorigin=use-credentials>`
  const title = escapeHtml(app.title)
  const help = menus.map(([browser, menu]) => `<li><b>${browser}</b><br>${menu}`).join('')
  const body = `<h1>Install ${title}</h1><p>It opens like an app of its own, in full screen. ${hasCopy ? offline : online}</p>
${hasCopy ? '<p id=copied role=status></p>' : ''}<p id=done role=status></p><p><button id=install hidden>Install</button></p><ul id=help>${help}</ul>
<p><a class=quiet href=${at}>Open the app</a></p>`
  const headers = messageHeaders(parts.messageStyle.hash, parts.install.hash)
  const policy = headers['content-security-policy'] ?? ''
  return new Response(
    messageDocument({ title: `Install ${app.title}`, body, more: manifest }, parts) +
      `<script>${parts.install.text}</script>`,
    {
      headers: {
        ...headers,
        'content-security-policy': `${policy}; manifest-src 'self'; img-src 'self'; worker-src 'self'`,
      },
    },
  )
}
