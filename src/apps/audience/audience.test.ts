/** One topic, a table of audiences and strangers: each test is a row of it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { shareLinksPerAppMax } from '../../kernel/limits.ts'
import { nano } from '../../kernel/money.ts'
import { day, minute } from '../../kernel/time.ts'
import { setGroup } from '../../people/groups.ts'
import { suspendPerson } from '../../people/sessions.ts'
import { agentOperations } from '../../server/agent-api.ts'
import { catchError } from '../../testing/catch-error.ts'
import { expectError } from '../../testing/expect-error.ts'
import { send } from '../../testing/fixtures/mcp-server.ts'
import {
  createTestPerson,
  createTestSession,
  getPerson,
  type TestPerson,
} from '../../testing/fixtures/people.ts'
import { openSession, type RealtimeClient } from '../../testing/fixtures/realtime-client.ts'
import { serve } from '../../testing/fixtures/serve.ts'
import { listSiteRoutes } from '../../testing/fixtures/site-routes.ts'
import {
  type RequestOptions,
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { getDocument, listOperations } from '../../testing/openapi/document.ts'
import { generateRequest, golden } from '../../testing/openapi/request-generator.ts'
import { giveConsent, revokeConsent } from '../ai/consents.ts'
import { keepLive } from '../app-data/live-session.ts'
import type { Audience } from '../kinds.ts'

const page = '<!doctype html><title>Secret plan</title><link rel=stylesheet href=a.css><p>Plan'
const files = [
  { path: 'index.html', text: page },
  { path: 'a.css', text: 'p { color: red }' },
]
const password = 'open sesame'
const unknown = 'AAAAAAAAAAAA'

let t: TestServer
let ann: TestAgent
let olga: TestPerson
let id: string
/** Paths of the cover and the icon. */
let images: string[] = []
/** Headers of each kind of stranger and of those who may open the app. */
let openers: Record<string, RequestOptions>
/** A request that passes validation, with a body where the operation has one. */
type ValidRequest = Pick<RequestOptions, 'body' | 'headers'> & { query: string }
/** Valid requests by the names of their operations. */
let validRequests: Map<string, ValidRequest>

const cookieOf = async (person: TestPerson): Promise<RequestOptions> => {
  const { cookie } = await createTestSession(t, person)
  return { headers: { cookie } }
}

/** Returns the cookies that a response sets, as a browser sends them. */
const cookiesIn = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .join('; ')

async function linkCookies(
  name: string,
  more = {},
): Promise<{ link: string; sent: RequestOptions }> {
  const made = await ann.call('POST', `/apps/${id}/links`, { name, ...more })
  const opened = await t.request('GET', new URL(made.text('url')).pathname)
  expect([opened.status, opened.headers.get('location')]).toEqual([303, `/a/${id}`])
  return { link: made.text('link.id'), sent: { headers: { cookie: cookiesIn(opened.headers) } } }
}

async function expiredCookies(): Promise<RequestOptions> {
  const expiresAt = new Date(t.clock.now() + minute).toISOString()
  const { sent } = await linkCookies('expired', { expiresAt })
  t.clock.advance(minute)
  return sent
}

async function passwordCookies(): Promise<RequestOptions> {
  const opened = await t.call('POST', `/apps/${id}/open`, { body: { password } })
  expect(opened.status).toBe(200)
  return { headers: { cookie: cookiesIn(opened.headers) } }
}

const setAudience = (audience: Audience, more = {}) =>
  ann.call('PATCH', `/apps/${id}/audience`, { audience, ...more })

async function claim(agent: TestAgent, person: TestPerson): Promise<void> {
  const code = (await agent.call('POST', '/me/claim')).text('claim.code')
  expect((await person.call('POST', '/claim', { code })).status).toBe(200)
}

async function createRequests(): Promise<typeof validRequests> {
  const names = { item: unknown, skill: unknown, code: 'AAAA-AAAA-AAAA' }
  const known = { key: '', personal: '', own: names, other: names, unknown: names }
  const all = listOperations(await getDocument(t)).map(async (operation) => {
    const { path, body, headers } = await generateRequest(operation, golden, known)
    return [operation.operationId, { query: /[?].*/.exec(path)?.[0] ?? '', body, headers }] as const
  })
  return new Map(await Promise.all(all))
}

