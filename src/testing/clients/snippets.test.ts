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

import { agent as claudeCode } from '../../../scripts/clients/claude-code.ts'
import { agent as cline } from '../../../scripts/clients/cline.ts'
import { agent as continueCli } from '../../../scripts/clients/cn.ts'
import { agent as geminiCli } from '../../../scripts/clients/gemini-cli.ts'
import { agent as pi } from '../../../scripts/clients/pi.ts'
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

/** The texts between which an agent of the examples is set up. */
const sectionOf = (title: string): string =>
  docs.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
const to = { origin: 'http://localhost:3000', key: '$GATEWAY_KEY', model }
const words = (list: string[] = []): string => list.join(' ')
const fileOf = (files: Record<string, string> = {}): unknown =>
  JSON.parse(Object.values(files)[0] ?? 'null')

test.each([
  ['Claude Code', claudeCode],
  ['Gemini CLI', geminiCli],
])(
  'docs/clients.md: the variables of %s are those of its run in scripts/clients',
  (title, agent) => {
    const section = sectionOf(title)
    const shown = [...section.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [
      name,
      value,
    ])
    expect(shown.length).toBeGreaterThan(1)
    expect(agent.env?.(to)).toMatchObject(Object.fromEntries(shown))
    expect(section).toContain(`\n${agent.command} `)
  },
)

test('docs/clients.md: the settings of agents are those of their runs in scripts/clients', () => {
  expect(sectionOf('Cline')).toContain(words([cline.command, ...(cline.setup?.(to) ?? [])]))
  const [, models = ''] = /```json\n(.*)\n```/.exec(sectionOf('pi')) ?? []
  expect(JSON.parse(models)).toEqual(fileOf(pi.files?.(to)))
  expect(words(pi.words(to))).toContain('--provider berth --model demo/chat')
  expect(sectionOf('pi')).toContain('`pi --provider berth --model demo/chat`')
  const { provider, apiBase } = Object(fileOf(continueCli.files?.(to))).models[0]
  for (const setting of [`provider: ${provider}`, `model: ${model}`, `apiBase: ${apiBase}`]) {
    expect(sectionOf('Continue')).toContain(setting)
  }
  const { selectedType } = Object(fileOf(geminiCli.files?.(to))).security.auth
  expect(sectionOf('Gemini CLI')).toContain(`\`security.auth.selectedType\` to \`${selectedType}\``)
})
