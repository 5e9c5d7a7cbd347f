import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { findBrowser } from '../browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../browsers/session.ts'
import type { TestServer } from '../fixtures/test-server.ts'

const ms = 180_000

/** Pages as models write them: the SDK of a CDN, and a placeholder where the key belongs. */
const pages: [name: string, script: string, value: unknown][] = [
  [
    'openai 4 of esm.sh',
    `import OpenAI, { toFile } from 'https://esm.sh/openai@4.56.0'
    const client = new OpenAI({ apiKey: 'YOUR_OPENAI_API_KEY', dangerouslyAllowBrowser: true })
    const messages = [{ role: 'user', content: 'Tell me of the sea' }]
    const whole = await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
    const stream = client.chat.completions.stream({ model: 'gpt-4o', messages })
    const streamed = await stream.finalContent()
    const { output_text } = await client.responses.create({ model: 'gpt-5', input: 'Tell me of the sea' })
    const drawn = await client.images.generate({ model: 'dall-e-3', prompt: 'A boat' })
    const bytes = Uint8Array.from(atob(drawn.data[0].b64_json), (char) => char.charCodeAt(0))
    const image = await toFile(bytes, 'boat.png', { type: 'image/png' })
    const edited = await client.images.edit({ model: 'gpt-image-1', image, prompt: 'Add a sail' })
    show([whole.choices[0].message.content, streamed, output_text, edited.data[0].url.slice(0, 11)])`,
    [...Array.from({ length: 3 }, () => 'Tell me of the sea'), 'data:image/'],
  ],
  [
    'openai of unpkg by an import map',
    `import OpenAI from 'openai'
    const client = new OpenAI({ apiKey: '', dangerouslyAllowBrowser: true })
    const models = []
    for await (const { id } of await client.models.list()) models.push(id)
    const failed = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'x' }).catch((error) => error)
    show([models, failed.status, failed.message.includes('not available')])`,
    [['default', 'quick', 'complex'], 404, true],
  ],
  [
    '@anthropic-ai/sdk 0.27 of jsDelivr',
    `import Anthropic from 'https://cdn.jsdelivr.net/npm/@anthropic-ai/sdk@0.27.3/+esm'
    const anthropic = new Anthropic({ apiKey: 'sk-ant-your-key', dangerouslyAllowBrowser: true })
    const request = { model: 'claude-3-5-sonnet-20240620', max_tokens: 100, messages: [{ role: 'user', content: 'Tell me of the sea' }] }
    const message = await anthropic.messages.create(request)
    const final = await anthropic.messages.stream(request).finalMessage()
    show([message.content[0].text, final.content[0].text, final.stop_reason])`,
    ['Tell me of the sea', 'Tell me of the sea', 'end_turn'],
  ],
  [
    '@google/genai 1 of AI Studio by an import map',
    `import { GoogleGenAI } from '@google/genai'
    const ai = new GoogleGenAI({ apiKey: 'YOUR_API_KEY' })
    const request = { model: 'gemini-2.5-flash', contents: 'Tell me of the sea' }
    const { text } = await ai.models.generateContent(request)
    let streamed = ''
    for await (const chunk of await ai.models.generateContentStream(request)) streamed += chunk.text ?? ''
    const drawn = await ai.models.generateImages({ model: 'imagen-4.0-generate-001', prompt: 'A boat' })
    const inlineData = { mimeType: 'image/png', data: drawn.generatedImages[0].image.imageBytes }
    const edited = await ai.models.generateContent({
      model: 'gemini-2.5-flash-image',
      contents: [{ text: 'Add a sail' }, { inlineData }],
      config: { responseModalities: ['IMAGE'] },
    })
    const failed = await ai.models.countTokens(request).catch((error) => error)
    show([text, streamed, edited.candidates[0].content.parts[0].inlineData.mimeType, failed.status])`,
    ['Tell me of the sea', 'Tell me of the sea', 'image/png', 404],
  ],
  [
    '@google/generative-ai of esm.run',
    `import { GoogleGenerativeAI } from 'https://esm.run/@google/generative-ai'
    const model = new GoogleGenerativeAI('API_KEY').getGenerativeModel({ model: 'gemini-1.5-flash' })
    const { response } = await model.generateContent('Tell me of the sea')
    const { stream } = await model.startChat().sendMessageStream('Tell me of the sea')
    let streamed = ''
    for await (const chunk of stream) streamed += chunk.text()
    show([response.text(), streamed])`,
    ['Tell me of the sea', 'Tell me of the sea'],
  ],
]

const imports = {
  openai: 'https://unpkg.com/openai@5.1.0/index.mjs',
  '@google/genai': 'https://aistudiocdn.com/@google/genai@^1.20.0',
}

describe.skipIf(findBrowser('chromium') === undefined)('SDKs of vendors in chromium', () => {
  let t: TestServer
  let session: BrowserSession & { t: TestServer }

  beforeAll(async () => {
    session = await openServedSession()
    ;({ t } = session)
  }, ms)
  afterAll(() => session.close())

  test.each(pages)(
    '%s works with a placeholder key',
    async (name, script, value) => {
      const ann = await t.agent('ann')
      const html = `<!doctype html><title>${name}</title><output></output>
        <script>const show = (value) => { document.querySelector('output').textContent = JSON.stringify(value) }
        addEventListener('unhandledrejection', ({ reason }) => show('failed: ' + reason))
        addEventListener('error', ({ message }) => show('failed: ' + message))</script>
        <script type="importmap">${JSON.stringify({ imports })}</script>
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
