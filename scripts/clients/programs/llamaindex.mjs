/** LlamaIndex.TS: a tool round trip, whole and streamed. */
import { writeFileSync } from 'node:fs'

import { OpenAI } from '@llamaindex/openai'
import { tool } from 'llamaindex'

const { BASE_URL, GATEWAY_KEY: apiKey, MODEL: model } = process.env
const llm = new OpenAI({ model, apiKey, baseURL: `${BASE_URL}/v1` })
const fields = { path: { type: 'string' }, content: { type: 'string' } }
const write = tool({
  name: 'write_file',
  description: 'Writes a file.',
  parameters: { type: 'object', properties: fields, required: ['path', 'content'] },
  execute: ({ path, content }) => {
    writeFileSync(path, content)
    return `wrote ${path}`
  },
})

const askFor = (path) => ({
  role: 'user',
  content: `call write_file ${JSON.stringify({ path, content: 'Ahoy' })}`,
})

const messages = [askFor('whole.txt')]
const whole = await llm.exec({ messages, tools: [write] })
const reply = await llm.exec({ messages: [...messages, ...whole.newMessages], tools: [write] })
console.log(reply.newMessages.at(-1).content)

const asked = [askFor('streamed.txt')]
const called = await llm.exec({ messages: asked, tools: [write], stream: true })
for await (const _ of called.stream);
const next = [...asked, ...called.newMessages()]
const replied = await llm.exec({ messages: next, tools: [write], stream: true })
let text = ''
for await (const chunk of replied.stream) {
  text += chunk.delta
}
console.log(text)
