import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

import { isRecord, lookUp } from '../../kernel/schema.ts'

/** The sample apps: each is a folder of public/samples with a page, its assets and sample.json. */
export const sampleNames = [
  'lampkeeper',
  'slack-tide',
  'pigment',
  'last-ferry',
  'patchwork',
] as const
export type SampleName = (typeof sampleNames)[number]

const mediaTypes: Record<string, string> = { '.png': 'image/png', '.wav': 'audio/wav' }

/** The binary embeds the samples beside its bundle. */
const folder = Bun.isStandaloneExecutable
  ? join(import.meta.dir, 'public/samples')
  : join(import.meta.dir, '../../../public/samples')

/** Sends a request to the APIs: over the network, or within this process. */
export type Send = (request: Request) => Promise<Response>

interface PublishedApp {
  id: string
  link: string
}

/**
 * Publishes sample apps through the Agent API at `baseUrl`, with a new API key, and lists them on
 * Explore. Throws an Error with the message of the API.
 */
export async function publishSamples(
  baseUrl: string,
  names: readonly SampleName[],
  send: Send = fetch,
): Promise<PublishedApp[]> {
  const call = createCaller(baseUrl, send)
  const about = 'Games and tools that came with this server.'
  const { key } = await call('POST', '/keys', json({ about }))
  const apps: PublishedApp[] = []
  for (const name of names) apps.push(await publishSample(name, call, String(key)))
  return apps
}

async function publishSample(name: SampleName, call: Call, key: string): Promise<PublishedApp> {
  const read = (...path: string[]) => readFileSync(join(folder, name, ...path))
  const { assets, ...about }: { assets: string[] } = JSON.parse(read('sample.json').toString())
  const html = read('index.html').toString()
  const { app } = await call('POST', '/apps', json({ html, ...about }), key)
  if (!isPublishedApp(app)) throw new Error('The response of POST /apps has no app.')
  for (const file of assets) {
    const type = lookUp(mediaTypes, extname(file)) ?? 'application/octet-stream'
    const payload = { type, data: read('assets', file) }
    await call('PUT', `/apps/${app.id}/assets/${file}`, payload, key)
  }
  await call('PATCH', `/apps/${app.id}`, json({ store: true }), key)
  return app
}

const isPublishedApp = (app: unknown): app is PublishedApp =>
  isRecord(app) && typeof app.id === 'string' && typeof app.link === 'string'

interface Payload {
  type: string
  data: string | Uint8Array<ArrayBuffer>
}

export const json = (value: unknown): Payload => ({
  type: 'application/json',
  data: JSON.stringify(value),
})

type Call = (
  method: string,
  path: string,
  payload: Payload,
  key?: string,
) => Promise<Record<string, unknown>>

/** Returns a function that calls an API. It throws an Error for every failed response. */
export const createCaller =
  (baseUrl: string, send: Send): Call =>
  async (method, path, { type, data }, key) => {
    const headers = { 'content-type': type, ...(key && { authorization: `Bearer ${key}` }) }
    const response = await send(new Request(baseUrl + path, { method, headers, body: data }))
    const body: unknown = await response.json().catch(() => undefined)
    if (response.ok && isRecord(body)) return body
    // The error of the Agent API is a text; that of the gateway is an object with a message.
    const error = isRecord(body) ? body.error : 'the response is not JSON'
    const message = isRecord(error) ? error.message : error
    throw new Error(`${method} ${path} answered ${response.status}: ${String(message)}`)
  }