beforeAll(async () => {
  t = await startTestServer()
  validRequests = await createRequests()
  ann = await t.agent('ann')
  const ben = await t.agent('ben')
  const uses = ['ai', 'shared', 'db', 'scores', 'files']
  id = await ann.publish({ html: undefined, files, uses })
  await ann.call('PATCH', `/apps/${id}`, { store: true })
  const request = {
    kind: 'picture',
    what: 'mountains',
    seed: '1',
    width: 800,
    height: 600,
  } as const
  const { bytes } = await t.ctx.generators.generate(request)
  const image = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`
  const [shown, icon] = await Promise.all([
    ann.call('PUT', `/apps/${id}/cover`, { image }),
    ann.call('PUT', `/apps/${id}/icon`, { image }),
  ])
  images = [new URL(shown.text('cover.large')).pathname, new URL(icon.text('icon')).pathname]
  olga = await createTestPerson(t, 'olga')
  await claim(ann, olga)
  const [named, grouped, other] = await Promise.all([
    createTestPerson(t, 'nina'),
    createTestPerson(t, 'gina'),
    createTestPerson(t, 'otto'),
  ])
  await claim(ben, named)
  const { people } = await import('../../people/tables.ts')
  const { eq } = await import('drizzle-orm')
  const boss = await createTestPerson(t, 'boss')
  await t.ctx.db.tx((db) =>
    db.update(people).set({ operator: true }).where(eq(people.id, boss.person.id)),
  )
  await setGroup(t.ctx, 'design', ['gina'], 'operator')
  await setGroup(t.ctx, 'sales', ['otto'], 'operator')
  await setAudience('password', { password, people: ['nina'], groups: ['design'] })
  const revoked = await linkCookies('revoked')
  await ann.call('DELETE', `/apps/${id}/links/${revoked.link}`)
  const cy = await t.agent('cy')
  openers = {
    nobody: {},
    'wrong password': { headers: { cookie: `berth_open_${id}=${'x'.repeat(40)}` } },
    'revoked link': revoked.sent,
    'expired link': await expiredCookies(),
    'other person': await cookieOf(other),
    'other agent': { key: cy.key },
    'right password': await passwordCookies(),
    'share link': (await linkCookies('board')).sent,
    'named person': await cookieOf(named),
    'agent of a named person': { key: ben.key },
    'person of a named group': await cookieOf(grouped),
    owner: await cookieOf(olga),
    maker: { key: ann.key },
    operator: await cookieOf(boss),
  }
})
afterAll(() => t.close())

const always = ['owner', 'maker', 'operator']
const signedIn = [
  'other person',
  'named person',
  'agent of a named person',
  'person of a named group',
]
const everyone = () => Object.keys(openers)

/** Those who may open an app, by its audience. */
const mayOpen: Record<Audience, () => string[]> = {
  public: everyone,
  link: everyone,
  password: () => [...always, 'share link', 'right password'],
  people: () => [
    ...always,
    'share link',
    'named person',
    'agent of a named person',
    'person of a named group',
  ],
  instance: () => [...always, 'share link', ...signedIn],
}

/** The network of calls of operations, which count wrong passwords. */
const from = '198.51.100.77'

/** Requests of everything that shows something of an app, by its id. */
const readers: Record<string, (app: string) => [method: string, path: string, body?: unknown]> = {
  page: (app) => ['GET', `/a/${app}`],
  'page as data': (app) => ['GET', `/a/${app}/data`],
  'list of files': (app) => ['GET', `/a/${app}/files`],
  'a file': (app) => ['GET', `/a/${app}/files/a.css`],
  manifest: (app) => ['GET', `/a/${app}/manifest.webmanifest`],
  'page that installs': (app) => ['GET', `/a/${app}/install`],
  'QR code': (app) => ['GET', `/a/${app}/qr.svg`],
  cover: (app) => ['GET', (images[0] ?? '').replace(id, app)],
  icon: (app) => ['GET', (images[1] ?? '').replace(id, app)],
  'report page': (app) => ['GET', `/report/${app}`],
  models: (app) => ['GET', `/api/apps/${app}/ai`],
  player: (app) => ['GET', `/api/apps/${app}/player`],
  errors: (app) => [
    'POST',
    `/api/apps/${app}/errors`,
    { version: 1, errors: [{ kind: 'logged', text: 'x' }] },
  ],
}

/** Reads of what only public apps have, which is on Explore. */
const listedReaders = [
  '/explore/ID',
  '/api/explore/ID',
  '/api/explore/ID/source',
  '/api/explore/ID/reviews',
  '/api/explore/ID/comments',
  '/cards/ID.jpg',
  '/explore/ID/next',
  '/oembed?url=http://localhost:3000/a/ID',
]

/** Operations that answer players who may open an app. Others answer the maker. */
const playerOperations =
  `acquire_document add_document create_challenge delete_document delete_value get_app_ai
  get_challenge get_document get_own_cover get_player get_scores get_value
  give_consent join_app list_challenges list_values open_live play_app query_documents
  report_errors revoke_consent set_document set_value submit_score update_document
  upload_file write_documents`.split(/\s+/)

const ask = async (sent: RequestOptions | undefined, reader: string, app: string) => {
  const [method, path, body] = readers[reader]?.(app) ?? ['GET', '/']
  t.clock.advance(1)
  return t.request(method, path, { ...sent, ...(body !== undefined && { body }) })
}

/** Returns a response without the id that was asked for. */
const bare = ({ status, body, headers }: Awaited<ReturnType<typeof ask>>, app: string) => ({
  status,
  body: JSON.stringify(body).replaceAll(app, '[id]'),
  type: headers.get('content-type'),
  location: headers.get('location'),
})

/** Returns a request as text, in which both ids read alike. */
const compared = (app: string, ...parts: unknown[]): string =>
  JSON.stringify(parts).replaceAll(app, '[id]')

type Respond = (sent: RequestOptions, app: string) => Promise<string>

/** Responses to each opener for an unknown id, by the name of the request and the opener. */
const unknownResponses = new Map<string, string>()

/** Returns the openers to whom a request says something else than for an unknown id. */
async function findInformed(request: string, from: string[], respond: Respond): Promise<string[]> {
  const informed: string[] = []
  for (const opener of from) {
    const sent = openers[opener] ?? {}
    const key = `${request} ${opener}`
    const nothing = unknownResponses.get(key) ?? (await respond(sent, unknown))
    unknownResponses.set(key, nothing)
    if ((await respond(sent, id)) !== nothing) informed.push(opener)
  }
  return informed
}

const strangersOf = (audience: Audience): string[] =>
  everyone().filter((opener) => !mayOpen[audience]().includes(opener))

/** Those who may open an app in some audience, and change none. */
const players = (): string[] => everyone().filter((opener) => !always.includes(opener))

describe.each(['public', 'link', 'password', 'people', 'instance'] as const)(
  'the audience %s',
  (audience) => {
    beforeAll(async () => {
      expect((await setAudience(audience)).status).toBe(200)
      t.clock.advance(minute)
    })

    test.each(Object.keys(readers))('decides who reads: %s', async (reader) => {
      for (const [opener, sent] of Object.entries(openers)) {
        const response = await ask(sent, reader, id)
        const where = `${reader} of ${audience} for ${opener}`
        if (mayOpen[audience]().includes(opener)) {
          expect([where, response.status]).toEqual([where, 200])
          continue
        }
        if (reader === 'page' && audience === 'password') {
          const { status, headers } = response
          expect([status, headers.get('location')]).toEqual([303, `/open/${id}`])
          continue
        }
        const nothing = bare(await ask(sent, reader, unknown), unknown)
        expect([where, bare(response, id)]).toEqual([where, nothing])
        expect(JSON.stringify(response.body)).not.toContain('Secret plan')
      }
    })

    test('decides who sees it in a chat, where only a key counts', async () => {
      const read = async (app: string, sent: RequestOptions) =>
        (await send(t, 'resources/read', { uri: `ui://berth/${app}` }, sent)).body
      for (const [opener, sent] of Object.entries(openers)) {
        const isOpen = audience === 'public' || audience === 'link'
        const mayRead = isOpen || (sent.key !== undefined && mayOpen[audience]().includes(opener))
        const found = JSON.stringify(await read(id, sent))
        const where = `chat of ${audience} for ${opener}`
        expect([where, found.includes('Secret plan')]).toEqual([where, mayRead])
        if (mayRead) continue
        const nothing = JSON.stringify(await read(unknown, sent)).replaceAll(unknown, '[id]')
        expect([where, found.replaceAll(id, '[id]')]).toEqual([where, nothing])
      }
    })

    test('decides who learns anything from an operation, of which players have few', async () => {
      const operations = agentOperations.filter(({ path }) => path.includes(':id'))
      expect(operations.length).toBeGreaterThan(80)
      const others: [operation: string, strangers: string[]][] = []
      const invalid: string[] = []
      for (const { id: name, method, path } of operations) {
        const { query = '', ...given }: Partial<ValidRequest> = validRequests.get(name) ?? {}
        const respond: Respond = async (sent, app) => {
          const named = path.replace(':id', app).replace(':scope', 'shared')
          const own = named.replaceAll(/:\w+|\*/g, '1') + query
          const headers = { ...given.headers, ...sent.headers }
          const { status, body } = await t.call(method, own, { ...sent, ...given, headers, from })
          if (status === 400) invalid.push(name)
          return compared(app, status, body)
        }
        const informed = await findInformed(name, players(), respond)
        const allowed = playerOperations.includes(name) ? mayOpen[audience]() : []
        const strangers = informed.filter((opener) => !allowed.includes(opener))
        // It shows that there is a password, and nothing else.
        if (name === 'open_app' && audience === 'password') continue
        if (strangers.length > 0) others.push([name, strangers])
      }
      expect(others).toEqual([])
      // An invalid body would be all that a response is about.
      expect([...new Set(invalid)]).toEqual([])
    })

    test('decides who learns anything from a page or a file of the site', async () => {
      // A cover, a card and a picture are files with the id as their name.
      const named = ['/covers/:id.jpg', '/covers/:id/1.jpg', '/cards/:id.jpg', '/oembed?url=/a/:id']
      const paths = [...listSiteRoutes(t).filter((path) => path.includes(':id')), ...named]
      expect(paths.length).toBeGreaterThan(40)
      for (const path of paths) {
        const respond: Respond = async (sent, app) => {
          const own = path.replaceAll(':id', app).replaceAll(/:\w+|\*/g, '1')
          const { status, headers, body } = await t.request('GET', own, sent)
          const response = compared(app, status, headers.get('location'), body)
          expect(response).not.toContain('Secret plan')
          return response
        }
        const informed = await findInformed(path, strangersOf(audience), respond)
        // They show that there is a password, and nothing else.
        if (audience === 'password' && ['/a/:id', '/open/:id'].includes(path)) continue
        expect([path, informed]).toEqual([path, []])
      }
    })

    test('decides who learns anything over MCP, whose lists have no private app', async () => {
      const { key } = openers['other agent'] ?? {}
      const listed = await send(t, 'tools/list', {}, { key })
      const tools: { name: string; inputSchema: { properties?: object } }[] = Object(listed.body)
        .result.tools
      const named = tools.filter(({ inputSchema }) => 'id' in (inputSchema.properties ?? {}))
      expect(named.length).toBeGreaterThan(15)
      const requests: [method: string, params: object][] = [
        ...named.map(({ name }): [string, object] => [
          'tools/call',
          { name, arguments: { id: '[id]' } },
        ]),
        ['resources/read', { uri: 'ui://berth/[id]' }],
        ['resources/read', { uri: 'skill://[id]/SKILL.md' }],
        ['resources/read', { uri: 'skill://packs/[id]/a/SKILL.md' }],
        ['prompts/get', { name: '[id]' }],
      ]
      const keys = strangersOf(audience).filter((opener) => openers[opener]?.key !== undefined)
      for (const [method, params] of requests) {
        const request = JSON.stringify(params)
        const respond: Respond = async (sent, app) => {
          const own = JSON.parse(request.replaceAll('[id]', app))
          const { status, body } = await send(t, method, own, sent)
          return compared(app, status, body)
        }
        expect([request, await findInformed(request, keys, respond)]).toEqual([request, []])
      }
      if (audience === 'public') return
      for (const method of [
        'resources/list',
        'resources/templates/list',
        'prompts/list',
        'skills/list',
      ])
        expect(JSON.stringify((await send(t, method, {}, { key })).body)).not.toContain(id)
    })

    test('keeps it off Explore unless it is public', async () => {
      if (audience === 'public') return
      const embed = listedReaders.filter((path) => audience !== 'link' || !path.includes('oembed'))
      for (const path of embed) {
        const [found, missing] = await Promise.all(
          [id, unknown].map((app) => t.request('GET', path.replace('ID', app))),
        )
        expect([path, found?.status, found?.code]).toEqual([path, missing?.status, missing?.code])
        expect(JSON.stringify(found?.body)).not.toContain('Secret plan')
      }
      for (const path of [
        '/explore',
        '/sitemap.xml',
        '/api/explore?q=secret',
        '/api/explore/shelves',
        '/api/explore/feed.atom',
        '/api/explore/feed.json',
        '/explore/@ann',
        '/api/explore/@ann',
      ]) {
        expect(JSON.stringify((await t.request('GET', path)).body)).not.toContain(id)
      }
      const listing = await ann.call('PATCH', `/apps/${id}`, { store: true })
      expect([listing.status, listing.code]).toEqual([400, 'bad_request'])
      const cy = await t.agent('cy')
      expect((await cy.call('POST', `/apps/${id}/remix`)).code).toBe('not_found')
    })
  },
)

