import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

import type { Urls } from '../config/urls.ts'
import type { AppContext } from '../context.ts'
import { fromCredits } from '../core/money.ts'
import { isRecord } from '../core/schema.ts'
import * as agents from '../hosting/agents/agents.ts'
import { linkOf } from '../hosting/apps/present.ts'
import { operatorLink } from '../hosting/people/people.ts'
import { grantTo } from '../ledger/ledger.ts'
import { forgetFirstApp, readFirstApp, writeFirstApp } from '../storage/first-app.ts'

/** Our sample apps: each a folder of public/samples with its page, its assets and sample.json. */
export type SampleName = 'lampkeeper' | 'slack-tide' | 'pigment'

const types: Record<string, string> = {
  '.png': 'image/png',
  '.wav': 'audio/wav',
}

/** In the compiled binary the samples are embedded beside the bundle. */
const samples = Bun.isStandaloneExecutable
  ? join(import.meta.dir, 'public/samples')
  : join(import.meta.dir, '../public/samples')

/** Brings a request to the Agent API: over the network, or by the front door of this process. */
export type Send = (request: Request) => Promise<Response>

/** One app of the API's answer. */
interface Published {
  id: string
  link: string
}

/**
 * Publishes sample apps as any agent would, with one new key: the page, its assets, then a place on
 * Explore, all through the Agent API at `baseUrl`. Throws an Error with the API's own words when it
 * refuses.
 */
export async function publishSamples(
  baseUrl: string,
  names: SampleName[],
  send: Send = fetch,
): Promise<Published[]> {
  const about = 'Games and tools that came with this house.'
  const call = caller(baseUrl, send)
  const { key } = await call('POST', '/keys', json({ about }))
  const made: Published[] = []
  for (const name of names) made.push(await publish(name, call, String(key)))
  return made
}

async function publish(name: SampleName, call: Call, key: string): Promise<Published> {
  const send = (method: string, path: string, body: Payload) => call(method, path, body, key)
  const read = (...path: string[]) => readFileSync(join(samples, name, ...path))
  const { assets, ...about }: { assets: string[] } = JSON.parse(read('sample.json').toString())
  const html = read('index.html').toString()
  const { app } = await send('POST', '/apps', json({ html, ...about }))
  const made = published(app)
  for (const file of assets) {
    const type = types[extname(file)] ?? 'application/octet-stream'
    await send('PUT', `/apps/${made.id}/assets/${file}`, { type, data: read('assets', file) })
  }
  await send('PATCH', `/apps/${made.id}`, json({ store: true }))
  return made
}

interface Payload {
  type: string
  data: string | Uint8Array<ArrayBuffer>
}

const json = (value: unknown): Payload => ({
  type: 'application/json',
  data: JSON.stringify(value),
})

type Call = (
  method: string,
  path: string,
  payload: Payload,
  key?: string,
) => Promise<Record<string, unknown>>

const caller =
  (baseUrl: string, send: Send): Call =>
  async (method, path, { type, data }, key) => {
    const headers = { 'content-type': type, ...(key && { authorization: `Bearer ${key}` }) }
    const answer = await send(new Request(baseUrl + path, { method, headers, body: data }))
    const body: unknown = await answer.json().catch(() => undefined)
    if (answer.ok && isRecord(body)) return body
    // Of the Agent API it is a sentence, of the gateway an object that has one.
    const error = isRecord(body) ? body.error : 'no answer in JSON'
    const why = isRecord(error) ? error.message : error
    throw new Error(`${method} ${path} answered ${answer.status}: ${String(why)}`)
  }

function published(app: unknown): Published {
  if (isRecord(app) && typeof app.id === 'string' && typeof app.link === 'string') {
    return { id: app.id, link: app.link }
  }
  throw new Error('the answer to POST /apps names no app')
}

/** What a new house made for its first visitor; each part may be missing. */
interface Gifts {
  link?: string | undefined
  /** A gateway key with some credits. */
  key?: string | undefined
  /** Makes who opens it the operator, while there is none. */
  operator?: string | undefined
}

