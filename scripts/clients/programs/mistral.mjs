/** Mistral's SDK: a tool round trip, whole and streamed, the models and files. */
import { writeFileSync } from 'node:fs'

import { Mistral } from '@mistralai/mistralai'

const { BASE_URL: serverURL, GATEWAY_KEY: apiKey, MODEL: model } = process.env
const client = new Mistral({ serverURL, apiKey })
const { chat } = client
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

const { data: models } = await client.models.list()
const single = await client.models.retrieve({ modelId: model })
if (!models.some(({ id }) => id === model) || !single.capabilities.completionChat) {
  throw new Error('The models are incomplete.')
}

const file = { fileName: 'calls.jsonl', content: Buffer.from('{}\n') }
const uploaded = await client.files.upload({ file, purpose: 'batch' })
const { total } = await client.files.list({ sampleType: ['batch_request'] })
const content = await new Response(await client.files.download({ fileId: uploaded.id })).text()
const { deleted } = await client.files.delete({ fileId: uploaded.id })
if (total < 1 || content !== '{}\n' || !deleted) throw new Error('The file is not as it was sent.')
