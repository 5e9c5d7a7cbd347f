import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { generateText } from 'ai'
import Groq from 'groq-sdk'
import OpenAI from 'openai'

import { startClientServer } from './server.ts'

/** The examples of docs/clients.md for packages that the tests use, at their own base URLs. */
const docs = readFileSync(join(import.meta.dir, '../../../docs/clients.md'), 'utf8')
const gateway = await startClientServer()
const [, origin = ''] = gateway.baseUrls
const { key: apiKey } = gateway
afterAll(() => gateway.stop())

const model = 'demo/chat'
const messages = [{ role: 'user' as const, content: 'Ahoy' }]

/** Calls the demo model at the base URL of an example, and returns its text. */
const examples: Record<string, (url: string) => Promise<string | null | undefined>> = {
  async "new Anthropic({ baseURL: '"(baseURL) {
    const client = new Anthropic({ baseURL, apiKey })
    const { data } = await client.models.list()
    expect(data.map(({ id }) => id)).toContain(model)
    const { content } = await client.messages.create({ model, max_tokens: 100, messages })
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  },
  async "createAnthropic({ baseURL: '"(baseURL) {
    return (await generateText({ model: createAnthropic({ baseURL, apiKey })(model), messages }))
      .text
  },
  async "new OpenAI({ baseURL: '"(baseURL) {
    const client = new OpenAI({ baseURL, apiKey })
    return (await client.chat.completions.create({ model, messages })).choices[0]?.message.content
  },
  async "new GoogleGenAI({ apiKey: process.env.GATEWAY_KEY, httpOptions: { baseUrl: '"(baseUrl) {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } })
    expect((await client.models.get({ model })).name).toBe(`models/${model}`)
    return (await client.models.generateContent({ model, contents: 'Ahoy' })).text
  },
  async "createGoogleGenerativeAI({ baseURL: '"(baseURL) {
    const google = createGoogleGenerativeAI({ baseURL, apiKey })
    return (await generateText({ model: google(model), messages })).text
  },
  async "new Groq({ apiKey, baseURL: '"(baseURL) {
    const client = new Groq({ baseURL, apiKey })
    return (await client.chat.completions.create({ model, messages })).choices[0]?.message.content
  },
}

test.each(Object.entries(examples))('docs/clients.md: %s', async (start, call) => {
  const [, rest] = docs.split(start)
  const [url = ''] = rest?.split("'") ?? []
  expect(url).toStartWith('http://localhost:3000')
  expect(await call(url.replace('http://localhost:3000', origin))).toBe('Ahoy')
})
