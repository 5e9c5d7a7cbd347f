/** Mistral's SDK: a tool round trip, whole and streamed. */
import { writeFileSync } from 'node:fs'

import { Mistral } from '@mistralai/mistralai'

const { BASE_URL: serverURL, GATEWAY_KEY: apiKey, MODEL: model } = process.env
const { chat } = new Mistral({ serverURL, apiKey })
const fields = { path: { type: 'string' }, content: { type: 'string' } }
const parameters = { type: 'object', properties: fields, required: ['path', 'content'] }
const tools = [{ type: 'function', function: { name: 'write_file', parameters } }]

/** Writes the file of a call, and returns the messages of the next request. */
function answer(ask, call) {
  const args = call.function.arguments
  const { path, content } = typeof args === 'string' ? JSON.parse(args) : args
  writeFileSync(path, content)
  const reply = { role: 'tool', name: 'write_file', toolCallId: call.id, content: `wrote ${path}` }
  return [ask, { role: 'assistant', content: '', toolCalls: [call] }, reply]
}

const askFor = (path) => ({
  role: 'user',
  content: `call write_file ${JSON.stringify({ path, content: 'Ahoy' })}`,
})

const ask = askFor('whole.txt')
const whole = await chat.complete({ model, messages: [ask], tools })
const [call] = whole.choices[0].message.toolCalls
const reply = await chat.complete({ model, messages: answer(ask, call), tools })
console.log(reply.choices[0].message.content)

const streamed = askFor('streamed.txt')
const calls = []
for await (const { data } of await chat.stream({ model, messages: [streamed], tools })) {
  calls.push(...(data.choices[0]?.delta.toolCalls ?? []))
}
const [first] = calls
const args = calls.map((part) => part.function.arguments).join('')
const joined = { ...first, function: { name: first.function.name, arguments: args } }
let text = ''
const messages = answer(streamed, joined)
for await (const { data } of await chat.stream({ model, messages, tools })) {
  text += data.choices[0]?.delta.content ?? ''
}
console.log(text)
