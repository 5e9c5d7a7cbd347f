import { afterAll, expect, test } from 'bun:test'

import { type ChatResponse, eventsOf } from '../../gateway/conversation/chat-event.ts'
import type { CallPart, Part, ThinkingPart } from '../../gateway/conversation/chat-request.ts'
import { createUsage } from '../../gateway/models/usage.ts'
import { isRecord, type Json } from '../../kernel/schema.ts'
import { type ApiName, apis } from '../conversations/apis.ts'
import { roundTrips } from './round-trips/all.ts'
import { runRoundTrip, writeFile } from './round-trips/task.ts'
import { startClientServer } from './server.ts'

/** Clients whose model thinks before it calls a tool, and needs its thought back. */

const text = 'I write the file.'
const signature = Buffer.from('signed by the model').toString('base64')

interface Thinker {
  kind: string
  api: Exclude<ApiName, 'openrouter'>
  base: string
  thought: Omit<ThinkingPart, 'type'>
  /** Google signs calls, not thoughts. */
  call?: Pick<CallPart, 'signature'>
}

/** Upstreams of each API, by the name of their model. */
const thinkers: Record<string, Thinker> = {
  'deep-thinker': { kind: 'openai', api: 'chat', base: '/v1', thought: { text } },
  'claude-at-litellm': {
    kind: 'openai',
    api: 'chat',
    base: '/v1',
    thought: { text, signature, origin: 'messages' },
  },
  'gpt-5.5': {
    kind: 'openai',
    api: 'responses',
    base: '/v1',
    thought: { text, signature, isEncrypted: true, origin: 'responses' },
  },
  'claude-opus-4-5': {
    kind: 'anthropic',
    api: 'messages',
    base: '/v1',
    thought: { text, signature, origin: 'messages' },
  },
  'gemini-3-pro': {
    kind: 'google',
    api: 'gemini',
    base: '/v1beta',
    thought: { text },
    call: { signature },
  },
  'command-a-reasoning': { kind: 'cohere', api: 'cohere', base: '/v2', thought: { text } },
}

const requests: { api: ApiName; body: Json }[] = []

/** Thinks and calls the tool; says what the tool did once it has its result. */
async function respond(request: Request): Promise<Response> {
  const body: unknown = await request.json()
  if (!isRecord(body)) return new Response(null, { status: 400 })
  const { pathname } = new URL(request.url)
  const name = /\/models\/([^:]+):/.exec(pathname)?.[1] ?? String(body.model)
  const thinker = thinkers[name]
  if (!thinker) return new Response(null, { status: 404 })
  const isStream = body.stream === true || pathname.endsWith(':streamGenerateContent')
  const response = contentFor(thinker, JSON.stringify(body))
  const api = pathname.endsWith('/chat/completions') ? 'chat' : thinker.api
  requests.push({ api, body })
  const client = apis[api].client()
  const final = { usage: createUsage({ prompt: 9, completion: 7 }) }
  if (!isStream) return Response.json(await client.encode(response, final))
  const writer = client.createWriter()
  const bytes = [...eventsOf(response)].map((event) => writer.write([event]))
  const stream = Buffer.concat([...bytes, await writer.end(final)])
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}

function contentFor({ thought, call }: Thinker, sent: string): ChatResponse {
  const isOver = sent.includes('wrote Ahoy')
  const args = /call write_file (\{.*?\})/.exec(sent)?.[1]?.replaceAll('\\"', '"') ?? '{}'
  const content = isOver
    ? [{ type: 'text' as const, text: 'It wrote Ahoy, wörld' }]
    : [
        { type: 'thinking' as const, ...thought },
        { type: 'call' as const, id: 'call_1', name: writeFile.name, arguments: args, ...call },
      ]
  const reason = isOver ? ('stop' as const) : ('calls' as const)
  return { id: `r${requests.length}`, choices: [{ content, citations: [], logprobs: [], reason }] }
}

const upstream = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: respond })
const gateway = await startClientServer(
  Object.entries(thinkers).map(([id, { kind, base, api }]) => ({
    id,
    kind,
    baseUrl: `http://127.0.0.1:${upstream.port}${base}`,
    contextLength: 200_000,
    maxOutput: 64_000,
    ...(api === 'responses' && { responses: true }),
  })),
)
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

/** Clients that send back what they got. The others send texts and calls only. */
const clients: { [name: string]: (thinker: Thinker) => boolean } = {
  'openai, responses': () => true,
  '@openai/agents, responses': () => true,
  '@anthropic-ai/sdk': () => true,
  '@google/genai': () => true,
  '@ai-sdk/openai': () => true,
  '@ai-sdk/anthropic': () => true,
  '@ai-sdk/google': () => true,
  // Chats go to OpenAI's chat, which shows no thoughts.
  '@openrouter/ai-sdk-provider': ({ api }) => api !== 'responses',
  // It has no field for signatures of thoughts.
  '@ai-sdk/openai-compatible': ({ thought }) => thought.signature === undefined,
}

const rows = Object.entries(clients).flatMap(([client, keeps]) =>
  Object.entries(thinkers).flatMap(([model, thinker]) =>
    keeps(thinker)
      ? (['plain', 'streamed'] as const).map((form) => ({ client, model, form, thinker }))
      : [],
  ),
)

test.each(rows)('$client gives $model its thought back, $form', async (row) => {
  const { client, model, form, thinker } = row
  const trip = roundTrips[client]
  if (!trip) throw new Error(`There is no round trip of ${client}.`)
  const [, origin = ''] = gateway.baseUrls
  await runRoundTrip(trip, { origin, key: gateway.key, model }, form)
  const { api, body } = requests.at(-1) ?? { api: 'chat', body: {} }
  const { messages } = apis[api].decode(body)
  const turn = messages.findLast(({ role }) => role === 'assistant')
  const parts: readonly Part[] = turn?.content ?? []
  const { thought, call } = thinker
  expect(parts.find(({ type }) => type === 'call')).toMatchObject({ ...call })
  // Google does not take the text of thoughts back.
  if (api === 'gemini') return
  expect(parts.find(({ type }) => type === 'thinking')).toMatchObject(thought)
})