test('a frame of another site shows an app that not everyone may open to none', async () => {
  const embed = async (sent: RequestOptions | undefined, app = id) => {
    t.clock.advance(minute)
    const response = await t.request('GET', `/a/${app}/embed`, sent)
    return [response.status, JSON.stringify(response.body).replaceAll(app, '[id]')]
  }
  await setAudience('link')
  expect((await embed({}))[0]).toBe(200)
  for (const audience of ['password', 'people', 'instance'] as const) {
    await setAudience(audience)
    for (const stranger of ['nobody', 'wrong password', 'revoked link', 'other agent'])
      expect(await embed(openers[stranger])).toEqual(await embed(openers[stranger], unknown))
    const [status, body] = await embed(openers['owner'])
    expect([status, String(body).includes('Secret plan')]).toEqual([403, false])
  }
})

test('the account of a player names no app that is closed to the player', async () => {
  const otto = await getPerson(t, 'otto')
  await giveConsent(t.ctx, id, otto, {
    uses: ['ai'],
    dailyCap: nano(1n),
    margin: 0,
    isRemembered: true,
  })
  const account = async () => {
    t.clock.advance(minute)
    return JSON.stringify((await t.request('GET', '/account', openers['other person'])).body)
  }
  await setAudience('link')
  expect(await account()).toContain('Secret plan')
  await setAudience('people')
  expect(await account()).not.toContain('Secret plan')
  await revokeConsent(t.ctx, id, otto)
})

