import type { HostedApp } from './app-source.ts'
import type { OwnManifest } from './own-manifest.ts'

const siteIcons = [
  { src: '/static/icon-192.png', sizes: '192x192', type: 'image/png' },
  { src: '/static/icon-512.png', sizes: '512x512', type: 'image/png' },
]

const shortNameChars = 24
/** Names of the query in which the shell reads what is shared (public/frame/received.ts). */
const shareParams = { title: 'title', text: 'text', url: 'url' }
/** A browser sends files to the worker of the app, which hands them to its page. */
const fileParams = { ...shareParams, files: [{ name: 'files', accept: ['*/*'] }] }
/** Behind an app while it starts, where it has no cover. */
const color = '#17191b'

/** Returns the path of the manifest of the app at a path. */
export const manifestPath = (at: string): string => `${at}/manifest.webmanifest`

/**
 * Returns the manifest with which browsers install one app, as an app of its own
 * (https://www.w3.org/TR/appmanifest/). `own` is what its page chooses. Only an
 * app with a copy has a worker, which takes shared files.
 */
export function appManifest(app: HostedApp, own: OwnManifest, hasCopy: boolean): string {
  const { fields, shares } = own
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
    ...(shares && { share_target: shareTarget(at, shares === 'files' && hasCopy) }),
  })
}

const shareTarget = (action: string, takesFiles: boolean) =>
  takesFiles
    ? { action, method: 'POST', enctype: 'multipart/form-data', params: fileParams }
    : { action, method: 'GET', params: shareParams }
