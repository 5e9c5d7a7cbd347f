import { toBlob } from '../../kernel/http/entity.ts'
import { asString, isRecord, lookUp, parseRecord } from '../../kernel/schema.ts'
import { attributeOf, rewriteTags } from '../folders/page-tags.ts'
import type { AppSource, HostedApp } from './app-source.ts'

/** The choices of a page, or of the manifest of its folder, for the installed app. */
interface OwnManifest {
  fields: OwnFields
  /** It takes texts and links that other apps of the device share, or files as well. */
  shares: 'text' | 'files' | undefined
}

interface OwnFields {
  orientation?: string
  display?: string
  theme_color?: string
  background_color?: string
}

/** The values that are taken over. Anything else stays as it is for all apps. */
const allowed: Record<keyof OwnFields, RegExp> = {
  orientation: /^(?:any|natural|(?:landscape|portrait)(?:-primary|-secondary)?)$/,
  display: /^(?:fullscreen|standalone|minimal-ui)$/,
  theme_color: /^#[\da-f]{6}$/i,
  background_color: /^#[\da-f]{6}$/i,
}
const names = ['orientation', 'display', 'theme_color', 'background_color'] as const

/** Start of a page in which its head is looked for. */
const headBytes = 65_536
const manifestBytesMax = 65_536
const folderNames = /^(?:[\w-]+\/)?(?:manifest\.json|[\w-]+\.webmanifest)$/

const checked = (given: Record<string, unknown>): OwnFields =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = asString(given[name]).trim()
      return allowed[name].test(value) ? [[name, value]] : []
    }),
  )

/** Fields of the manifest by the names of `<meta>`. */
const metaFields = {
  'screen-orientation': 'orientation',
  'theme-color': 'theme_color',
  'share-target': 'share_target',
}

/** Reads the `<meta>` elements of a page that are for its manifest. */
function readHead(html: string): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  rewriteTags(html, ({ name, text }) => {
    const field = name === 'meta' && lookUp(metaFields, attributeOf(text, 'name')?.toLowerCase())
    if (field) found[field] ??= attributeOf(text, 'content')
    return ''
  })
  return found
}

export async function readOwnManifest(source: AppSource, app: HostedApp): Promise<OwnManifest> {
  const { identity } = await source.html(app)
  const head = readHead(new TextDecoder().decode(identity.subarray(0, headBytes)))
  const rows = await source.files(app)
  const row = rows.find(({ name, bytes }) => folderNames.test(name) && bytes <= manifestBytesMax)
  const content = row && (await source.file(row))
  const text = content && (await toBlob(content.identity).text())
  const own = parseRecord(text ?? '') ?? {}
  return {
    fields: { ...checked(head), ...checked(own) },
    shares: sharesOf(own['share_target']) ?? sharesOf(head['share_target']),
  }
}

/** Reads the share target of a page, or that of a manifest (Web Share Target API). */
function sharesOf(given: unknown): OwnManifest['shares'] {
  if (given === 'text' || given === 'files') return given
  if (!isRecord(given)) return undefined
  return isRecord(given['params']) && 'files' in given['params'] ? 'files' : 'text'
}

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
