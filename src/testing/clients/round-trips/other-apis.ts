/** Clients of the messages of Anthropic, of Gemini's methods and of OpenRouter's chat. */
import Anthropic from '@anthropic-ai/sdk'
import { type Content, type GenerateContentResponse, GoogleGenAI } from '@google/genai'

import { asString, isRecord, itemsOf, type Json, recordOf } from '../../../kernel/schema.ts'
import { type RoundTrip, writeFile } from './task.ts'

const { name, description, parameters } = writeFile

export const anthropic: RoundTrip = async ({ origin, key, model }, form, { prompt, write }) => {
  const { messages: api } = new Anthropic({ baseURL: origin, apiKey: key, maxRetries: 0 })
  const tools = [{ name, description, input_schema: parameters }]
  const ask = (messages: Anthropic.MessageParam[]) => {
    const request = { model, max_tokens: 1_000, tools, messages }
    return form === 'streamed' ? api.stream(request).finalMessage() : api.create(request)
  }
  const question = { role: 'user' as const, content: prompt }
  const { content } = await ask([question])
  const call = content.find((block) => block.type === 'tool_use')
  if (!call) throw new Error('The model called no tool.')
  const result = {
    type: 'tool_result' as const,
    tool_use_id: call.id,
    content: write(call.input),
  }
  const reply = await ask([
    question,
    { role: 'assistant', content },
    { role: 'user', content: [result] },
  ])
  if (reply.stop_reason !== 'end_turn') throw new Error(`It ended by ${reply.stop_reason}.`)
  return reply.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

export const google: RoundTrip = async ({ origin, key, model }, form, { prompt, write }) => {
  const { models } = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: origin } })
  const declaration = { name, description, parametersJsonSchema: parameters }
  const config = { tools: [{ functionDeclarations: [declaration] }] }
  const ask = async (contents: Content[]): Promise<GenerateContentResponse[]> => {
    const request = { model, contents, config }
    return form === 'streamed'
      ? Array.fromAsync(await models.generateContentStream(request))
      : [await models.generateContent(request)]
  }
  const question = { role: 'user', parts: [{ text: prompt }] }
  const called = await ask([question])
  const [call] = called.flatMap(({ functionCalls }) => functionCalls ?? [])
  if (!call) throw new Error('The model called no tool.')
  const parts = called.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
  const functionResponse = { name, id: call.id ?? '', response: { output: write(call.args) } }
  const reply = await ask([
    question,
    { role: 'model', parts },
    { role: 'user', parts: [{ functionResponse }] },
  ])
  return reply.map(({ text }) => text ?? '').join('')
}

/** The operation of the client that this round trip uses. */
interface OpenRouterClient {
  chat: { send(request: object): Promise<unknown> }
}

// Its declarations replace those of the runtime with a browser's, so it is loaded without them.
const packageName: string = '@openrouter/sdk'
const { OpenRouter }: { OpenRouter: new (options: object) => OpenRouterClient } = await import(
  packageName
)

export const openRouter: RoundTrip = async ({ origin, key, model }, form, { prompt, write }) => {
  const client = new OpenRouter({
    apiKey: key,
    serverURL: `${origin}/api/v1`,
    retryConfig: { strategy: 'none' },
  })
  const tools = [{ type: 'function', function: { name, description, parameters } }]
  const ask = async (messages: object[]): Promise<Json> => {
    const stream = form === 'streamed'
    const sent = await client.chat.send({ chatRequest: { model, messages, tools, stream } })
    if (!isAsyncIterable(sent)) return recordOf(firstChoice(sent).message)
    const deltas: Json[] = []
    for await (const chunk of sent) deltas.push(recordOf(firstChoice(chunk).delta))
    return joinDeltas(deltas)
  }
  const question = { role: 'user', content: prompt }
  const [call] = itemsOf((await ask([question])).toolCalls).filter(isRecord)
  if (!call) throw new Error('The model called no tool.')
  const result = {
    role: 'tool',
    toolCallId: call.id,
    content: write(recordOf(call.function).arguments),
  }
  const reply = await ask([question, { role: 'assistant', toolCalls: [call] }, result])
  return asString(reply.content)
}

const firstChoice = (response: unknown): Json => recordOf(itemsOf(recordOf(response).choices)[0])

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** Joins the deltas of a text, or of one call. */
function joinDeltas(deltas: Json[]): Json {
  const parts = deltas.flatMap(({ toolCalls }) => itemsOf(toolCalls).filter(isRecord))
  const content = deltas.map((delta) => asString(delta.content)).join('')
  const [first] = parts
  if (!first) return { content }
  const called = parts.map((part) => recordOf(part.function))
  const { id, type } = first
  const joined = {
    name: called.map((part) => asString(part.name)).join(''),
    arguments: called.map((part) => asString(part.arguments)).join(''),
  }
  return { content, toolCalls: [{ id, type, function: joined }] }
}
