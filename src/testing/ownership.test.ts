import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'

import { takeDown } from '../apps/moderation/moderation.ts'
import type { DescribedOperation } from '../site/guide/read-description.ts'
import { newDelivery } from './fixtures/deliveries.ts'
import { freshEngine } from './fixtures/engine.ts'
import { createGatewayUser } from './fixtures/gateway.ts'
import { createConnector } from './fixtures/oauth-client.ts'
import { createTestPerson, createTestSession } from './fixtures/people.ts'
import { startTestServer, type TestResponse } from './fixtures/test-server.ts'
import { getDocument, getGatewayDocument, listOperations } from './openapi/document.ts'
import { createCollection, createPacks, createRuns } from './openapi/packs-and-runs.ts'
import {
  type Draw,
  generateRequest,
  golden,
  type KnownIds,
  pathKindsOf,
} from './openapi/request-generator.ts'
import { image } from './openapi/world.ts'

setDefaultTimeout(60_000)

/** Every statement sent to SQLite. On PostgreSQL only the responses are compared. */
const given: string[] = []

const db = await freshEngine((text) => void given.push(text))
const t = await startTestServer({ RESPONSES_KEPT_DAYS: '1' }, { db })
afterAll(() => t.close())

/** Ann's data. Ben knows its ids. */
const [ann, ben, cy] = [await t.agent('ann'), await t.agent('ben'), await t.agent('cy')]
const id = await ann.publish()
await ann.call('PUT', `/apps/${id}/assets/a.json`, '[]')
const gone = await ann.publish()
await ann.call('DELETE', `/apps/${gone}`)
const taken = await ann.publish({ html: '<title>Taken</title>' })
await takeDown(t.ctx, taken, 'spam', 'operator')
const prompt = 'a packing list'
const ended = (await ann.call('POST', '/apps', { prompt })).text('job.id')
await ann.call('DELETE', `/jobs/${ended}`)
const open = (await ann.call('POST', '/apps', { prompt })).text('job.id')
const shared = await cy.publish({ store: true })
await ann.call('GET', `/explore/${shared}/source`)
const review = (await ann.call('PUT', `/explore/${shared}/review`, { stars: 4 })).text('review.id')
const comment = (await ann.call('POST', `/explore/${shared}/comments`, { text: 'Hi' })).text(
  'comment.id',
)
const prefix = (await ann.call('POST', '/me/keys')).text('prefix')
/** Packs that are not on Explore, with runs that nobody else can read. */
const packs = await createPacks(ann, { store: false })
const runs = await createRuns(ann, ann, packs)
const collection = await createCollection(ann, shared)
await ann.call('PUT', `/apps/${id}/screenshots/1`, image)
const [olga, pat] = [
  await createTestPerson(t, 'olga', 100n),
  await createTestPerson(t, 'pat', 100n),
]
const kay = await t.agent('kay')
const code = (await kay.call('POST', '/me/claim')).text('claim.code')
await olga.call('POST', '/claim', { code })

/** Gus's data at the gateway. */
const gus = await createGatewayUser(t, '5', '198.51.100.1')
const bob = await createGatewayUser(t, '5', '198.51.100.2')
const form = new FormData()
form.append('file', new File(['Hello there'], 'a.txt', { type: 'text/plain' }))
const sent = new Request('http://localhost/', { method: 'POST', body: form })
const type = sent.headers.get('content-type') ?? ''
const file = await gus.call('POST', '/v1/files', await sent.bytes(), { 'content-type': type })
const createdVideo = await gus.call('POST', '/v1/videos', { model: 'demo/video', prompt: 'a boat' })
const key = await gus.call('POST', '/accounts/keys', { name: 'two' })
const project = await gus.call('POST', '/accounts/projects', { name: 'three' })
const stored = await gus.call('POST', '/v1/responses', { model: 'demo/chat', input: 'Hello' })
const batch = await gus.call('POST', '/v1/batches', {
  input_file_id: file.text('id'),
  endpoint: '/v1/embeddings',
  completion_window: '24h',
})
/** Gus's ids by the path before them. An operation on another path gets the id of a file. */
const gateways: Record<string, string> = {
  '/batches': batch.text('id'),
  '/responses': stored.text('id'),
  '/files': file.text('id'),
  '/videos': createdVideo.text('id'),
  '/accounts/keys': key.text('id'),
  '/accounts/projects': project.text('id'),
}
const resourceOf = ({ path }: DescribedOperation): string => path.slice(0, path.indexOf('/{'))

/** Returns an unused id of the same form. */
const nobodys = (one: string): string => one.replace(/[A-Za-z0-9]{8}$/, 'Zz0Zz0Zz')

const link = (await ann.call('POST', `/apps/${id}/links`, { name: 'Board' })).text('link.id')
const theirs = {
  link,
  id,
  gone,
  taken,
  used: id,
  open,
  ended,
  review,
  comment,
  received: comment,
  prefix,
  version: '1',
  name: 'a.json',
  position: '1',
  path: 'SKILL.md',
  ...packs,
  ...runs,
  due: runs['run'] ?? '',
  collection,
  item: id,
  owned: kay.handle,
  ownedKey: kay.key.slice(0, 11),
  session: (await createTestSession(t, olga)).id,
  connector: await createConnector(t, olga, kay),
  personalKey: olga.key.slice(0, 11),
  walletKey: (await olga.call('POST', '/people/me/wallet/keys')).text('prefix'),
  account: olga.person.wallet,
  project: project.text('id'),
  ...(await newDelivery(t, ann)),
}
const nobodysOf = (things: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(things).map(([name, one]) =>
      ['version', 'name', 'position', 'path'].includes(name) ? [name, one] : [name, nobodys(one)],
    ),
  )

