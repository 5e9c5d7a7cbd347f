import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'

import fc from 'fast-check'

import { randomBelow } from '../core/ids.ts'
import { zero } from '../core/money.ts'
import { hour } from '../core/time.ts'
import { dismiss, takeDown } from '../hosting/moderation/moderation.ts'
import { enqueue } from '../jobs/jobs.ts'
import { newDelivery } from './fixtures/deliveries.ts'
import { createTestPerson } from './fixtures/people.ts'
import { startTestServer, type TestAgent, type TestResponse } from './fixtures/test-server.ts'
import { type DescribedOperation, getDocument, listOperations } from './openapi/document.ts'
import {
  type Draw,
  draws,
  type GeneratedRequest,
  generateRequest,
  golden,
  keyless,
  type KnownIds,
} from './openapi/request-generator.ts'
import { ResponseChecker } from './openapi/response-checker.ts'

setDefaultTimeout(60_000)

/** Set the seed of a failed run to repeat it. */
const seed = randomBelow(2 ** 31)
const runs = 50

const ctx = await startTestServer()
const document = await getDocument(ctx)
const operations = listOperations(document)
const answers = new ResponseChecker(document)
const ben = await ctx.agent('ben')
const theirs = await ben.publish({ store: true })
const other = {
  id: theirs,
  gone: theirs,
  taken: theirs,
  hook: theirs,
  delivery: theirs,
  prefix: ben.key.slice(0, 11),
  version: '1',
  name: 'a.json',
  handle: ben.handle,
  owned: ben.handle,
  ownedKey: ben.key.slice(0, 11),
  code: 'AAAA-AAAA-AAAA',
}
const nobody = 'A'.repeat(12)
const unknown = {
  id: nobody,
  gone: nobody,
  taken: nobody,
  hook: nobody,
  delivery: nobody,
  prefix: 'ak_xxxxxxxx',
  version: '99',
  name: 'b.json',
  handle: 'nobody-here',
  owned: 'nobody-here',
  ownedKey: 'ak_xxxxxxxx',
  code: 'BBBB-BBBB-BBBB',
}

afterAll(() => ctx.close())

const olga = await createTestPerson(ctx, 'olga', 1_000_000n)
let claims: Record<string, string> | undefined
let people = 0
let known: KnownIds | undefined

/**
 * Creates an agent with an app, two versions, a file and two keys. Replaces it when it is used up.
 */
async function world(): Promise<KnownIds> {
  if (known) return known
  people += 1
  // A third report would quarantine the item.
  await dismiss(ctx.ctx, theirs, 'for the next one')
  const ann: TestAgent = await ctx.agent(`ann-${people}`)
  const id = await ann.publish({ store: true })
  const gone = await ann.publish()
  await ann.call('DELETE', `/apps/${gone}`)
  const file = await ann.call('PUT', `/apps/${id}/assets/a.json`, '[]')
  const look = Object.fromEntries(new URL(file.text('asset.url')).searchParams)
  await ann.call('POST', `/apps/${id}/versions`, { html: '<title>Two</title>' })
  const prefix = (await ann.call('POST', '/me/keys')).text('prefix')
  const taken = await ann.publish({ html: `<title>${people}</title>` })
  await takeDown(ctx.ctx, taken, 'spam')
  const [open, ended] = [await newJob(ann, id), await newJob(ann, id)]
  await ann.call('DELETE', `/jobs/${ended}`)
  const hooks = await newDelivery(ctx, ann)
  const jobs = { open, ended, wait: '0' }
  const params = { ...(await reviewed(ann, id)), from: '2026-05-01', to: '2026-05-31' }
  known = {
    key: ann.key,
    personal: olga.key,
    own: {
      ...(claims ??= await claimed()),
      id,
      gone,
      taken,
      prefix,
      version: '1',
      name: 'a.json',
      handle: ann.handle,
      ...look,
      ...jobs,
      ...params,
      ...hooks,
    },
    other,
    unknown,
  }
  return known
}

/** Creates an agent that a person claimed, its key, and the claim code of an unclaimed agent. */
async function claimed(): Promise<Record<string, string>> {
  const [agent, free] = [await ctx.agent(`kay-${people}`), await ctx.agent(`lee-${people}`)]
  const codeOf = async (one: TestAgent) => (await one.call('POST', '/me/claim')).text('claim.code')
  const body = { code: await codeOf(agent) }
  await ctx.call('POST', '/claim', { key: olga.key, body, from: from() })
  return { owned: agent.handle, ownedKey: agent.key.slice(0, 11), code: await codeOf(free) }
}

/** Claim codes are limited by address. */
let requestCount = 0
const from = (): string => `10.0.${(requestCount += 1) >> 8}.${requestCount & 255}`

/** Items by another agent that this one reviewed, and reviews of this agent's app. */
async function reviewed(ann: TestAgent, id: string): Promise<Record<string, string>> {
  await ann.call('GET', `/explore/${theirs}/source`)
  await ann.call('PUT', `/explore/${theirs}/review`, { stars: 4 })
  await ben.call('GET', `/explore/${id}/source`)
  const review = await ben.call('PUT', `/explore/${id}/review`, { stars: 4 })
  const comment = await ann.call('POST', `/explore/${theirs}/comments`, { text: 'Hello' })
  return { used: theirs, review: review.text('review.id'), comment: comment.text('comment.id') }
}

