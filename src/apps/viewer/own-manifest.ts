import { toBlob } from '../../kernel/http/entity.ts'
import { asString, isRecord, lookUp, parseRecord } from '../../kernel/schema.ts'
import { escapeHtml, isPlainLine } from '../../kernel/text.ts'
import { attributeOf, rewriteTags } from '../folders/page-tags.ts'
import { decodeAttribute } from '../knobs/page-knobs.ts'
import type { AppSource, HostedApp } from './app-source.ts'

/** The choices of a page, or of the manifest of its folder, for the installed app. */
interface OwnManifest {
  fields: OwnFields
  /** It takes texts and links that other apps of the device share, or files as well. */
  shares: 'text' | 'files' | undefined
  shortcuts: Shortcut[]
}

/** An entry of the menu of the installed app. */
interface Shortcut {
  name: string
  /** The page, query and fragment that it starts at, relative to the folder, or ''. */
  start: string
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
  const shortcuts: { name: unknown }[] = []
  rewriteTags(html, ({ name, text }) => {
    const meta = name === 'meta' ? attributeOf(text, 'name')?.toLowerCase() : undefined
    const field = lookUp(metaFields, meta)
    if (field) found[field] ??= attributeOf(text, 'content')
    if (meta === 'shortcut')
      shortcuts.push({ name: decodeAttribute(attributeOf(text, 'content') ?? '') })
    return ''
  })
  return { ...found, shortcuts }
}

/** Android and Windows show four. */
const shortcutsMax = 10
const shortcutNameChars = 50

/** Reads the shortcuts of a page, or of a manifest, whose path their URLs are relative to. */
function readShortcuts(given: unknown, path: string): Shortcut[] {
  const folder = new URL('https://folder.invalid/')
  const read = (row: unknown): Shortcut[] => {
    if (!isRecord(row)) return []
    const name = asString(row['name']).trim()
    if (name === '' || !isPlainLine(name, shortcutNameChars)) return []
    const url = URL.parse(asString(row['url']), new URL(path, folder).href)
    const isInside = asString(row['url']) !== '' && url?.origin === folder.origin
    return [{ name, start: isInside ? url.pathname.slice(1) + url.search + url.hash : '' }]
  }
  return (Array.isArray(given) ? given.slice(0, shortcutsMax) : []).flatMap(read)
}

export async function readOwnManifest(source: AppSource, app: HostedApp): Promise<OwnManifest> {
  const { identity } = await source.html(app)
  const head = readHead(new TextDecoder().decode(identity.subarray(0, headBytes)))
  const rows = await source.files(app)
  const row = rows.find(({ name, bytes }) => folderNames.test(name) && bytes <= manifestBytesMax)
  const content = row && (await source.file(row))
  const text = content && (await toBlob(content.identity).text())
  const own = parseRecord(text ?? '') ?? {}
  const shortcuts = readShortcuts(own['shortcuts'], row?.name ?? '')
  return {
    fields: { ...checked(head), ...checked(own) },
    shares: sharesOf(own['share_target']) ?? sharesOf(head['share_target']),
    shortcuts: shortcuts.length > 0 ? shortcuts : readShortcuts(head['shortcuts'], ''),
  }
}

/** Reads the share target of a page, or that of a manifest (Web Share Target API). */
function sharesOf(given: unknown): OwnManifest['shares'] {
  if (given === 'text' || given === 'files') return given
  if (!isRecord(given)) return undefined
  return isRecord(given['params']) && 'files' in given['params'] ? 'files' : 'text'
}

/** Returns the path of an icon of an installed app (src/site/app-icons.ts). */
export function iconPath({ id, icon, cover, restricted }: HostedApp, name: string): string {
  // Browsers fetch icons without the cookie that opens a restricted app.
  const image = restricted ? undefined : (icon ?? cover)
  const [, hash] = /-(\w+)\.\w+$/.exec(image ?? '') ?? []
  return `/icons/${id}/${name}.png${hash === undefined ? '' : `?v=${hash}`}`
}

const iconsOf = (app: HostedApp) =>
  [
    ['192', '192x192', 'any'],
    ['512', '512x512', 'any'],
    ['maskable', '512x512', 'maskable'],
  ].map(([name = '', sizes, purpose]) => {
    return { src: iconPath(app, name), sizes, type: 'image/png', purpose }
  })

const shortNameChars = 24
/** Names of the query in which the shell reads what is shared (public/frame/received.ts). */
const shareParams = { title: 'title', text: 'text', url: 'url' }

const shortcutUrl = (at: string, { name, start }: Shortcut): string =>
  `${at}?${new URLSearchParams({ shortcut: name, ...(start !== '' && { start }) })}`
/** A browser sends files to the worker of the app, which hands them to its page. */
const fileParams = { ...shareParams, files: [{ name: 'files', accept: ['*/*'] }] }
/** Behind an app while it starts, where it has no cover. */
const color = '#17191b'

/** Returns the path of the manifest of the app at a path. */
export const manifestPath = (at: string): string => `${at}/manifest.webmanifest`

/** Returns what a page links to, from which an app can be installed. iOS takes no other icon. */
export const manifestLinks = (app: HostedApp): string =>
  `<link rel=manifest href=${manifestPath(`/a/${app.id}`)} crossorigin=use-credentials><link rel=apple-touch-icon href="${escapeHtml(iconPath(app, '192'))}">`

/**
 * Returns the manifest with which browsers install one app, as an app of its own
 * (https://www.w3.org/TR/appmanifest/). `own` is what its page chooses. Only an
 * app with a copy has a worker, which takes shared files.
 */
export function appManifest(app: HostedApp, own: OwnManifest, hasCopy: boolean): string {
  const { fields, shares, shortcuts } = own
  const { id, title, description } = app
  const at = `/a/${id}`
  return JSON.stringify({
    id: at,
    name: title,
    short_name: title.slice(0, shortNameChars).toWellFormed(),
    ...(description !== '' && { description }),
    // So the page knows that it is installed (public/frame/copy-worker.ts).
    start_url: `${at}?installed`,
    scope: at,
    display: 'fullscreen',
    orientation: 'any',
    background_color: app.color ?? color,
    theme_color: app.color ?? color,
    icons: iconsOf(app),
    ...fields,
    ...(shortcuts.length > 0 && {
      shortcuts: shortcuts.map((one) => ({ name: one.name, url: shortcutUrl(at, one) })),
    }),
    ...(shares && { share_target: shareTarget(at, shares === 'files' && hasCopy) }),
  })
}

const shareTarget = (action: string, takesFiles: boolean) =>
  takesFiles
    ? { action, method: 'POST', enctype: 'multipart/form-data', params: fileParams }
    : { action, method: 'GET', params: shareParams }
