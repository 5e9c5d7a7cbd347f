/** Generated requests to all operations of both APIs, and the problems of their responses. */
import fc from 'fast-check'

import { isRecord } from '../../core/schema.ts'
import { stopwatch } from '../../core/time.ts'
import type { DescribedOperation } from '../../http/api-description.ts'
import { doctor } from '../../ledger/doctor.ts'
import { createGatewayUser } from '../fixtures/gateway.ts'
import type { RequestOptions, TestResponse, TestServer } from '../fixtures/test-server.ts'
import {
  type Document,
  getDocument,
  getForeignDocument,
  getGatewayDocument,
  listOperations,
} from './document.ts'
import { exampleBodies } from './example-bodies.ts'
import { varyRequest } from './hostile.ts'
import { type Draw, draws, generateRequest, golden, type KnownIds } from './request-generator.ts'
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
  const own = gatewayWorld(server)
  const gateway = targetsOf(await getGatewayDocument(server), '/v1', own)
  const ids = new Set(gateway.map(({ operation }) => operation.operationId))
  const targets = [
    ...targetsOf(await getDocument(server), '/api', (operation) => world.known(operation)),
    ...gateway,
    ...targetsOf(await getForeignDocument(server), '', own).filter(
      ({ operation }) => !ids.has(operation.operationId),
    ),
  ]
  const report: FuzzReport = { statuses: {}, operations: targets.length, problems: [], slow: [] }
  const check = async (
    { operation, checker }: Target,
    what: string,
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
    if (problem) report.problems.push(`${problem}\n${what}`)
  }
  for (const [at, draw] of fc.sample(draws, { seed, numRuns: requests }).entries()) {
    const target = targets[at % targets.length]
    if (!target) break
    const { sent, what } = await send(server, target, draw, world.from())
    await check(target, `seed ${seed}, request ${at}: ${what}`, sent)
  }
  for (const [turn, target] of targets.entries()) {
    for (const { what, send } of await varied(server, target, turn, world.from())) {
      await check(target, what, send())
    }
  }
  const books = await doctor(server.ctx)
  if (!books.ok) report.problems.push(books.text)
  const errors = server.lines.filter(({ level }) => level === 'error')
  report.problems.push(...errors.map((line) => JSON.stringify(line)))
  return report
}

/** Returns the hostile variations of a request that succeeds. */
async function varied(server: TestServer, target: Target, turn: number, from: string) {
  const { operation, known, path: root } = target
  const { requestBody, ...bodiless } = operation
  const isJson = requestBody?.content['application/json'] !== undefined
  const base = isJson ? operation : bodiless
  const made = await generateRequest(base, golden, await known(operation))
  const body = exampleBodies.get(operation.operationId) ?? made.body
  return varyRequest({ ...made, body }, operation, turn).map(({ method, path, ...request }) => ({
    what: `${method} ${root}${path.slice(0, 200)} ${Bun.inspect(request).slice(0, 2_000)}`,
    send: () => server.request(method, root + path, { ...request, from }),
  }))
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
function gatewayWorld(server: TestServer): Target['known'] {
  let uses = 0
  let world: { key: string; ids: Record<string, string> } | undefined
  const create = async () => {
    const user = await createGatewayUser(
      server,
      '5',
      `198.51.100.${((uses / accountUses) % 250) | 0}`,
    )
    const video = { model: 'demo/video', prompt: 'a boat' }
    const file = (await sendFile(server, user.key, 'Hello there')).text('id')
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
  if (operation.requestBody && 'multipart/form-data' in operation.requestBody.content) {
    const { schema } = operation.requestBody.content['multipart/form-data'] ?? {}
    const field =
      isRecord(schema?.['properties']) && 'image' in schema['properties'] ? 'image' : 'file'
    const to = { path: operation.path, field, draw }
    const sent = sendFile(server, known.key, draw.file, to)
    return { sent, what: `${operation.operationId} with a file` }
  }
  const made = await generateRequest(operation, draw, known)
  const isGateway = root !== '/api'
  const body = isGateway ? withModel(made.body, draw) : made.body
  const options: RequestOptions = { key: made.key, headers: made.headers, body, from }
  return {
    sent: server.request(made.method, root + made.path, options),
    what: `${made.method} ${root}${made.path} ${Bun.inspect(body).slice(0, 2_000)}`,
  }
}

/** Most generated models are unknown, and end every request early. */
const withModel = (body: unknown, { seed }: Draw): unknown =>
  isRecord(body) && 'model' in body && seed % 4 > 0
    ? { ...body, model: models[seed % models.length] }
    : body

async function sendFile(
  server: TestServer,
  key: string,
  file: Draw['file'],
  { path = '/files', field = 'file', draw }: { path?: string; field?: string; draw?: Draw } = {},
): Promise<TestResponse> {
  const form = new FormData()
  form.append(field, new File([file], draw?.text ?? 'a.txt'))
  if (draw && draw.seed % 3 === 0) form.append('purpose', draw.text.toWellFormed())
  if (draw && path !== '/files') {
    form.append('model', models[draw.seed % models.length] ?? '')
    form.append('prompt', 'a boat')
  }
  const request = new Request('http://localhost/', { method: 'POST', body: form })
  const headers = { 'content-type': request.headers.get('content-type') ?? '' }
  return server.request('POST', `/v1${path}`, { key, headers, body: await request.bytes() })
}

function withinBound(response: Promise<TestResponse>): Promise<TestResponse> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no response for ${hangMs} ms`)), hangMs)
  return Promise.race([response, promise]).finally(() => clearTimeout(timer))
}