/** Operations whose result depends on the caller and not on a named value. */
const open_ = [
  'get_claim',
  'get_maker',
  'get_profile',
  'report_person',
  'look_at_asset',
  'get_model',
  'get_image',
  'get_collection',
  'follow_maker',
  'unfollow_maker',
]
const named = (operation: DescribedOperation): boolean =>
  operation.path.includes('{') &&
  !open_.includes(operation.operationId) &&
  // Players call these for any app that they may open.
  !operation.tags.includes('Playing')

/** Returns the response to a stranger without its ids, and the SQL that produced it. */
async function respond(call: () => Promise<TestResponse>, things: string[]) {
  // Results are cached until the next commit, so both requests start with an empty cache.
  await t.ctx.db.tx(async () => undefined)
  given.length = 0
  const { status, body, headers } = await call()
  const masked = things.reduce((text, one) => text.replaceAll(one, '[id]'), JSON.stringify(body))
  return { status, masked, type: headers.get('content-type'), statements: [...given] }
}

/** Expects the same response from the same SQL for both. */
async function expectSameResponse(
  call: (place: 'other' | 'unknown') => Promise<TestResponse>,
  things: string[],
) {
  // The first request compiles its queries.
  await respond(() => call('unknown'), things)
  let both = await respondToBoth(call, things)
  // A cached key may have expired, or a job run, between the two. What differs always is a defect.
  for (let tries = 1; tries < 3 && !Bun.deepEquals(both.nobody, both.other); tries += 1) {
    both = await respondToBoth(call, things)
  }
  expect(both.other).toEqual(both.nobody)
  return both.other.status
}

const respondToBoth = async (
  call: (place: 'other' | 'unknown') => Promise<TestResponse>,
  things: string[],
) => ({
  nobody: await respond(() => call('unknown'), things),
  other: await respond(() => call('other'), things),
})

async function isStranger(operation: DescribedOperation, known: KnownIds, root = '') {
  const call = async (place: Draw['place']) => {
    const made = await generateRequest(operation, { ...golden, place }, known)
    return t.request(made.method, root + made.path, made)
  }
  const things = [...Object.values(known.other), ...Object.values(known.unknown)]
  expect(await expectSameResponse(call, things)).toBe(404)
}

/** The stranger's own values. */
const session = await createTestSession(t, pat)
const own = await newDelivery(t, ben)
const lee = await t.agent('lee')
await pat.call('POST', '/claim', { code: (await lee.call('POST', '/me/claim')).text('claim.code') })
const note = (await ann.call('GET', '/me/notes')).text('notes.0.id')
const chat = { model: 'demo/chat', messages: [{ role: 'user', content: 'Hello' }] }

const before = await t.snapshot()
const rowsOf = (operations: DescribedOperation[]) =>
  operations.map((one): [id: string, operation: DescribedOperation] => [one.operationId, one])
const hosting = rowsOf(listOperations(await getDocument(t)).filter(named))
const atGateway = rowsOf(
  listOperations(await getGatewayDocument(t)).filter(
    (operation) =>
      operation.path.includes('{id}') &&
      (operation.security.length > 0 || resourceOf(operation) in gateways),
  ),
)

describe("another agent's id behaves like an unknown id", () => {
  test.each(hosting)('%s', (_, operation) => {
    const both = { other: theirs, unknown: nobodysOf(theirs) }
    // A new kind of id needs a value here.
    expect(Object.keys(theirs)).toEqual(expect.arrayContaining(pathKindsOf(operation)))
    const callers = { key: ben.key, personal: pat.key, session: session.cookie }
    return isStranger(operation, { ...callers, own: {}, ...both }, '/api')
  })

  test.each(atGateway)('gateway: %s', (_, operation) => {
    const other = { id: gateways[resourceOf(operation)] ?? file.text('id') }
    const unknown = nobodysOf(other)
    return isStranger(operation, { key: bob.key, personal: '', own: {}, other, unknown })
  })

  const inside: [
    what: string,
    status: number,
    one: string,
    call: (one: string) => Promise<TestResponse>,
  ][] = [
    [
      "another's delivery below the caller's hook",
      404,
      theirs.delivery,
      (one) => ben.call('POST', `/me/hooks/${own.hook}/deliveries/${one}/redeliver`),
    ],
    [
      "another's key below the caller's agent",
      404,
      theirs.ownedKey,
      (one) => pat.call('DELETE', `/people/me/agents/${lee.handle}/keys/${one}`),
    ],
    [
      'a file in a chat',
      404,
      file.text('id'),
      (file_id) => bob.call('POST', '/v1/chat/completions', { ...chat, file_id }),
    ],
    [
      'a balance',
      404,
      gus.creditId,
      (credit_id) => bob.call('POST', '/credits/balance', { credit_id }),
    ],
    [
      'a note to mark as read',
      200,
      note,
      (one) => ben.call('POST', '/me/notes/read', { ids: [one] }),
    ],
  ]
  test.each(inside)('%s', async (_, status, one, call) => {
    const masked = (place: string) => call(place === 'other' ? one : nobodys(one))
    expect(await expectSameResponse(masked, [one, nobodys(one)])).toBe(status)
  })

  test('no data of the other agent has changed', async () =>
    expect(await t.snapshot()).toEqual(before))
})
