/**
 * The built binary and a person in a browser, with and without scripts: the operator's link, an
 * account, a claim, credits, a cap, a key, the agent's view of it, a passkey and an identity
 * provider.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, BrowserContext, Page } from 'playwright-core'

import { findViolations } from '../browsers/axe.ts'
import { findBrowser } from '../browsers/browser.ts'
import { addPasskeyDevice } from '../browsers/passkey-device.ts'
import { borrowBrowser } from '../browsers/session.ts'
import { IdentityProvider } from '../fakes/identity-provider.ts'
import { password } from '../fixtures/people.ts'
import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../processes/server-process.ts'
import { isThorough } from '../thorough.ts'

const ms = 120_000
const executablePath = findBrowser('chromium')

describe.skipIf(executablePath === undefined)('a person', () => {
  let browser: Browser
  let giveBack: () => Promise<void>
  const folder = mkdtempSync(join(tmpdir(), 'berth-people-'))
  const servers: ServerProcess[] = []
  const provider = new IdentityProvider()
  beforeAll(async () => {
    ;({ browser, giveBack } = await borrowBrowser(executablePath ?? ''))
  }, ms)
  afterAll(async () => {
    await giveBack()
    for (const ctx of servers) ctx.kill('SIGKILL')
    await provider.close()
    rmSync(folder, { recursive: true })
  })

  // Without scripts the pages are forms, which tests over HTTP send.
  for (const javaScriptEnabled of isThorough ? [true, false] : [true]) {
    const data = join(folder, String(javaScriptEnabled))
    test(
      `operates a server, owns an agent and releases it, ${javaScriptEnabled ? 'with' : 'without'} scripts`,
      async () => {
        const env = { OLLAMA_HOST: 'off', ...provider.settings }
        const ctx = await startServerProcess(data, { env })
        servers.push(ctx)
        const context = await browser.newContext({ javaScriptEnabled })
        const errors = listen(context)
        const page = await context.newPage()
        await begin(page, ctx)
        const key = await claim(page, ctx)
        await manage(page, ctx, data, key)
        if (javaScriptEnabled && isThorough) await inspect(page, ctx)
        await leave(page, ctx, key)
        await comeAgain(page, ctx, javaScriptEnabled)
        expect(errors).toEqual([])
        await context.close()
      },
      ms,
    )
  }
})

/** Collects errors of the browser: policy violations and failed scripts. */
function listen(context: BrowserContext): string[] {
  const errors: string[] = []
  context.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
      errors.push(message.text())
  })
  context.on('weberror', (error) => errors.push(String(error.error())))
  return errors
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first()

const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Agent' }).getByRole('link', { name })

/** The first person of a new server becomes its operator and then signs in with the password. */
async function begin(page: Page, { operatorUrl = '' }: ServerProcess): Promise<void> {
  await page.goto(operatorUrl)
  await page.getByLabel('Username or email').fill('Olga')
  await page.getByLabel('Password').fill(password)
  await button(page, 'Create account').click()
  expect(await page.locator('.codes li').count()).toBe(8)
  await page.getByRole('link', { name: 'I saved my codes' }).click()
  expect(await page.textContent('main')).toContain('Set up this server')
  await page.goto(new URL('/account', operatorUrl).href)
  expect(await page.textContent('main')).toContain('You are the operator')
  await button(page, 'Sign out').click()
  await page.goto(operatorUrl)
  expect(await page.textContent('h1')).toBe('Page not found')
}

/** A signed-out person opens an agent's claim link, sees the agent, signs in and confirms. */
async function claim(page: Page, ctx: ServerProcess): Promise<string> {
  const made: unknown = await (await ctx.call('POST', '/api/keys', undefined, {})).json()
  const key = textAt(made, 'key')
  const html = '<!doctype html><title>Harbour</title><h1>Harbour</h1>'
  await ctx.call('POST', '/api/apps', key, { html })
  await page.goto(textAt(made, 'claim.url'))
  expect(await page.textContent('main')).toContain('Harbour')
  await page.getByRole('link', { name: 'Sign in to claim' }).click()
  await page.getByLabel('Username or email').fill('olga')
  await page.getByLabel('Password').fill('not her password')
  await button(page, 'Sign in').click()
  expect(await page.textContent('[role=alert]')).toContain('Wrong username or password.')
  await page.getByLabel('Password').fill(password)
  await button(page, 'Sign in').click()
  await button(page, /^Claim @/).click()
  expect(await page.textContent('h1')).toBe(`@${textAt(made, 'agent.handle')}`)
  return key
}

