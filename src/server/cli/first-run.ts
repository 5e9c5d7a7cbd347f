import { appUrl } from '../../apps/app-url.ts'
import type { Urls } from '../../kernel/config/load.ts'
import type { AppContext } from '../../kernel/context.ts'
import { fromCredits } from '../../kernel/money.ts'
import { grantTo } from '../../money/ledger/ledger.ts'
import * as agents from '../../people/agents/agents.ts'
import { operatorLink } from '../../people/people.ts'
import { forgetFirstApp, readFirstApp, writeFirstApp } from '../../store/data-files.ts'
import { createCaller, json, publishSamples, type Send } from './samples.ts'

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
