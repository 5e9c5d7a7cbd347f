import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'

import fc from 'fast-check'

import { dialect } from '../kernel/db/columns.ts'
import type { DescribedOperation } from '../site/guide/read-description.ts'
import { startChain } from './fixtures/chain.ts'
import { signPayment, startPaidServer } from './fixtures/payments.ts'
import type { TestResponse } from './fixtures/test-server.ts'
import { getDocument, listOperations } from './openapi/document.ts'
import {
  type Draw,
  draws,
  type GeneratedRequest,
  generateRequest,
  golden,
  keyless,
} from './openapi/request-generator.ts'
import { ResponseChecker } from './openapi/response-checker.ts'
import { createWorld } from './openapi/world.ts'
import { isThorough, testSeed } from './thorough.ts'

setDefaultTimeout(180_000)

/**
 * Requests of each operation: PROPERTY_RUNS, as scripts/soak/properties.ts sets it. The code before
 * the database is the same, so PostgreSQL gets fewer.
 */
const runs = Number(
  Bun.env['PROPERTY_RUNS'] ?? (isThorough ? 20 : 4) / (dialect === 'postgres' ? 2 : 1),
)
/** Requests within which each of an operation's common errors comes. */
const spoiltRuns = 50

const chain = await startChain()
const ctx = await startPaidServer(chain)
const document = await getDocument(ctx)
const operations = listOperations(document)
const responses = new ResponseChecker(document)
const wallet = await chain.createWallet()
const maker = await chain.createWallet(0n)
const world = await createWorld(ctx, maker.address)
/** Operations that succeed with a payment of these units of USDC. */
const payments: Record<string, { payTo: string; units: bigint }> = {
  top_up: { payTo: ctx.payee.address, units: 1_000_000n },
  pay_share: { payTo: maker.address, units: 1_250_000n },
}

afterAll(async () => {
  await ctx.close()
  await chain.stop()
})

type Send = (made: GeneratedRequest) => Promise<TestResponse>

const send: Send = ({ method, path, key, headers, body }) =>
  ctx.call(method, path, { key, headers, body, from: world.from() })

/**
 * Runs an operation with generated requests. Fails with the seed and the smallest failing request.
 */
async function tryOut(
  operation: DescribedOperation,
  numRuns: number,
  through: Send = send,
): Promise<Set<number>> {
  const seen = new Set<number>()
  const property = fc.asyncProperty(draws, async (draw) => {
    const made = await generateRequest(operation, draw, await world.known(operation))
    const response = await through(made)
    seen.add(response.status)
    if (response.status < 300) world.used(operation.operationId)
    const problem = responses.findError(operation, response)
    if (problem)
      throw new Error(`${problem}\n${made.method} ${made.path} ${Bun.inspect(made.body)}`)
  })
  const examples: [Draw][] = [[golden], [keyless]]
  await fc.assert(property, { numRuns, examples, includeErrorInReport: true })
  return seen
}

/** Pays for an operation. Returns the status of the response, which the document has. */
async function pay(operation: DescribedOperation, terms: { payTo: string; units: bigint }) {
  const made = await generateRequest(operation, golden, await world.known(operation))
  const headers = { ...made.headers, ...(await signPayment(wallet, terms)) }
  const response = await send({ ...made, headers })
  expect(responses.findError(operation, response)).toBeUndefined()
  return response.status
}

/** Operations that succeed only with a session, as a joined player, or by what a person knows. */
const isOfPeople = ({ tags, operationId }: DescribedOperation): boolean =>
  tags.some((tag) => ['Sign-in', 'Operator', 'Playing'].includes(tag)) ||
  // The middle square of the two pixels that these tests send is blank.
  operationId === 'put_avatar' ||
  ['add_money', 'change_wallet_key', 'revoke_wallet_key'].includes(operationId) ||
  ['give_consent', 'revoke_consent', 'open_app'].includes(operationId)

/** A stream never ends by itself, so watch.test.ts reads it. */
const named = operations
  .filter(({ operationId }) => operationId !== 'watch_notes')
  .map((operation): [string, DescribedOperation] => [operation.operationId, operation])

describe(`every response matches the document (seed ${testSeed})`, () => {
  test.each(named)('%s', async (_, operation) => {
    const seen = [...(await tryOut(operation, runs))]
    const terms = payments[operation.operationId]
    if (terms) seen.push(await pay(operation, terms))
    // The tests of the pages sign in and succeed with them.
    if (!isOfPeople(operation)) expect(seen.some((status) => status < 300)).toBe(true)
    if (operation.security.length > 0) expect(seen).toContain(401)
  })

  test('and no request caused an internal error', () =>
    expect(ctx.lines.filter(({ level }) => level === 'error')).toEqual([]))
})

/** Returns the harness's failure for an operation whose responses are corrupted in transit. */
async function failureOf(
  id: string,
  spoil: (response: TestResponse) => TestResponse,
): Promise<string> {
  const operation = operations.find(({ operationId }) => operationId === id)
  if (!operation) throw new Error(`no operation ${id}`)
  const params = tryOut(operation, spoiltRuns, async (made) => spoil(await send(made)))
  return params.then(() => 'nothing', String)
}

const withBody = (response: TestResponse, more: object): TestResponse => ({
  ...response,
  body: Object.assign({}, response.body, more),
})

describe('the harness reports', () => {
  const spoilt: [
    what: string,
    id: string,
    spoil: (response: TestResponse) => TestResponse,
    says: string,
  ][] = [
    [
      'a field of the wrong type',
      'get_me',
      (response) => (response.status === 200 ? withBody(response, { credits: '400' }) : response),
      'get_me 200 /credits: must be number',
    ],
    [
      'a missing field',
      'list_apps',
      (response) => (response.status === 200 ? { ...response, body: { apps: [] } } : response),
      "list_apps 200 : must have required property 'next'",
    ],
    [
      'an undocumented field',
      'get_app',
      (response) => (response.status === 404 ? withBody(response, { stack: 'at' }) : response),
      'get_app 404 : must NOT have additional properties',
    ],
    [
      'an undocumented status',
      'publish_app',
      (response) => (response.status === 400 ? { ...response, status: 418 } : response),
      'publish_app returns the undocumented status 418',
    ],
    [
      'an undocumented code',
      'change_me',
      (response) => (response.status === 400 ? withBody(response, { code: 'oops' }) : response),
      'change_me 400 /code: must be equal to one of the allowed values',
    ],
    [
      'another content type',
      'get_html',
      (response) =>
        response.status === 200
          ? { ...response, headers: new Headers({ 'content-type': 'a/b' }) }
          : response,
      'get_html 200 is a/b',
    ],
  ]
  test.each(spoilt)('%s', async (_, id, spoil, says) => {
    const params = await failureOf(id, spoil)
    expect(params).toContain(says)
    expect(params).toContain(`seed: ${testSeed}`)
  })
})