/** Returns the agent's own record. */
async function recordOf(ctx: ServerProcess, key: string): Promise<unknown> {
  return (await ctx.call('GET', '/api/me', key)).json()
}

/** Grants credits from the wallet, sets a cap, pauses, and creates and revokes a key. */
async function manage(page: Page, ctx: ServerProcess, data: string, key: string): Promise<void> {
  expect((await runBerth(['grant', 'olga', '5', '--data', data])).out).toContain('5000 credits')
  await page.reload()
  await button(page, 'Send credits').click()
  const sending = page.getByRole('dialog', { name: /^Send credits/ })
  await sending.getByLabel('Credits', { exact: false }).fill('250')
  await sending.getByRole('button', { name: 'Send credits' }).click()
  await tab(page, 'Settings').click()
  await page.getByLabel('Daily cap').fill('30')
  await button(page, 'Save limit').click()
  expect(await recordOf(ctx, key)).toMatchObject({
    credits: 650,
    claimed: true,
    owner: 'olga',
    limits: { dailyCap: 30 },
  })
  await button(page, 'Pause spending').click()
  expect(await recordOf(ctx, key)).toMatchObject({ limits: { dailyCap: 0 } })
  await button(page, 'Resume spending').click()
  await tab(page, 'API keys').click()
  await button(page, 'Create API key').click()
  const creating = page.getByRole('dialog', { name: 'Create API key' })
  await creating.getByLabel('Key name').fill('laptop')
  await creating.getByRole('button', { name: 'Create API key' }).click()
  const made = (await page.locator('main code').textContent()) ?? ''
  expect((await ctx.call('GET', '/api/me', made)).status).toBe(200)
  await page.getByRole('link', { name: 'Done' }).click()
  await button(page, `Revoke ${made.slice(0, 11)}`).click()
  expect((await ctx.call('GET', '/api/me', made)).status).toBe(200)
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  expect((await ctx.call('GET', '/api/me', made)).status).toBe(401)
}

/** Checks every page of a person with axe-core. CI checks them without this journey. */
async function inspect(page: Page, { origin }: ServerProcess): Promise<void> {
  const agent = new URL(page.url()).pathname
  for (const path of [agent, '/agents', '/account', '/wallet']) {
    await page.goto(origin + path)
    expect([path, ...(await findViolations(page))]).toEqual([path])
  }
  await page.goto(origin + agent)
}

/** Releases the agent, so that another person can claim it. */
async function leave(page: Page, ctx: ServerProcess, key: string): Promise<void> {
  await tab(page, 'Settings').click()
  await button(page, 'Release').click()
  expect(await recordOf(ctx, key)).toMatchObject({ claimed: true })
  await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click()
  // The agent that the account started with stays.
  expect(await page.locator('.cards li').count()).toBe(1)
  expect(await recordOf(ctx, key)).toMatchObject({ claimed: false, owner: null, credits: 650 })
}

/** Signs in through the identity provider, and with a passkey where scripts run. */
async function comeAgain(page: Page, { origin }: ServerProcess, scripts: boolean): Promise<void> {
  await page.goto(`${origin}/account`)
  await page.getByRole('link', { name: 'Connect Harbour ID' }).click()
  await page
    .getByRole('region', { name: 'Connected accounts' })
    .getByText('Ann.Sailor')
    .first()
    .waitFor()
  if (scripts) {
    await addPasskeyDevice(page)
    await page.getByLabel('Passkey name').fill('Phone')
    await button(page, 'Add passkey').click()
    await page.getByRole('region', { name: 'Passkeys' }).getByText('Phone').first().waitFor()
  }
  for (const way of ['Sign in with Harbour ID', ...(scripts ? ['Sign in with a passkey'] : [])]) {
    await button(page, 'Sign out').click()
    await page.goto(`${origin}/sign-in?next=/account`)
    await page.getByText(way).click()
    await page.waitForURL(`${origin}/account`)
    expect(await page.textContent('h1')).toBe('olga')
  }
}
