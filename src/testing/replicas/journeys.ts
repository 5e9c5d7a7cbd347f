import { recordOf } from '../../kernel/schema.ts'
import { stopwatch } from '../../kernel/time.ts'
import { expect, textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'
import { Front, type FrontRequest } from './front.ts'
import type { Replicas } from './replicas.ts'

const requestMs = 20_000
/** A request that has no final response for this long has failed. */
const patienceMs = 120_000

/** A client of both APIs, with what was acknowledged to it. */
export interface Client {
  name: string
  key: string
  agent: string
  /** The versions of each app. */
  apps: Map<string, string[]>
  /** The text of each uploaded file. */
  files: Map<string, string>
  calls: number
}

type Step = (front: Front, draw: () => number, client: Client, ref: string) => Promise<void>

interface Final {
  status: number
  text: string
}

/** Sends a request, under one key, until a server has a final response. */
async function persist(front: Front, draw: () => number, request: FrontRequest): Promise<Final> {
  const since = stopwatch()
  for (;;) {
    const found = await attempt(front, request)
    if (found && !isTemporary(found)) return found
    const last = found ? `${found.status} ${found.text}` : 'no response'
    expect(stopwatch() - since < patienceMs, `${request.path} has no final response: ${last}`)
    await Bun.sleep(20 + draw() * 80)
  }
}

/** Returns the whole response, or undefined if its server or its connection ended. */
async function attempt(front: Front, request: FrontRequest): Promise<Final | undefined> {
  const signal = AbortSignal.timeout(requestMs)
  try {
    const response = await front.send(request, signal)
    return { status: response.status, text: await response.text() }
  } catch {
    return undefined
  }
}

/** A 502 in JSON is the result of a call; another one is of the balancer. */
const isTemporary = ({ status, text }: Final): boolean =>
  [409, 429, 500, 503, 504].includes(status) || (status === 502 && !text.startsWith('{'))

const pick = <T>(all: readonly T[], draw: () => number): T | undefined =>
  all[Math.floor(draw() * all.length)]

const pageOf = (ref: string): string => `<!doctype html><title>${ref}</title><h1>${ref}</h1>`

const publish: Step = async (front, draw, { agent, apps }, ref) => {
  const html = pageOf(ref)
  const request = { method: 'POST', path: '/api/apps', key: agent, ref, body: { html } }
  const { status, text } = await persist(front, draw, request)
  expect(status === 201, `publishing is ${status}: ${text}`)
  apps.set(textAt(JSON.parse(text), 'app.id'), [html])
}

const update: Step = async (front, draw, client, ref) => {
  const [id, versions] = pick([...client.apps], draw) ?? []
  if (id === undefined || !versions) return publish(front, draw, client, ref)
  const html = pageOf(ref)
  const path = `/api/apps/${id}/versions`
  const request = { method: 'POST', path, key: client.agent, ref, body: { html } }
  const { status, text } = await persist(front, draw, request)
  expect(status === 201, `a new version is ${status}: ${text}`)
  versions.push(html)
}

const open: Step = async (front, draw, { apps }) => {
  const [id, versions = []] = pick([...apps], draw) ?? []
  if (id === undefined) return
  const { status, text } = await persist(front, draw, { method: 'GET', path: `/a/${id}/data` })
  // Another server may show the version before for half a second.
  const isKnown = versions.includes(text)
  expect(status === 200 && isKnown, `the app ${id} is ${status}: ${text.slice(0, 200)}`)
}

const chatWith = (isStream: boolean): Step => {
  return async (front, draw, client, ref) => {
    const messages = [{ role: 'user', content: ref }]
    const body = { model: 'fake/ok', max_tokens: 50, messages, stream: isStream }
    const path = '/v1/chat/completions'
    const request = { method: 'POST', path, key: client.key, ref, body }
    const { status, text } = await persist(front, draw, request)
    // 502: its server died during the call, which was charged once.
    expect([200, 502].includes(status), `a call is ${status}: ${text}`)
    client.calls += 1
  }
}

const upload: Step = async (front, draw, { key, files }, ref) => {
  const content = `The content of ${ref}.`
  const body = new FormData()
  body.set('file', new File([content], 'note.txt', { type: 'text/plain' }))
  const { status, text } = await persist(front, draw, {
    method: 'POST',
    path: '/v1/files',
    key,
    body,
  })
  expect(status === 200, `an upload is ${status}: ${text}`)
  files.set(textAt(JSON.parse(text), 'id'), content)
}

const download: Step = async (front, draw, { key, files }) => {
  const [id, content] = pick([...files], draw) ?? []
  if (id === undefined) return
  const path = `/v1/files/${id}/content`
  const { status, text } = await persist(front, draw, { method: 'GET', path, key })
  expect(status === 200 && text === content, `the file ${id} is ${status}: ${text.slice(0, 200)}`)
}

const steps: readonly Step[] = [
  publish,
  publish,
  update,
  open,
  open,
  upload,
  download,
  chatWith(true),
  chatWith(true),
  chatWith(false),
  chatWith(false),
  chatWith(false),
]

/** Runs random steps of both APIs in turn until a time. `part`: a part of their keys. */
export async function runJourneys(
  front: Front,
  draw: () => number,
  client: Client,
  end: number,
  part = 'step',
): Promise<void> {
  for (let at = 0; stopwatch() < end; at += 1) {
    await pick(steps, draw)?.(front, draw, client, `${client.name}-${part}-${at}`)
  }
}

/** Checks that a server has everything that was acknowledged, each call once in the history. */
export async function checkClient(
  front: Front,
  { key, apps, files, calls }: Client,
): Promise<void> {
  const read = async (request: { path: string; key?: string }): Promise<string> =>
    (await persist(front, () => 0.5, { method: 'GET', ...request })).text
  for (const [id, versions] of apps) {
    const text = await read({ path: `/a/${id}/data` })
    expect(text === versions.at(-1), `the app ${id} is ${text.slice(0, 200)}`)
  }
  for (const [id, content] of files) {
    const path = `/v1/files/${id}/content`
    const text = await read({ path, key })
    expect(text === content, `the file ${id} is ${text.slice(0, 200)}`)
  }
  const { total } = recordOf(JSON.parse(await read({ path: '/queries/history', key })))
  expect(total === calls, `${calls} calls have ${String(total)} rows of history`)
}

/** Creates clients with credits. */
export async function createClients(r: Replicas, count: number): Promise<Client[]> {
  const clients: Client[] = []
  for (let at = 0; at < count; at += 1) {
    const key = await r.newGatewayKey()
    const agent = await until(() => r.servers[0]?.newKey().catch(() => undefined))
    const name = `client-${at}`
    clients.push({ name, key, agent, apps: new Map(), files: new Map(), calls: 0 })
  }
  return clients
}

/**
 * Checks that each server has what was acknowledged to clients, that the ledger balances and that
 * no file is missing. Throws an Error that names the violation.
 */
export async function checkClients(r: Replicas, clients: readonly Client[]): Promise<void> {
  await Promise.all(
    r.servers.flatMap(({ origin }) =>
      clients.map((client) => checkClient(new Front(origin), client)),
    ),
  )
  const report = await r.command(['doctor'])
  expect(report.includes('sound'), report)
  // Throws where a file is missing.
  await r.command(['storage', 'check'])
}
