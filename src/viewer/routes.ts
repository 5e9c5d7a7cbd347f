import { Elysia } from 'elysia'

import { answer, type Entity, entity } from '../core/entity.ts'
import { theFile } from '../core/public.ts'
import { wordPage } from './page.ts'
import type { Pages } from './pages.ts'
import { dataHeaders, frameHeaders, knowsWebrtc, wordHeaders } from './policy.ts'

type Found = NonNullable<Awaited<ReturnType<Pages['find']>>>

interface Asked {
  request: Request
  params: Record<string, string>
}

/** Why an app cannot be opened, in words for its page and as an answer to its data addresses. */
const words = {
  not_found: {
    status: 404,
    title: 'No app here',
    text: 'This link leads to no app. Perhaps a letter of it was lost on the way.',
  },
  building: {
    status: 200,
    title: 'Being built',
    text: 'This app is being made right now, which takes about a minute. The page opens by itself.',
  },
  held: {
    status: 403,
    title: 'Warning: this may be unsafe',
    text: 'This app was reported, or looked unsafe to the safety check. It is not shown until somebody has looked at it. If you typed a password into it, change that password.',
  },
  taken_down: {
    status: 410,
    title: 'Taken down',
    text: 'This app broke the rules of this place and is no longer shown.',
  },
  closed: {
    status: 410,
    title: 'No longer here',
    text: 'Its maker has closed this app.',
  },
} as const

type Word = keyof typeof words

/** A page that says one thing, in the shell's own dress; how much of it is `done`, 0 to 1. */
export function wordAnswer(pages: Pages, word: Word, done?: number): Response {
  const { status, title, text } = words[word]
  const body = wordPage(title, text, pages.parts, done)
  const { wordHash, liveHash } = pages.parts
  const headers = wordHeaders(wordHash, done === undefined ? undefined : liveHash)
  return new Response(body, { status, headers })
}

const codes = {
  not_found: [404, 'not_found'],
  building: [404, 'not_found'],
  held: [403, 'held'],
  taken_down: [410, 'taken_down'],
  closed: [410, 'taken_down'],
} as const

function refusal(word: Word): Response {
  const { text } = words[word]
  const [status, code] = codes[word]
  const headers = dataHeaders('application/json', 'no-store')
  return new Response(JSON.stringify({ error: text, code }), { status, headers })
}

type Make = (pages: Pages, page: Found, asked: Asked) => Response | Promise<Response>
type Route = [path: string, answer: (asked: Asked) => Response | Promise<Response>]

/** Answers an address below a live app; everything else is a short JSON refusal. */
const below =
  (pages: Pages, make: Make) =>
  async (asked: Asked): Promise<Response> => {
    const page = await pages.find(asked.params['id'] ?? '')
    if (!page) return refusal('not_found')
    const { state } = page.app
    return state === 'live' ? make(pages, page, asked) : refusal(state)
  }

/** One version of an app, for who may preview it: the same shell and data, kept by no cache. */
const preview =
  (pages: Pages, make: Make) =>
  async (asked: Asked): Promise<Response> => {
    const { id = '', version = '' } = asked.params
    const page = await pages.preview(id, version, asked.request)
    const response = page ? await make(pages, page, asked) : wordAnswer(pages, 'not_found')
    response.headers.set('cache-control', 'private, no-store')
    return response
  }

const shell: Make = (pages, page, { request }) =>
  answer(request, pages.shell(page, request.headers.get('host')))

const data: Make = async (pages, page, { request }) => answer(request, await pages.data(page))

const files: Make = async (pages, page, { request }) => answer(request, await pages.files(page))

const file: Make = async (pages, page, { request, params }) => {
  const found = await pages.hosted.file(page.app, params['name'] ?? '')
  if (!found) return refusal('not_found')
  const { type, sha256 } = found.file
  // Under an address that names its content it never changes; private, so that what is taken down
  // does not live on in a cache that serves others.
  const named = new URL(request.url).searchParams.get('h') === sha256
  const cache = named ? 'private, max-age=31536000, immutable' : 'no-cache'
  const content = { etag: sha256, identity: found.content }
  return answer(request, entity(content, dataHeaders(type, cache)))
}

/** The wrapper, answered only into a frame: opened by itself there is nothing to see. */
function frame(pages: Pages): (asked: Asked) => Response {
  const page = theFile(pages.public, 'frame/frame.html')
  const { app, apps } = pages.urls
  const made = new Map<boolean, Entity>()
  return ({ request }) => {
    const into = request.headers.get('sec-fetch-dest')
    const elsewhere = apps !== undefined && request.headers.get('host') !== pages.appsHost
    if (elsewhere || (into !== null && into !== 'iframe')) return wordAnswer(pages, 'not_found')
    const hasWebrtc = knowsWebrtc(request.headers.get('user-agent') ?? '')
    const kept =
      made.get(hasWebrtc) ??
      entity(page, frameHeaders(apps === undefined ? "'self'" : app, hasWebrtc))
    made.set(hasWebrtc, kept)
    return answer(request, kept)
  }
}

/** Notes a visit: of a link, and of its page where that is fetched alone; together they are one. */
async function note({ hosted }: Pages, { app }: Found, { request }: Asked): Promise<void> {
  if (request.method === 'GET') hosted.opened(app, request)
  await hosted.used?.(app, request)
}

/** Public links: the shell, the sandbox's wrapper, and an app's page and files as data. */
export function viewer(pages: Pages) {
  const routes: Route[] = [
    [
      '/a/:id',
      async (asked) => {
        const page = await pages.find(asked.params['id'] ?? '')
        if (!page) return wordAnswer(pages, 'not_found')
        const { state } = page.app
        if (state === 'building') {
          return wordAnswer(pages, state, (await pages.hosted.built?.(page.app)) ?? 0)
        }
        if (state !== 'live') return wordAnswer(pages, state)
        await note(pages, page, asked)
        return shell(pages, page, asked)
      },
    ],
    [
      '/a/:id/data',
      below(pages, async (_, page, asked) => {
        await note(pages, page, asked)
        return data(pages, page, asked)
      }),
    ],
    ['/a/:id/files', below(pages, files)],
    ['/a/:id/files/:name', below(pages, file)],
    ['/a/:id/versions/:version', preview(pages, shell)],
    ['/a/:id/versions/:version/data', preview(pages, data)],
    ['/a/:id/versions/:version/files', preview(pages, files)],
    ['/a/:id/versions/:version/files/:name', preview(pages, file)],
    ['/frame', frame(pages)],
  ]
  const plugin = new Elysia({ name: 'viewer' })
  const { appsHost } = pages
  if (appsHost !== undefined) {
    // The apps' own host serves the wrapper and nothing else of ours, whatever room it is from.
    plugin.onRequest(({ request }) => {
      if (request.headers.get('host') !== appsHost) return undefined
      return new URL(request.url).pathname === '/frame' ? undefined : wordAnswer(pages, 'not_found')
    })
  }
  for (const [path, handler] of routes) {
    // Named one by one: given the whole context, the router would parse cookies and query for it.
    plugin.get(path, ({ request, params }) => handler({ request, params }))
    plugin.head(path, ({ request, params }) => handler({ request, params }))
  }
  return plugin
}