test('sockets of live data end with the access of their player, and open for no stranger', async () => {
  await setAudience('link')
  t.clock.advance(minute)
  const server = serve(() => t)
  const address = `http://localhost:${server.port}/api/apps/${id}/live`
  const browsers = Object.entries(openers).filter(([, { key }]) => key === undefined)
  const connect = (cookie: string) => openSession(address, { headers: { cookie } })
  const sockets: { opener: string; cookie: string; socket: RealtimeClient }[] = []
  for (const [opener, { headers = {} }] of browsers) {
    const joined = await t.call('POST', `/apps/${id}/player`, { body: {}, headers })
    const cookie = [headers['cookie'], cookiesIn(joined.headers)].filter(Boolean).join('; ')
    sockets.push({ opener, cookie, socket: await connect(cookie) })
  }
  await setAudience('people')
  t.clock.advance(minute)
  await keepLive(t.ctx)
  for (const { opener, cookie, socket } of sockets) {
    if (mayOpen['people']().includes(opener)) (await connect(cookie)).close()
    else {
      await socket.closed
      expect(await catchError(connect(cookie))).toBeInstanceOf(Error)
    }
    socket.close()
  }
  await server.stop(true)
})

/** Returns the address of the files of the app, as its page has it. */
async function fileAddress(sent: RequestOptions | undefined): Promise<string> {
  const list = await t.request('GET', `/a/${id}/files`, sent)
  return list.text('frame').replace('?wrapper', '')
}

