import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'

import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { generate } from 'json-schema-faker'

import { itemsOf, recordOf } from '../../kernel/schema.ts'
import type { DescribedOperation } from '../../server/http/api-description.ts'
import { startTestServer } from '../fixtures/test-server.ts'
import { testSeed } from '../thorough.ts'
import { getDocument, getGatewayDocument, listOperations } from './document.ts'
import { gatewayWorld } from './fuzz.ts'
import { isOutsideSchema } from './outside-schema.ts'
import { keyOf, type KnownIds, pathValuesOf } from './request-generator.ts'
import { createWorld } from './world.ts'

setDefaultTimeout(120_000)

const server = await startTestServer({ DEMO_MODELS: 'on', RESPONSES_KEPT_DAYS: '1' })
afterAll(() => server.close())

const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 9 })
addFormats.default(ajv)

/** Streams without an end, and operations that end the key of the others. */
const excluded = ['watch_notes', 'close_me', 'revoke_key']
const requestsOfAnOperation = 2
/** The generator merges alternatives, so many of its bodies violate their schema. */
const triesOfABody = 60

/** Generates bodies that follow a schema. */
async function generateBodies(schema: Record<string, unknown>): Promise<unknown[]> {
  const isValid = ajv.compile(schema)
  // The generator throws where it adds no optional field for minProperties.
  const { minProperties: _, ...generated } = schema
  const bodies: unknown[] = []
  for (let at = 0; at < triesOfABody && bodies.length < requestsOfAnOperation; at++) {
    const options = { seed: testSeed + at, optionalsProbability: (at % 4) / 4 }
    const body = await generate(generated, options)
    if (isValid(body)) bodies.push(body)
  }
  return bodies
}

async function generateQuery({ parameters = [] }: DescribedOperation, at: number): Promise<string> {
  const query = new URLSearchParams()
  for (const { name, schema, required, ...parameter } of parameters) {
    if (parameter.in !== 'query' || (at % 2 === 0 && !required)) continue
    const value = await generate(schema, { seed: testSeed + at })
    if (ajv.validate(schema, value)) query.set(name, String(value))
  }
  return query.size > 0 ? `?${query}` : ''
}

/** Sends requests that follow the document, and returns those that are rejected as invalid. */
async function findRejected(
  root: string,
  operations: DescribedOperation[],
  known: (operation: DescribedOperation) => Promise<KnownIds>,
  used: (operationId: string) => void,
) {
  const rejected: string[] = []
  const ungenerated: string[] = []
  let count = 0
  for (const operation of operations) {
    const words = new Map(
      (operation.parameters ?? []).map(({ name, schema }) => [name, itemsOf(schema['enum'])[0]]),
    )
    const { operationId, method, path, requestBody } = operation
    const content = requestBody?.content ?? {}
    if (excluded.includes(operationId) || (requestBody && !content['application/json'])) continue
    const schema = content['application/json']?.schema
    const bodies = schema ? await generateBodies(schema) : [undefined, undefined]
    if (bodies.length === 0) ungenerated.push(operationId)
    for (const [at, body] of bodies.entries()) {
      const ids = await known(operation)
      const values = pathValuesOf(operation, ids)
      const target = path.replace(/\{(\w+)\}/g, (_, name) =>
        String(values[name] ?? words.get(name) ?? 'none'),
      )
      const url = root + target + (await generateQuery(operation, at))
      const response = await server.request(method, url, { key: keyOf(operation, ids), body })
      count += 1
      const { error } = recordOf(response.body)
      const message = typeof error === 'string' ? error : String(recordOf(error)['message'])
      const isInvalid = response.status === 400 || response.status === 422
      if (!isInvalid || isOutsideSchema({ operation: `${method} ${path}`, message, body })) continue
      rejected.push(`${operationId} ${url} ${JSON.stringify(body)?.slice(0, 500)}: ${message}`)
    }
    used(operationId)
  }
  return { rejected, ungenerated, count }
}

test('the Agent API accepts requests that follow its document', async () => {
  const world = await createWorld(server)
  const operations = listOperations(await getDocument(server))
  const { rejected, ungenerated, count } = await findRejected(
    '/api',
    operations,
    (operation) => world.known(operation),
    (operationId) => world.used(operationId),
  )
  expect(rejected).toEqual([])
  expect(ungenerated).toEqual([])
  expect(count).toBeGreaterThan(operations.length)
})

test('the gateway accepts requests that follow its document', async () => {
  const operations = listOperations(await getGatewayDocument(server))
  const known = gatewayWorld(server)
  const { rejected, ungenerated, count } = await findRejected('/v1', operations, known, () => {})
  expect(rejected).toEqual([])
  expect(ungenerated).toEqual([])
  expect(count).toBeGreaterThan(operations.length)
})
