import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** Where a running house is reached, as agents are told. No address ends with a slash. */
export interface Addresses {
  baseUrl: string
  gatewayUrl: string
  mcpUrl: string
}

/** Our sample apps: a folder of public/samples each, and what is said of it. */
const shelves = {
  lampkeeper: {
    kind: 'game',
    title: 'Lampkeeper',
    description:
      'Boats follow your light. So do other things. Bring the first home, burn the rest.',
    shelf: 'arcade',
  },
  'slack-tide': {
    kind: 'game',
    title: 'Slack Tide',
    description: 'You have no oars, only the tide: turn it, and moor each boat at its own buoy.',
    shelf: 'puzzle',
  },
  pigment: {
    kind: 'app',
    title: 'Pigment',
    description: 'Drop in a picture, take away its palette.',
    shelf: 'tools',
  },
}

export type SampleName = keyof typeof shelves
export const sampleNames: SampleName[] = ['lampkeeper', 'slack-tide', 'pigment']

const types: Record<string, string> = {
  '.png': 'image/png',
  '.wav': 'audio/wav',
  '.json': 'application/json',
}

/** In the compiled binary the samples are embedded beside the bundle. */
const samples = Bun.isStandaloneExecutable
  ? join(import.meta.dir, 'public/samples')
  : join(import.meta.dir, '../public/samples')

/**
 * Publishes sample apps as any agent would, with one new key: the page, its assets, then a place on
 * Explore, all through the Agent API at `baseUrl` (an address that this machine can reach). Answers
 * their links. Throws an Error with the API's own words when it refuses.
 */
export async function publishSamples(
  baseUrl: string,
  names: SampleName[],
  handle?: string,
): Promise<string[]> {
  const about = 'Games and tools that came with this house.'
  const { key } = await call(`${baseUrl}/keys`, 'POST', json({ handle, about }))
  const links: string[] = []
  for (const name of names) links.push(await publish(name, baseUrl, String(key)))
  return links
}

async function publish(name: SampleName, baseUrl: string, key: string): Promise<string> {
  const send = (method: string, path: string, body: Payload) =>
    call(`${baseUrl}${path}`, method, body, key)
  const { kind, ...change } = shelves[name]
  const html = readFileSync(join(samples, name, 'index.html'), 'utf8')
  const { app } = await send('POST', '/apps', json({ html, kind }))
  const { id, link } = published(app)
  const assets = join(samples, name, 'assets')
  for (const file of readdirSync(assets).sort()) {
    const type = types[extname(file)] ?? 'application/octet-stream'
    await send('PUT', `/apps/${id}/assets/${file}`, {
      type,
      data: readFileSync(join(assets, file)),
    })
  }
  await send('PATCH', `/apps/${id}`, json({ ...change, store: true }))
  return link
}

interface Payload {
  type: string
  data: string | Uint8Array<ArrayBuffer>
}

const json = (value: unknown): Payload => ({
  type: 'application/json',
  data: JSON.stringify(value),
})

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

async function call(
  url: string,
  method: string,
  { type, data }: Payload,
  key?: string,
): Promise<Record<string, unknown>> {
  const headers = { 'content-type': type, ...(key ? { authorization: `Bearer ${key}` } : {}) }
  const answer = await fetch(url, { method, headers, body: data })
  const body: unknown = await answer.json().catch(() => undefined)
  if (answer.ok && isRecord(body)) return body
  const why = isRecord(body) ? String(body.error) : 'no answer in JSON'
  throw new Error(`${method} ${url} answered ${answer.status}: ${why}`)
}

function published(app: unknown): { id: string; link: string } {
  if (isRecord(app) && typeof app.id === 'string' && typeof app.link === 'string') {
    return { id: app.id, link: app.link }
  }
  throw new Error('the answer to POST /apps names no app')
}

/**
 * What `berth serve` prints once it answers: the link of the sample game, where there is one, the
 * addresses, and three lines for a shell that make a key, publish a page and open it.
 */
export function welcome({ baseUrl, gatewayUrl, mcpUrl }: Addresses, link?: string): string {
  const page = `{"html":"<!doctype html><title>Hello</title><h1>Hello from my agent</h1>"}`
  const headers = `-H "Authorization: Bearer $KEY" -H "Content-Type: application/json"`
  return [
    'Berth is open.',
    '',
    ...(link ? [`  play         ${link}`] : []),
    `  base_url     ${baseUrl}`,
    `  gateway_url  ${gatewayUrl}`,
    `  mcp_url      ${mcpUrl}`,
    `  docs         ${baseUrl}/docs`,
    '',
    'Make a key, publish a page, open it:',
    '',
    `KEY=$(curl -sX POST ${baseUrl}/keys | grep -o 'ak_[A-Za-z0-9]*' | head -n 1)`,
    `LINK=$(curl -s ${baseUrl}/apps ${headers} -d '${page}' | ${firstLink})`,
    'echo "$LINK" && curl -s "$LINK"',
    '',
  ].join('\n')
}

const firstLink = `grep -o 'http[^"]*/a/[A-Za-z0-9_-]*' | head -n 1`