const readFile = async (address: string): Promise<number> => {
  t.clock.advance(1)
  return (await t.request('GET', `${address}a.css`)).status
}

describe('the address of files', () => {
  /** The addresses that everyone gets who may open the app. */
  const addressesIn = async (audience: Audience) => {
    await setAudience(audience)
    t.clock.advance(minute)
    const all = mayOpen[audience]().map(async (opener) => {
      return [opener, await fileAddress(openers[opener])] as const
    })
    return Promise.all(all)
  }

  test('works as long as what opened it, in every audience', async () => {
    for (const audience of ['password', 'people', 'instance'] as const) {
      const addresses = await addressesIn(audience)
      for (const next of ['password', 'people', 'instance', 'link'] as const) {
        await setAudience(next)
        t.clock.advance(minute)
        for (const [opener, address] of addresses) {
          const expected = mayOpen[next]().includes(opener) ? 200 : 404
          const where = `${opener}: ${audience}, then ${next}`
          expect([where, await readFile(address)]).toEqual([where, expected])
        }
      }
    }
  })

  test('ends with its link, its group, its password and its person, without a change', async () => {
    const sara = await createTestPerson(t, 'sara')
    await setAudience('people', { people: ['nina', 'sara'] })
    const expiresAt = new Date(t.clock.now() + day).toISOString()
    const [short, gone] = [await linkCookies('day', { expiresAt }), await linkCookies('gone')]
    const byLink = await fileAddress(short.sent)
    const byGone = await fileAddress(gone.sent)
    const byGroup = await fileAddress(openers['person of a named group'])
    const byName = await fileAddress(await cookieOf(sara))
    for (const address of [byLink, byGone, byGroup, byName])
      expect(await readFile(address)).toBe(200)
    t.clock.advance(day)
    expect(await readFile(byLink)).toBe(404)
    await ann.call('DELETE', `/apps/${id}/links/${gone.link}`)
    expect(await readFile(byGone)).toBe(404)
    await setGroup(t.ctx, 'design', [], 'operator')
    expect(await readFile(byGroup)).toBe(404)
    await suspendPerson(t.ctx, 'sara', 'Spam.', 'operator')
    expect(await readFile(byName)).toBe(404)
    await setGroup(t.ctx, 'design', ['gina'], 'operator')
    await setAudience('people', { people: ['nina'] })
    await setAudience('password')
    const byPassword = await fileAddress(openers['right password'])
    await setAudience('password', { password: 'another one' })
    expect(await readFile(byPassword)).toBe(404)
    await setAudience('password', { password })
  })

  test('is of no use in parts', async () => {
    await setAudience('people')
    t.clock.advance(minute)
    const other = await ann.publish({ html: undefined, files })
    await ann.call('PATCH', `/apps/${other}/audience`, { audience: 'people' })
    const [, first = ''] = /\/f\/(\w+)\//.exec(await fileAddress(openers['named person'])) ?? []
    const list = await t.request('GET', `/a/${other}/files`, openers['owner'])
    const [, second = ''] = /\/f\/(\w+)\//.exec(list.text('frame')) ?? []
    const own = await fileAddress(openers['owner'])
    expect([first.length, second.length, own.length]).toEqual([64, 64, '/f//'.length + 64])
    expect(await readFile(`/f/${second}/`)).toBe(200)
    for (const token of [
      first.slice(0, 32),
      first.slice(32) + first.slice(0, 32),
      first.slice(0, 32) + second.slice(32),
      second.slice(0, 32) + first.slice(32),
      first.slice(0, 32) + '0'.repeat(32),
    ])
      expect(await readFile(`/f/${token}/`)).toBe(404)
  })
})

