import type { HostedApp } from './app-source.ts'
import type { OwnManifest } from './own-manifest.ts'

const siteIcons = [
  { src: '/static/icon-192.png', sizes: '192x192', type: 'image/png' },
  { src: '/static/icon-512.png', sizes: '512x512', type: 'image/png' },
]

const shortNameChars = 24
/** Names of the query in which the shell reads what is shared (public/frame/received.ts). */
const shareParams = { title: 'title', text: 'text', url: 'url' }
/** Behind an app while it starts, where it has no cover. */
const color = '#17191b'

/** Returns the path of the manifest of the app at a path. */
export const manifestPath = (at: string): string => `${at}/manifest.webmanifest`

/**
 * Returns the manifest with which browsers install one app, as an app of its own
 * (https://www.w3.org/TR/appmanifest/). The second parameter is what its page
 * chooses.
 */
export function appManifest(app: HostedApp, { fields, takesShares }: OwnManifest): string {
  const { id, title, description, icon, restricted } = app
  const at = `/a/${id}`
  // Browsers fetch icons without the cookie that opens a restricted app.
  const ownIcons =
    icon === null || restricted ? [] : [{ src: icon, sizes: '512x512', type: 'image/png' }]
  return JSON.stringify({
    id: at,
    name: title,
    short_name: title.slice(0, shortNameChars).toWellFormed(),
    ...(description !== '' && { description }),
    start_url: at,
    scope: at,
    display: 'fullscreen',
    orientation: 'any',
    background_color: app.color ?? color,
    theme_color: app.color ?? color,
    icons: ownIcons.length > 0 ? ownIcons : siteIcons,
    ...fields,
    ...(takesShares && { share_target: { action: at, method: 'GET', params: shareParams } }),
  })
}
