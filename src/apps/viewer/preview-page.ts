import { newSecret, sha256 } from '../../kernel/ids.ts'
import { lazy } from '../../kernel/lazy.ts'
import type { PublicFile } from '../../kernel/public-files.ts'
import type { Clock } from '../../kernel/time.ts'
import type { PreviewPage } from '../browser/page-session.ts'
import type { PreviewInput } from '../browser/preview-browser.ts'
import type { Resolution } from '../libraries/resolution.ts'
import type { AppSource } from './app-source.ts'
import { Pages } from './pages.ts'

const id = 'preview00000'
/** A reserved host (RFC 6761). The preview browser intercepts all requests to it. */
const origin = 'https://preview.invalid'

/** Finds the libraries of an unpublished page; undefined when it names none. */
type ResolveLibraries = (html: Uint8Array) => Promise<Resolution | undefined>

/** Returns a function that renders an unpublished page as the viewer does, in the same sandbox. */
export const previewPages =
  (files: ReadonlyMap<string, PublicFile>, clock: Clock, resolve: ResolveLibraries) =>
  (input: PreviewInput): PreviewPage => {
    const router = lazy(async () => {
      const { viewerRoutes: viewer } = await import('./routes.ts')
      return viewer(
        new Pages(singleApp(input, resolve), { app: origin }, clock, newSecret(), files),
      )
    })
    return {
      // The page without its bar.
      url: `${origin}/a/${id}#bare`,
      respond: async (request) => (await router()).handle(request),
    }
  }

/** An AppSource with one app. */
function singleApp({ html, files }: PreviewInput, resolve: ResolveLibraries): AppSource {
  const libraries = lazy(() => resolve(html))
  const app = {
    id,
    title: 'Preview',
    description: '',
    icon: null,
    maker: 'preview',
    listed: false,
    state: 'live',
    version: 1,
    updated: 0,
  } as const
  const rows = files.map(({ content, ...row }) => ({ ...row, bytes: content.length }))
  return {
    find: async (requested) => (requested === id ? app : undefined),
    recordOpen() {},
    async html() {
      const hasLibraries = ((await libraries())?.files.length ?? 0) > 0
      return { sha256: sha256(html), identity: html, hasLibraries }
    },
    libraries: async () => (await libraries()) ?? null,
    libraryFile: async (requested) =>
      (await libraries())?.contents.find((file) => file.sha256 === requested),
    files: async () => rows,
    async file({ name, sha256: hash }) {
      const kept =
        files.find((file) => file.name === name) ??
        (await libraries())?.contents.find((file) => file.sha256 === hash)
      return kept && { identity: kept.content }
    },
  }
}