/**
 * What `berth serve` prints once it answers: the link of the sample game and a client for the
 * gateway, where there are such, the addresses, and three lines for a shell that make a key,
 * publish a page and open it.
 */
function welcome({ base, gateway, mcp }: Urls, { link, key, operator }: Gifts): string {
  const page = `{"html":"<!doctype html><title>Hello</title><h1>Hello from my agent</h1>"}`
  const headers = `-H "Authorization: Bearer $KEY" -H "Content-Type: application/json"`
  return [
    'Berth is open.',
    '',
    ...(link ? [`  play         ${link}`] : []),
    `  base_url     ${base}`,
    `  gateway_url  ${gateway}`,
    `  mcp_url      ${mcp}`,
    `  docs         ${base}/docs`,
    ...(operator ? [`  operator     ${operator}   (yours: it works once)`] : []),
    '',
    ...(key ? client(`${gateway}/v1`, key) : []),
    'Make a key, publish a page, open it:',
    '',
    `KEY=$(curl -sX POST ${base}/keys | grep -o 'ak_[A-Za-z0-9]*' | head -n 1)`,
    `LINK=$(curl -s ${base}/apps ${headers} -d '${page}' | ${firstLink})`,
    'echo "$LINK" && curl -s "$LINK"',
    '',
  ].join('\n')
}

const firstLink = `grep -o 'http[^"]*/a/[A-Za-z0-9_-]*' | head -n 1`

/** The openai client with a key that has credits, and a demo model. */
const client = (baseURL: string, apiKey: string): string[] => [
  'Talk to a demo model with any OpenAI client. This key holds 1 USD; it is shown once:',
  '',
  "  import OpenAI from 'openai'",
  `  const berth = new OpenAI({ baseURL: '${baseURL}', apiKey: '${apiKey}' })`,
  "  const messages = [{ role: 'user', content: 'Ahoy' }]",
  "  const answer = await berth.chat.completions.create({ model: 'demo/chat', messages })",
  '  console.log(answer.choices[0].message.content, answer.usage.cost)',
  '',
]

/**
 * The greeting of a house that answers. A new one first publishes a sample game and, where demo
 * models are served, makes a funded gateway key, both through the public APIs as `send` brings it
 * there, unless new keys need an invitation; when one refuses there is none, and the log says why.
 * A house whose first start was killed over it is still new.
 */
export async function greet(ctx: AppContext, send: Send): Promise<string> {
  const { dataDir } = ctx.config
  const operator = await operatorLink(ctx)
  const known = await readFirstApp(dataDir)
  if (known) return welcome(ctx.urls, { link: linkOf(ctx, known), operator })
  const isOpen = ctx.config.keysOpen === 'on'
  const isNew = isOpen && (known === '' || (await agents.areNone(ctx)))
  if (!isNew) return welcome(ctx.urls, { operator })
  const orNone = (error: unknown): undefined => {
    ctx.log.fault('a new house could not make its samples', error)
    return undefined
  }
  await writeFirstApp(dataDir, '')
  const key = ctx.catalogue.find('demo/chat') && (await fundedKey(ctx, send).catch(orNone))
  const link = await firstSample(ctx, send).catch(orNone)
  if (!link) await forgetFirstApp(dataDir)
  return welcome(ctx.urls, { link, key, operator })
}

async function firstSample(ctx: AppContext, send: Send): Promise<string | undefined> {
  const [made] = await publishSamples('http://localhost/api', ['lampkeeper'], send)
  if (made) await writeFirstApp(ctx.config.dataDir, made.id)
  return made?.link
}

/** The operator's first gift, 1 USD, as `berth grant` would give it. */
const firstGift = fromCredits(1_000)

async function fundedKey(ctx: AppContext, send: Send): Promise<string> {
  const call = caller('http://localhost', send)
  const made = await call('POST', '/accounts/create', json({}))
  const owner = { kind: 'gateway', owner: String(made.credit_id) } as const
  const ref = `first:${owner.owner}`
  await grantTo(ctx, owner, { amount: firstGift, kind: 'grant', ref, free: false })
  return String(made.api_key)
}
