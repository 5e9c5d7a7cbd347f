import { afterAll, expect, test } from 'bun:test'

import type { Part } from '../../gateway/conversation/chat-request.ts'
import { apis } from '../conversations/apis.ts'
import { roundTrips } from './round-trips/all.ts'
import { runRoundTrip, writeFile } from './round-trips/task.ts'
import { startThinkers, type Thinker, thinkers } from './thinkers.ts'

/** Clients whose model thinks before it calls a tool, and needs its thought back. */

/** Calls the tool; says what the tool did once it has its result. */
const { gateway, requests, stop } = await startThinkers((model, sent) => {
  if (sent.includes('wrote Ahoy')) {
    return { isOver: true, content: [{ type: 'text', text: 'It wrote Ahoy, wörld' }] }
  }
  const args = /call write_file (\{.*?\})/.exec(sent)?.[1]?.replaceAll('\\"', '"') ?? '{}'
  const call = { type: 'call', id: 'call_1', name: writeFile.name, arguments: args } as const
  return { isOver: false, content: [{ ...call, ...signatureOf(thinkers[model]) }] }
})
afterAll(stop)

const signatureOf = (thinker?: Thinker): { signature?: string } =>
  thinker?.callSignature ? { signature: thinker.callSignature } : {}

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
  expect(parts.find(({ type }) => type === 'call')).toMatchObject(signatureOf(thinker))
  // Google does not take the text of thoughts back.
  if (api === 'gemini') return
  expect(parts.find(({ type }) => type === 'thinking')).toMatchObject(thinker.thought)
})