describe('a change of the audience', () => {
  test('ends the address of files, and a new one works', async () => {
    await setAudience('people')
    t.clock.advance(minute)
    const first = await fileAddress(openers['named person'])
    expect((await t.request('GET', `${first}a.css`)).status).toBe(200)
    await setAudience('people', { people: [] })
    t.clock.advance(minute)
    expect((await t.request('GET', `${first}a.css`)).status).toBe(404)
    expect((await t.request('GET', `/a/${id}`, openers['named person'])).status).toBe(404)
    const second = await fileAddress(openers['person of a named group'])
    expect((await t.request('GET', `${second}a.css`)).status).toBe(200)
    await setAudience('people', { people: ['nina'] })
  })

  test('ends open pages', async () => {
    await setAudience('instance')
    t.clock.advance(minute)
    const { headers = {} } = openers['other person'] ?? {}
    const request = new Request(`http://localhost:3000/a/${id}/now`, { headers })
    const reader = (await t.handle(request, '192.0.2.9')).body?.getReader()
    const read = async () => new TextDecoder().decode((await reader?.read())?.value)
    expect(await read()).toBe('data: 1\n\n')
    await setAudience('people')
    t.clock.advance(minute)
    expect(await read()).toBe('data: closed\n\n')
    // A hidden page connects again when it is shown.
    for (const app of [id, unknown]) {
      const again = await t.request('GET', `/a/${app}/now`, openers['other person'])
      expect([again.status, again.body]).toEqual([200, 'data: closed\n\n'])
    }
  })

  test('ends the cookies of an old password, and of a revoked link', async () => {
    await setAudience('password')
    const [cookies, { link, sent }] = [await passwordCookies(), await linkCookies('short')]
    const open = async (given: RequestOptions) => {
      t.clock.advance(minute)
      return (await t.request('GET', `/a/${id}/data`, given)).status
    }
    expect([await open(cookies), await open(sent)]).toEqual([200, 200])
    await setAudience('password', { password: 'another one' })
    await ann.call('DELETE', `/apps/${id}/links/${link}`)
    expect([await open(cookies), await open(sent)]).toEqual([404, 404])
    await setAudience('password', { password })
  })
})

