import { toBlob } from '../../kernel/http/entity.ts'
import { asString, parseRecord } from '../../kernel/schema.ts'
import { attributeOf, rewriteTags } from '../folders/page-tags.ts'
import type { AppSource, HostedApp } from './app-source.ts'

/** Fields of the manifest of an app that its page or its folder chooses. */
export interface OwnManifest {
  orientation?: string
  display?: string
  theme_color?: string
  background_color?: string
}

/** The values that are taken over. Anything else stays as it is for all apps. */
const allowed: Record<keyof OwnManifest, RegExp> = {
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

const checked = (given: Record<string, unknown>): OwnManifest =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = asString(given[name]).trim()
      return allowed[name].test(value) ? [[name, value]] : []
    }),
  )

/** Reads `<meta name="screen-orientation">` and `<meta name="theme-color">`. */
function readHead(html: string): OwnManifest {
  const found: Record<string, unknown> = {}
  rewriteTags(html, ({ name, text }) => {
    const kind = name === 'meta' ? attributeOf(text, 'name')?.toLowerCase() : undefined
    const field =
      kind === 'screen-orientation'
        ? 'orientation'
        : kind === 'theme-color'
          ? 'theme_color'
          : undefined
    if (field !== undefined) found[field] ??= attributeOf(text, 'content')
    return ''
  })
  return checked(found)
}

/** Reads what a page and the manifest in its folder choose for the installed app. */
export async function readOwnManifest(source: AppSource, app: HostedApp): Promise<OwnManifest> {
  const { identity } = await source.html(app)
  const head = readHead(new TextDecoder().decode(identity.subarray(0, headBytes)))
  const rows = await source.files(app)
  const row = rows.find(({ name, bytes }) => folderNames.test(name) && bytes <= manifestBytesMax)
  const content = row && (await source.file(row))
  const text = content && (await toBlob(content.identity).text())
  return { ...head, ...checked(parseRecord(text ?? '') ?? {}) }
}
