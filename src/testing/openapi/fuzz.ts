/** Generated requests to all operations of both APIs, and the problems of their responses. */
import fc from 'fast-check'

import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { stopwatch } from '../../kernel/time.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import type { DescribedOperation } from '../../site/guide/read-description.ts'
import { createGatewayUser } from '../fixtures/gateway.ts'
import type { RequestOptions, TestResponse, TestServer } from '../fixtures/test-server.ts'
import { isThorough } from '../thorough.ts'
import {
  type Document,
  getDocument,
  getForeignDocument,
  getGatewayDocument,
  listOperations,
} from './document.ts'
import { exampleBodies, fileFieldOf, hostileFields, sendForm } from './example-bodies.ts'
import { callHostile, varyRequest } from './hostile.ts'
import {
  type Draw,
  draws,
  type GeneratedRequest,
  generateRequest,
  golden,
  type KnownIds,
} from './request-generator.ts'
import { ResponseChecker } from './response-checker.ts'
import { createWorld } from './world.ts'

export interface FuzzReport {
  /** Responses by status. */
  statuses: Record<string, number>
  operations: number
  problems: string[]
  /** Requests that took more than five seconds. */
  slow: string[]
}

interface Target {
  operation: DescribedOperation
  path: string
  checker: ResponseChecker
  known: (operation: DescribedOperation) => Promise<KnownIds>
}

/** A stream that ends after ten minutes. */
const endless = ['watch_notes']
/** A request that takes longer hangs, on any machine. */
const hangMs = 60_000
const slowMs = 5_000
/** Requests to the gateway after which its account is replaced, because requests use it up. */
const accountUses = 60
/** In CI each operation gets a 36th of the variations, and the next operation another one. */
const partOfVariations = isThorough ? 1 : 36
const models = 'chat image video speech embedding moderation rerank transcription'
  .split(' ')
  .map((name) => `demo/${name}`)

/**
 * Sends `requests` generated requests of a seed, round all operations, and then the hostile
 * variations of a valid request to each. Checks the books afterwards.
 */
export async function fuzz(
  server: TestServer,
  { seed, requests }: { seed: number; requests: number },
): Promise<FuzzReport> {
  const world = await createWorld(server)
  const targets = await listTargets(server, world)
  const report: FuzzReport = { statuses: {}, operations: targets.length, problems: [], slow: [] }
  const check = async (
    { operation, checker }: Target,
    describe: () => string,
    sent: Promise<TestResponse>,
  ) => {
    const { operationId } = operation
    const startedAt = stopwatch()
    const response = await withinBound(sent)
    const ms = stopwatch() - startedAt
    if (ms > slowMs) report.slow.push(`${operationId}: ${Math.round(ms)} ms`)
    report.statuses[response.status] = (report.statuses[response.status] ?? 0) + 1
    if (response.status < 300) world.used(operationId)
    const isInternal = response.status === 500
    const problem = isInternal ? `${operationId} 500` : checker.findError(operation, response)
    if (problem) report.problems.push(`${problem}\n${describe()}`)
  }
  for (const [at, draw] of fc.sample(draws, { seed, numRuns: requests }).entries()) {
    const target = targets[at % targets.length]
    if (!target) break
    const { sent, describe } = await send(server, target, draw, world.from())
    await check(target, () => `seed ${seed}, request ${at}: ${describe()}`, sent)
  }
  for (const [turn, target] of targets.entries()) {
    if (target.path === '/api') {
      const { operationId } = target.operation
      const args = argumentsOf(target.operation, await validRequest(target))
      report.problems.push(...(await callHostile(server, operationId, args, turn)))
      world.used(operationId)
    }
    for (const field of [fileFieldOf(target.operation) ?? []].flat()) {
      for (const fields of hostileFields) {
        const { key } = await target.known(target.operation)
        const form = formOf(target.path + target.operation.path, field, golden)
        const sent = sendForm(server, key, { ...form, fields: [...form.fields, ...fields] })
        await check(target, () => `${form.path} with ${JSON.stringify(fields)}`, sent)
      }
    }
    const variations = varyRequest(await validRequest(target), target.operation, turn)
    for (const made of variations.filter(
      (_, at) => at % partOfVariations === turn % partOfVariations,
    )) {
      const { method, path, ...request } = made
      const describe = describer(method, path, request)
      const sent = server.request(method, target.path + path, { ...request, from: world.from() })
      await check(target, describe, sent)
    }
  }
  const books = await doctor(server.ctx)
  if (!books.ok) report.problems.push(books.text)
  const errors = server.lines.filter(({ level }) => level === 'error')
  report.problems.push(...errors.map((line) => JSON.stringify(line)))
  return report
}

/** Lists all operations. Each is there once, where the API of another shares one of the gateway. */
async function listTargets(
  server: TestServer,
  world: Awaited<ReturnType<typeof createWorld>>,
): Promise<Target[]> {
  const own = gatewayWorld(server)
  const gateway = targetsOf(await getGatewayDocument(server), '/v1', own)
  const ids = new Set(gateway.map(({ operation }) => operation.operationId))
  const foreign = targetsOf(await getForeignDocument(), '', own)
  return [
    ...targetsOf(await getDocument(server), '/api', (operation) => world.known(operation)),
    ...gateway,
    ...foreign.filter(({ operation }) => !ids.has(operation.operationId)),
  ]
}

