import type { Trial } from '../browser/preview-browser.ts'
import type { Shown } from '../browser/preview.ts'
import { sha256 } from '../core/ids.ts'
import { once } from '../core/once.ts'
import type { PublicFile } from '../core/public.ts'
import type { Clock } from '../core/time.ts'
import type { Hosted } from './hosted.ts'
import { Pages } from './pages.ts'

const id = 'trial0000000'
/** No such place exists (RFC 6761): whoever opens it has every request answered by us. */
const origin = 'https://trial.invalid'

/** Shows one page that is not published yet as the viewer would, in the same sandbox. */
export const trialBy =
  (files: Map<string, PublicFile>, clock: Clock) =>
  (trial: Trial): Shown => {
    const router = once(async () => {
      const { viewer } = await import('./routes.ts')
      return viewer(new Pages(hostedOf(trial), { app: origin }, clock, files))
    })
    return { url: `${origin}/a/${id}`, answer: async (request) => (await router()).handle(request) }
  }

/** A place with one app. */
function hostedOf({ html, files }: Trial): Hosted {
  const app = {
    id,
    title: 'Trial',
    description: '',
    icon: null,
    maker: 'trial',
    listed: false,
    state: 'live',
    version: 1,
    updated: 0,
  } as const
  const rows = files.map(({ content, ...row }) => ({ ...row, bytes: content.length }))
  return {
    find: async (asked) => (asked === id ? app : undefined),
    opened() {},
    html: async () => ({ sha256: sha256(html), identity: html }),
    files: async () => rows,
    async file(_, name) {
      const at = rows.findIndex((row) => row.name === name)
      const [file, kept] = [rows[at], files[at]]
      return file && kept && { file, content: kept.content }
    },
  }
}
