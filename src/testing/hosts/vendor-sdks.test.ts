import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { findBrowser } from '../browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../browsers/session.ts'
import { openRegistry, packed } from '../fixtures/registry.ts'
import { startTestServer, type TestServer } from '../fixtures/test-server.ts'

const ms = 180_000
const modules = join(import.meta.dir, '../../../node_modules')

/** Packs the scripts of an installed package. */
function packageOf(name: string): Uint8Array {
  const root = join(modules, name)
  const files: Record<string, Uint8Array> = {}
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const isScript = /\.m?js$/.test(path) && !path.includes('node_modules')
    if (isScript && statSync(join(root, path)).isFile())
      files[path] = readFileSync(join(root, path))
  }
  const { main, module, browser, exports, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  // The registry of the tests has one version of each package.
  const names = Object.keys(dependencies ?? {}).map((one) => [one, '1.2.3'])
  const own = { main, module, browser, exports, dependencies: Object.fromEntries(names) }
  return packed(name, files, own)
}

const installed = [
  'openai',
  '@anthropic-ai/sdk',
  '@google/genai',
  '@opentelemetry/api',
  'standardwebhooks',
  '@stablelib/base64',
  'fast-sha256',
  'p-retry',
  'retry',
]

/** Pages as models write them: the SDK of a CDN, and a placeholder where the key belongs. */
const pages: [name: string, script: string, value: unknown][] = [
  [
    'openai',
    `import OpenAI from 'https://esm.sh/openai@1.2.3'
    const client = new OpenAI({ apiKey: 'YOUR_OPENAI_API_KEY', dangerouslyAllowBrowser: true })
    const messages = [{ role: 'user', content: 'Tell me of the sea' }]
    const whole = await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
    let streamed = ''
    for await (const chunk of await client.chat.completions.create({ model: 'gpt-4o', messages, stream: true })) {
      streamed += chunk.choices[0]?.delta?.content ?? ''
    }
    show([whole.choices[0].message.content, streamed])`,
    ['Tell me of the sea', 'Tell me of the sea'],
  ],
  [
    '@anthropic-ai/sdk',
    `import Anthropic from 'https://cdn.jsdelivr.net/npm/@anthropic-ai/sdk@1.2.3/+esm'
    const anthropic = new Anthropic({ apiKey: 'sk-ant-your-key', dangerouslyAllowBrowser: true })
    const request = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'Tell me of the sea' }] }
    const message = await anthropic.messages.create(request)
    const final = await anthropic.messages.stream(request).finalMessage()
    show([message.content[0].text, final.content[0].text, final.stop_reason])`,
    ['Tell me of the sea', 'Tell me of the sea', 'end_turn'],
  ],
  [
    '@google/genai',
    `import { GoogleGenAI } from 'https://esm.run/@google/genai@1.2.3'
    const ai = new GoogleGenAI({ apiKey: 'YOUR_API_KEY' })
    const request = { model: 'gemini-2.5-flash', contents: 'Tell me of the sea' }
    const { text } = await ai.models.generateContent(request)
    let streamed = ''
    for await (const chunk of await ai.models.generateContentStream(request)) streamed += chunk.text ?? ''
    show([text, streamed])`,
    ['Tell me of the sea', 'Tell me of the sea'],
  ],
]

describe.skipIf(findBrowser('chromium') === undefined)('SDKs of vendors in chromium', () => {
  let t: TestServer
  let session: BrowserSession
  let registry: ReturnType<typeof openRegistry>

  beforeAll(async () => {
    registry = openRegistry(Object.fromEntries(installed.map((name) => [name, packageOf(name)])))
    session = await openBrowserSession(() => t)
    t = await startTestServer({
      APP_URL: session.origin,
      LIBRARIES: 'fetch',
      LIBRARY_REGISTRY: registry.url,
    })
  }, ms)
  afterAll(async () => {
    await session.close()
    await t.close()
    registry.close()
  })

  test.each(pages)(
    '%s works from a CDN with a placeholder key',
    async (name, script, value) => {
      const ann = await t.agent('ann')
      const html = `<!doctype html><title>${name}</title><output></output>
        <script>const show = (value) => { document.querySelector('output').textContent = JSON.stringify(value) }
        addEventListener('unhandledrejection', ({ reason }) => show('failed: ' + reason))
        addEventListener('error', ({ message }) => show('failed: ' + message))</script>
        <script type="module">${script}</script>`
      const published = await ann.call('POST', '/apps', { html })
      const id = published.text('app.id')
      await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 50, playerDailyCap: 50 })
      const page = await session.browser.newPage()
      await page.goto(`${session.origin}/a/${id}`)
      const output = page.frameLocator('iframe').locator('output')
      await output.filter({ hasText: /./ }).waitFor({ timeout: ms })
      expect(JSON.parse((await output.textContent()) ?? '')).toEqual(value)
      await page.close()
    },
    ms,
  )
})