/** Returns a request that succeeds. Forms have no body here. */
async function validRequest({ operation, known }: Target): Promise<GeneratedRequest> {
  const { requestBody, ...bodiless } = operation
  const isJson = requestBody?.content['application/json'] !== undefined
  const base = isJson ? operation : bodiless
  const made = await generateRequest(base, golden, await known(operation))
  return { ...made, body: exampleBodies.get(operation.operationId) ?? made.body }
}

/** Returns the arguments of a tool: the fields of the path and of the body, and the key. */
function argumentsOf({ path }: DescribedOperation, made: GeneratedRequest): Json {
  const steps = made.path.split(/[/?]/)
  const fields = path
    .split('/')
    .flatMap((step, at) => (step.startsWith('{') ? [[step.slice(1, -1), steps[at]]] : []))
  return { ...Object.fromEntries(fields), ...recordOf(made.body), key: made.key }
}

function targetsOf(document: Document, root: string, known: Target['known']): Target[] {
  const checker = new ResponseChecker(document, new Set(exampleBodies.keys()))
  return listOperations(document)
    .filter(({ operationId }) => !endless.includes(operationId))
    .map((operation) => ({
      operation,
      checker,
      known,
      path: root,
    }))
}

/** Returns the ids of a gateway account: one of each resource, by the path before it. */
export function gatewayWorld(server: TestServer): Target['known'] {
  let uses = 0
  let world: { key: string; ids: Record<string, string> } | undefined
  const create = async () => {
    const user = await createGatewayUser(
      server,
      '5',
      `198.51.100.${((uses / accountUses) % 250) | 0}`,
    )
    const video = { model: 'demo/video', prompt: 'a boat' }
    const upload = { path: '/v1/files', field: 'file', file: 'Hello there', fileName: 'a.txt' }
    const file = (await sendForm(server, user.key, { ...upload, fields: [] })).text('id')
    const batch = { input_file_id: file, endpoint: '/v1/embeddings', completion_window: '24h' }
    const response = { model: 'demo/chat', input: 'Hello', store: true }
    const ids = {
      '/files': file,
      '/accounts/keys': (await user.call('POST', '/accounts/keys', { name: 'two' })).text('id'),
      '/accounts/projects': (await user.call('POST', '/accounts/projects', { name: 'three' })).text(
        'id',
      ),
      '/videos': (await user.call('POST', '/v1/videos', video)).text('id'),
      '/batches': (await user.call('POST', '/v1/batches', batch)).text('id'),
      '/responses': (await user.call('POST', '/v1/responses', response)).text('id'),
    }
    return { key: user.key, ids }
  }
  return async ({ path }) => {
    uses += 1
    if (!world || uses % accountUses === 0) world = await create()
    const { key, ids } = world
    const own = { id: Object.entries(ids).find(([root]) => path.startsWith(root))?.[1] ?? 'none' }
    const unknown = { id: 'file_AAAAAAAAAAAA' }
    return { key, personal: '', own, other: unknown, unknown }
  }
}

async function send(server: TestServer, target: Target, draw: Draw, from: string) {
  const { operation, path: root } = target
  const known = await target.known(operation)
  const field = fileFieldOf(operation)
  if (field !== undefined) {
    const sent = sendForm(server, known.key, formOf(root + operation.path, field, draw))
    return { sent, describe: () => `${operation.operationId} with a file` }
  }
  const made = await generateRequest(operation, draw, known)
  const isGateway = root !== '/api'
  const body = isGateway ? withModel(made.body, draw) : made.body
  const options: RequestOptions = { key: made.key, headers: made.headers, body, from }
  return {
    sent: server.request(made.method, root + made.path, options),
    describe: describer(made.method, root + made.path, body),
  }
}

/** Returns a function that describes a request, because only that of a problem is printed. */
const describer = (method: string, path: string, sent: unknown) => (): string =>
  `${method} ${path.slice(0, 200)} ${Bun.inspect(sent).slice(0, 2_000)}`

/** Most generated models are unknown, and end every request early. */
const withModel = (body: unknown, { seed }: Draw): unknown =>
  isRecord(body) && 'model' in body && seed % 4 > 0
    ? { ...body, model: models[seed % models.length] }
    : body

/** Returns the form of a draw for an operation that takes a file. */
function formOf(path: string, field: string, { seed, text, file }: Draw) {
  const fields: [string, string][] = []
  if (seed % 3 === 0) fields.push(['purpose', text.toWellFormed()])
  if (!path.endsWith('/files')) {
    fields.push(['model', models[seed % models.length] ?? ''], ['prompt', 'a boat'])
  }
  return { path, field, file, fileName: text, fields }
}

function withinBound(response: Promise<TestResponse>): Promise<TestResponse> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no response for ${hangMs} ms`)), hangMs)
  return Promise.race([response, promise]).finally(() => clearTimeout(timer))
}
