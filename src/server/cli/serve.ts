import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

import { appUrl } from '../../apps/kinds.ts'
import { environmentForUpstreams, serviceManager, type Urls } from '../../kernel/config/load.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { fromCredits } from '../../kernel/money.ts'
import { isRecord, lookUp } from '../../kernel/schema.ts'
import { grantTo } from '../../money/ledger/ledger.ts'
import * as agents from '../../people/agents/agents.ts'
import { operatorLink } from '../../people/people.ts'
import { forgetFirstApp, readFirstApp, writeFirstApp } from '../../store/data-files.ts'
import { serve } from '../http/server.ts'

/** The sample apps: each is a folder of public/samples with a page, its assets and sample.json. */
export const sampleNames = [
  'lampkeeper',
  'slack-tide',
  'pigment',
  'last-ferry',
  'patchwork',
] as const
export type SampleName = (typeof sampleNames)[number]

const mediaTypes: Record<string, string> = { '.png': 'image/png', '.ogg': 'audio/ogg' }

/** The binary embeds the samples beside its bundle. */
const folder = Bun.isStandaloneExecutable
  ? join(import.meta.dir, 'public/samples')
  : join(import.meta.dir, '../../../public/samples')

/** Sends a request to the APIs: over the network, or within this process. */
type Send = (request: Request) => Promise<Response>

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

/** Returns a function that calls an API. It throws an Error for every failed response. */
const createCaller =
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

interface BannerParts {
  /** The sample app. */
  link?: string | undefined
  /** A gateway key with credits. */
  key?: string | undefined
  /** The link that creates the operator's account. */
  operator?: string | undefined
}

function bannerText({ base, gateway, mcp }: Urls, { link, key, operator }: BannerParts): string {
  const page = `{"html":"<!doctype html><title>Hello</title><h1>Hello from my agent</h1>"}`
  const headers = `-H "Authorization: Bearer $KEY" -H "Content-Type: application/json"`
  const firstLink = `grep -o 'http[^"]*/a/[A-Za-z0-9_-]*' | head -n 1`
  return [
    'Berth is running.',
    '',
    ...(link ? [`  play         ${link}`] : []),
    `  base_url     ${base}`,
    `  gateway_url  ${gateway}`,
    `  mcp_url      ${mcp}`,
    `  docs         ${base}/docs`,
    ...(operator ? [`  operator     ${operator}   (creates your account; works once)`] : []),
    '',
    ...(key ? clientExample(`${gateway}/v1`, key) : []),
    'Create an API key, publish a page, open it:',
    '',
    `KEY=$(curl -sX POST ${base}/keys | grep -o 'ak_[A-Za-z0-9]*' | head -n 1)`,
    `LINK=$(curl -s ${base}/apps ${headers} -d '${page}' | ${firstLink})`,
    'echo "$LINK" && curl -s "$LINK"',
    '',
  ].join('\n')
}

const clientExample = (baseURL: string, apiKey: string): string[] => [
  'Call a demo model with any OpenAI client. This key holds 1 USD and is shown once:',
  '',
  "  import OpenAI from 'openai'",
  `  const berth = new OpenAI({ baseURL: '${baseURL}', apiKey: '${apiKey}' })`,
  "  const messages = [{ role: 'user', content: 'Ahoy' }]",
  "  const answer = await berth.chat.completions.create({ model: 'demo/chat', messages })",
  '  console.log(answer.choices[0].message.content, answer.usage.cost)',
  '',
]

/**
 * Returns the text that `berth serve` prints when it is ready. On the first run it also publishes a
 * sample game and, with demo models, creates a gateway key with credits. Both go through the public
 * APIs, by `send`, unless new keys need an invitation. A failure is logged and its part left out. A
 * first run that was killed is repeated by the next start.
 */
export async function printBanner(ctx: AppContext, send: Send): Promise<string> {
  const { dataDir } = ctx.config
  const operator = await operatorLink(ctx)
  const firstApp = await readFirstApp(dataDir)
  if (firstApp) return bannerText(ctx.urls, { link: appUrl(ctx, firstApp), operator })
  const isOpen = ctx.config.keysOpen === 'on'
  const isFirstRun = isOpen && (firstApp === '' || (await agents.hasNoAgents(ctx)))
  if (!isFirstRun) return bannerText(ctx.urls, { operator })
  const logFailure = (error: unknown): undefined => {
    ctx.log.error('first run', error)
    return undefined
  }
  await writeFirstApp(dataDir, '')
  const hasDemo = ctx.catalog.find('demo/chat') !== undefined
  const key = hasDemo ? await createFundedKey(ctx, send).catch(logFailure) : undefined
  const link = await publishFirstSample(ctx, send).catch(logFailure)
  if (!link) await forgetFirstApp(dataDir)
  return bannerText(ctx.urls, { link, key, operator })
}

async function publishFirstSample(ctx: AppContext, send: Send): Promise<string | undefined> {
  const [app] = await publishSamples('http://localhost/api', ['lampkeeper'], send)
  if (app) await writeFirstApp(ctx.config.dataDir, app.id)
  return app?.link
}

/** The credits of the first gateway key: 1 USD. */
const firstGrant = fromCredits(1_000)

async function createFundedKey(ctx: AppContext, send: Send): Promise<string> {
  const call = createCaller('http://localhost', send)
  const account = await call('POST', '/accounts/create', json({}))
  const owner = { kind: 'gateway', owner: String(account.credit_id) } as const
  const ref = `first:${owner.owner}`
  await grantTo(ctx, owner, { amount: firstGrant, kind: 'grant', ref, free: false })
  return String(account.api_key)
}

/** `berth serve`: serves until SIGTERM or SIGINT. Throws FolderInUse and PortInUse. */
export async function serveUntilSignal(config: Config, json: boolean): Promise<void> {
  restartForUpstreams(config)
  const server = await serve(config)
  const { urls, log } = server.ctx
  const operatorUrl = await operatorLink(server.ctx)
  const manager = serviceManager()
  const tellStopping =
    manager && (await import('./service-manager.ts')).notifyServiceManager(server, manager)
  const stop = (): void => {
    tellStopping?.()
    void server.stop().then(() => process.exit(0))
  }
  server.ctx.state.backupWork.restart = () => void server.stop().then(() => startAgain())
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // A rejection without a handler ends one piece of work. All others go on.
  process.on('unhandledRejection', (error) => log.error('unhandled', error))
  const ready = {
    origin: server.origin,
    baseUrl: urls.base,
    gatewayUrl: urls.gateway,
    appUrl: urls.app,
    mcpUrl: urls.mcp,
    pid: process.pid,
    ...(operatorUrl && { operatorUrl }),
  }
  // `process.stdout` would load the streams of Node.
  await Bun.write(
    Bun.stdout,
    json ? `${JSON.stringify(ready)}\n` : await printBanner(server.ctx, server.send),
  )
  // Up to here the binary compiles little of what it runs: see scripts/build.
  Bun.unsafe.setJITPolicy(1)
}

/** Starts this process again where Bun would allow too few upstream requests. */
function restartForUpstreams(config: Config): void {
  const env = environmentForUpstreams(config)
  // On Windows, Bun's default limit stays in force.
  if (env && process.platform !== 'win32') startAgain(env)
}

/** Starts this program again in this process, with its id. Windows has no execve: it ends there. */
function startAgain(env?: typeof process.env): void {
  const script = Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main]
  const args = [process.execPath, ...script, ...Bun.argv.slice(2)]
  if (process.platform === 'win32') process.exit(0)
  process.execve?.(process.execPath, args, ...(env ? [env] : []))
}
