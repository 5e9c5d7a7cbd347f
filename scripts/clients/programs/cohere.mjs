/** Cohere's SDK: a tool round trip, whole and streamed, a rerank, embeddings and the models. */
import { writeFileSync } from 'node:fs'

import { CohereClientV2 } from 'cohere-ai'

const { BASE_URL: baseUrl, GATEWAY_KEY: token, MODEL: model } = process.env
const client = new CohereClientV2({ baseUrl, token })
const fields = { path: { type: 'string' }, content: { type: 'string' } }
const parameters = { type: 'object', properties: fields, required: ['path', 'content'] }
const tools = [{ type: 'function', function: { name: 'write_file', parameters } }]

/** Writes the file of a call, and returns the messages of the next request. */
function answer(ask, call) {
  const { path, content } = JSON.parse(call.function.arguments)
  writeFileSync(path, content)
  const result = { role: 'tool', toolCallId: call.id, content: `wrote ${path}` }
  return [ask, { role: 'assistant', toolCalls: [call] }, result]
}

const askFor = (path) => ({
  role: 'user',
  content: `call write_file ${JSON.stringify({ path, content: 'Ahoy' })}`,
})

const ask = askFor('whole.txt')
const whole = await client.chat({ model, messages: [ask], tools })
const [call] = whole.message.toolCalls
const reply = await client.chat({ model, messages: answer(ask, call), tools })
console.log(reply.message.content.map((part) => part.text).join(''))

const streamed = askFor('streamed.txt')
const next = { type: 'function', function: { name: '', arguments: '' } }
for await (const event of await client.chatStream({ model, messages: [streamed], tools })) {
  const part = event.delta?.message?.toolCalls
  if (event.type === 'tool-call-start') next.id = part.id
  if (part) next.function.name += part.function.name ?? ''
  if (part) next.function.arguments += part.function.arguments ?? ''
}
let text = ''
const messages = answer(streamed, next)
for await (const event of await client.chatStream({ model, messages, tools })) {
  if (event.type === 'content-delta') text += event.delta.message.content.text
}
console.log(text)

const documents = ['a recipe for soup', 'the tide at the cape']
const sorted = await client.rerank({ model: 'demo/rerank', query: 'cape', documents })
if (sorted.results[0].index !== 1) throw new Error('The documents are not sorted.')

const embeddingTypes = ['float', 'ubinary']
const embedded = { model: 'demo/embedding', texts: documents, inputType: 'search_document' }
const { embeddings } = await client.embed({ ...embedded, embeddingTypes, outputDimension: 64 })
if (embeddings.float[1].length !== 64 || embeddings.ubinary[1].length !== 8) {
  throw new Error('An embedding has another length.')
}

const { models } = await client.models.list({ endpoint: 'embed' })
const found = models.find(({ name }) => name === embedded.model)
const single = await client.models.get(embedded.model)
if (!found?.endpoints.includes('embed') || single.name !== embedded.model) {
  throw new Error('The models are incomplete.')
}