/** A job that no runner processes. */
async function newJob({ key }: TestAgent, item: string): Promise<string> {
  const { db, keys, clock } = ctx.ctx
  const owner = `agent:${(await keys.find(key))?.owner}`
  const about = { kind: 'assets', queue: 'media', owner, item, input: {} } as const
  return (await db.tx((tx) => enqueue({ clock }, tx, { ...about, price: zero, ms: hour }))).id
}

const wearing = [
  'close_me',
  'revoke_key',
  'delete_app',
  'restore_app',
  'delete_asset',
  'add_key',
  'cancel_job',
  'appeal',
  'add_hook',
  'delete_hook',
  'redeliver',
  'report_item',
]

/** Operations that use up claimed and unclaimed agents. */
const claiming = ['claim_agent', 'release_agent', 'revoke_agent_key', 'add_agent_key']

type Send = (made: GeneratedRequest) => Promise<TestResponse>

const send: Send = ({ method, path, key, headers, body }) =>
  ctx.call(method, path, { key, headers, body, from: from() })

/**
 * Runs an operation with generated requests. Fails with the seed and the smallest failing request.
 */
async function tryOut(operation: DescribedOperation, through: Send = send): Promise<Set<number>> {
  const seen = new Set<number>()
  const property = fc.asyncProperty(draws, async (draw) => {
    const made = await generateRequest(operation, draw, await world())
    const answer = await through(made)
    seen.add(answer.status)
    if (answer.status < 300 && wearing.includes(operation.operationId)) known = undefined
    if (answer.status < 300 && claiming.includes(operation.operationId)) {
      known = undefined
      claims = undefined
    }
    const problem = answers.findError(operation, answer)
    if (problem)
      throw new Error(`${problem}\n${made.method} ${made.path} ${Bun.inspect(made.body)}`)
  })
  const examples: [Draw][] = [[golden], [keyless]]
  await fc.assert(property, { seed, numRuns: runs, examples, includeErrorInReport: true })
  return seen
}

/** A stream never ends by itself, so watch.test.ts reads it. */
const named = operations
  .filter(({ operationId }) => operationId !== 'watch_notes')
  .map((operation): [string, DescribedOperation] => [operation.operationId, operation])

describe(`every response matches the document (seed ${seed})`, () => {
  test.each(named)('%s', async (_, operation) => {
    const seen = [...(await tryOut(operation))]
    expect(seen.some((status) => status < 300)).toBe(true)
    if (operation.security.length > 0) expect(seen).toContain(401)
  })

  test('and no request caused an internal error', () =>
    expect(ctx.lines.filter(({ level }) => level === 'error')).toEqual([]))
})

/** Returns the harness's failure for an operation whose responses are corrupted in transit. */
async function failureOf(
  id: string,
  spoil: (answer: TestResponse) => TestResponse,
): Promise<string> {
  const operation = operations.find(({ operationId }) => operationId === id)
  if (!operation) throw new Error(`no operation ${id}`)
  const params = tryOut(operation, async (made) => spoil(await send(made)))
  return params.then(() => 'nothing', String)
}

const withBody = (answer: TestResponse, more: object): TestResponse => ({
  ...answer,
  body: Object.assign({}, answer.body, more),
})

describe('the harness reports', () => {
  const spoilt: [
    what: string,
    id: string,
    spoil: (answer: TestResponse) => TestResponse,
    says: string,
  ][] = [
    [
      'a field of the wrong type',
      'get_me',
      (answer) => (answer.status === 200 ? withBody(answer, { credits: '400' }) : answer),
      'get_me 200 /credits: must be number',
    ],
    [
      'a missing field',
      'list_apps',
      (answer) => (answer.status === 200 ? { ...answer, body: { apps: [] } } : answer),
      "list_apps 200 : must have required property 'next'",
    ],
    [
      'an undocumented field',
      'get_app',
      (answer) => (answer.status === 404 ? withBody(answer, { stack: 'at' }) : answer),
      'get_app 404 : must NOT have additional properties',
    ],
    [
      'an undocumented status',
      'publish_app',
      (answer) => (answer.status === 400 ? { ...answer, status: 418 } : answer),
      'publish_app returns the undocumented status 418',
    ],
    [
      'an undocumented code',
      'change_me',
      (answer) => (answer.status === 400 ? withBody(answer, { code: 'oops' }) : answer),
      'change_me 400 /code: must be equal to one of the allowed values',
    ],
    [
      'another content type',
      'get_html',
      (answer) =>
        answer.status === 200
          ? { ...answer, headers: new Headers({ 'content-type': 'a/b' }) }
          : answer,
      'get_html 200 is a/b',
    ],
  ]
  test.each(spoilt)('%s', async (_, id, spoil, says) => {
    const params = await failureOf(id, spoil)
    expect(params).toContain(says)
    expect(params).toContain(`seed: ${seed}`)
  })
})