test('an app that expires is closed to all but its maker, owner and the operator', async () => {
  const expiresAt = new Date(t.clock.now() + day).toISOString()
  const set = await setAudience('link', { expiresAt })
  expect(set.body).toMatchObject({ audience: { audience: 'link', expiresAt } })
  t.clock.advance(day)
  for (const [opener, sent] of Object.entries(openers)) {
    const { status } = await ask(sent, 'page as data', id)
    expect([opener, status]).toEqual([opener, always.includes(opener) ? 200 : 404])
  }
  expect(await readFile(await fileAddress(openers['owner']))).toBe(200)
  await setAudience('link', { expiresAt: null })
  t.clock.advance(minute)
  expect((await ask({}, 'page as data', id)).status).toBe(200)
})

test('Explore lists no item that ends', async () => {
  const ann = await t.agent('ann')
  const ending = await ann.publish({ title: 'Regatta', store: true })
  const expiresAt = new Date(t.clock.now() + day).toISOString()
  await ann.call('PATCH', `/apps/${ending}/audience`, { expiresAt })
  expect((await ann.call('GET', `/apps/${ending}`)).body).toMatchObject({ app: { listed: 'off' } })
  expect((await ann.call('PATCH', `/apps/${ending}`, { store: true })).code).toBe('bad_request')
})

test('a network has ten wrong passwords, and a right one never counts', async () => {
  await setAudience('password')
  const from = '203.0.113.5'
  const send = (word: string) =>
    t.call('POST', `/apps/${id}/open`, { body: { password: word }, from })
  expect((await send(password)).status).toBe(200)
  for (let tries = 0; tries < 10; tries += 1)
    expect((await send('wrong')).code).toBe('bad_password')
  expect((await send(password)).code).toBe('sign_in_locked')
  const page = await t.request('GET', `/open/${id}`)
  expect(page.status).toBe(200)
  expect(String(page.body)).not.toContain('Secret plan')
  expect((await t.request('GET', `/open/${unknown}`)).status).toBe(404)
  await setAudience('people')
  expect((await t.request('GET', `/open/${id}`)).status).toBe(404)
  expect((await send(password)).code).toBe('not_found')
})

