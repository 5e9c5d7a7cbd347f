/**
 * `bun scripts/clients/inspector.ts`: the MCP Inspector, a host of MCP Apps that this project has
 * no code for. It verifies the skills of a server by their digests, and its page plays the ten apps
 * of src/testing/chats in Chromium. Throws where one of them does not work.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { chromium, type Page, type Response } from 'playwright-core'

import { chromiumFlags, findBrowser } from '../../src/testing/browsers/browser.ts'
import { allApps, type ChatApp, idOf } from '../../src/testing/chats/apps.ts'
import { startClientServer } from '../../src/testing/clients/server.ts'
import { skillText } from '../../src/testing/fixtures/folders.ts'
import { freePort } from '../../src/testing/free-port.ts'
import { textAt } from '../../src/testing/processes/server-process.ts'
import { install, makeHome, spawn } from './agent.ts'

const inspector = '@modelcontextprotocol/inspector@2.12.0'
const playMs = 900_000

const server = await startClientServer()
const home = makeHome()
try {
  await install(inspector, home)
  const [, origin = ''] = server.baseUrls
  const key = textAt(await call(origin, '/keys'), 'key')
  const target = ['--transport', 'http', '--server-url', `${origin}/mcp`]
  // Its own node has to be newer than that of some systems.
  const program = [process.execPath, join(home, 'node_modules/.bin/mcp-inspector')]
  const env = { HOME: join(home, 'own'), MCP_INSPECTOR_SECRET_STORE: 'memory' }
  mkdirSync(env.HOME)
  const files = [{ path: 'SKILL.md', text: skillText('one-file') }]
  await call(origin, '/skills', key, { files, store: true })
  const verify = ['--cli', ...target, '--method', 'skills/list', '--verify', '--require-digests']
  console.log((await spawn([...program, ...verify], home, env)).split('\n').at(-1))
  const ids = new Map<ChatApp, string>()
  for (const app of allApps) ids.set(app, idOf(await call(origin, '/apps', key, app.body)))
  const ports = { CLIENT_PORT: `${freePort()}`, MCP_SANDBOX_PORT: `${freePort()}` }
  const page = Bun.spawn(
    [...program, '--web', ...target, '--header', `Authorization: Bearer ${key}`],
    {
      cwd: home,
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: playMs,
      env: { ...process.env, ...env, ...ports, MCP_AUTO_OPEN_ENABLED: 'false' },
    },
  )
  try {
    await playAll(await readAddress(page.stdout), ids)
  } finally {
    page.kill()
    await page.exited
  }
} finally {
  await server.stop()
  rmSync(home, { recursive: true, force: true })
}

async function call(origin: string, path: string, key = '', body: unknown = {}): Promise<unknown> {
  const headers = {
    'content-type': 'application/json',
    ...(key && { authorization: `Bearer ${key}` }),
  }
  const sent = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`${origin}/api${path}`, sent)
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** Returns the address of the page with its token, which the program prints. */
async function readAddress(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true })
    const [found] = /http:\S+TOKEN=\w+/.exec(text) ?? []
    if (found !== undefined) return found
  }
  throw new Error(`The inspector has not started:\n${text}`)
}

/** Connects to the server, and plays each app as the view of `play_app`. */
async function playAll(address: string, ids: Map<ChatApp, string>): Promise<void> {
  const executablePath = findBrowser('chromium') ?? ''
  const browser = await chromium.launch({ executablePath, args: chromiumFlags })
  const page = await browser.newPage({ viewport: { width: 1_400, height: 1_000 } })
  await page.goto(address)
  await page.locator('label:has([role=switch])').first().click()
  await page.getByText('Connected', { exact: true }).waitFor()
  await page.getByText('Apps', { exact: true }).first().click()
  await page
    .getByText(/^Play app/)
    .first()
    .click()
  for (const [{ name, play, kept }, id] of ids) {
    // The host does not wait for the save of an app before it removes the view.
    const saved = kept === undefined ? undefined : page.waitForResponse(isSave)
    await open(page, id, async (shown) => {
      await play(shown)
      await saved
    })
    if (kept !== undefined)
      await open(page, id, ({ app }) => app.getByText(kept, { exact: true }).waitFor())
    console.log(`${inspector} plays: ${name}`)
  }
  await browser.close()
}

/** Returns whether a response is that of the last save of an app, which counts to two. */
function isSave(response: Response): boolean {
  const sent = response.request().postData() ?? ''
  return sent.includes('use_app_data') && /\\*"2\\*"/.test(sent)
}

/** Opens an app, plays it, and closes it. */
async function open(page: Page, id: string, play: ChatApp['play']): Promise<void> {
  await page.getByRole('textbox').nth(1).fill(id)
  await page.getByRole('button', { name: 'Open App' }).click()
  const view = page.frameLocator('iframe').last().frameLocator('iframe')
  await play({ view, app: view.frameLocator('main iframe').frameLocator('iframe') })
  await page.getByRole('button', { name: 'Back to Input' }).click()
}