test('an app has at most 20 share links, each with its last use', async () => {
  const { body } = await ann.call('GET', `/apps/${id}/audience`)
  const { links } = Object(body).audience
  expect(links.find(({ name }: { name: string }) => name === 'board').used).not.toBeNull()
  for (let at = links.length; at < shareLinksPerAppMax; at += 1)
    expect((await ann.call('POST', `/apps/${id}/links`, { name: `${at}` })).status).toBe(201)
  await expectError(t, 400, 'bad_request', () =>
    ann.call('POST', `/apps/${id}/links`, { name: 'more' }),
  )
})

test('rejects invalid audiences and foreign apps, and stores nothing', async () => {
  const path = `/apps/${id}/audience`
  const bad = [
    {},
    { audience: 'all' },
    { password: 'short' },
    { people: ['nobody-at-all'] },
    { groups: ['none'] },
    { expiresAt: 'tomorrow' },
    { expiresAt: '2020-01-01T00:00:00Z' },
    { more: 1 },
  ]
  for (const body of bad)
    await expectError(t, 400, 'bad_request', () => ann.call('PATCH', path, body))
  const misnamed = await ann.call('PATCH', path, { expires: null })
  expect(misnamed.text('error')).toBe(
    '"expires" is not a field of this operation. Send "expiresAt" instead.',
  )
  const fresh = await ann.publish()
  await expectError(t, 400, 'bad_request', () =>
    ann.call('PATCH', `/apps/${fresh}/audience`, { audience: 'password' }),
  )
  const ben = await t.agent('ben')
  for (const [method, at, body] of [
    ['GET', path, undefined],
    ['PATCH', path, { audience: 'public' }],
    ['POST', `/apps/${id}/links`, { name: 'x' }],
    ['DELETE', `/apps/${id}/links/${unknown}`, undefined],
  ] as const) {
    await expectError(t, 404, 'not_found', () => ben.call(method, at, body))
    await expectError(t, 401, 'no_key', () => t.call(method, at, { body }))
  }
  await expectError(t, 404, 'not_found', () => ann.call('DELETE', `/apps/${id}/links/${unknown}`))
})

test('a new app may begin with an audience, and its copy keeps it', async () => {
  const hidden = await ann.publish({ audience: 'people' })
  expect((await t.request('GET', `/a/${hidden}`)).status).toBe(404)
  const copy = await ann.call('POST', `/apps/${hidden}/remix`)
  expect(copy.body).toMatchObject({ app: { audience: 'people' } })
  const listed = await ann.call('POST', '/apps', { html: page, audience: 'link', store: true })
  expect(listed.code).toBe('bad_request')
})

test('a pack is read by those whom its maker opened it to', async () => {
  const skill = '---\nname: secret-notes\ndescription: Writes secret notes.\n---\n# Notes\n'
  const made = await ann.call('POST', '/skills', { skill, store: true })
  const pack = made.text('skill.id')
  const read = (sent: RequestOptions = {}) => t.request('GET', `/skills/${pack}/SKILL.md`, sent)
  expect((await read()).status).toBe(200)
  const set = (body: object) => ann.call('PATCH', `/apps/${pack}/audience`, body)
  expect((await set({ audience: 'people', people: ['nina'] })).status).toBe(200)
  expect([(await read()).status, (await read(openers['other agent'])).status]).toEqual([404, 404])
  expect((await read(openers['agent of a named person'])).status).toBe(200)
  expect(JSON.stringify((await t.call('GET', '/explore?kind=skill')).body)).not.toContain(pack)
  await set({ audience: 'link' })
  expect((await read()).status).toBe(200)
  expect((await set({ audience: 'password', password })).code).toBe('bad_request')
})
