import { type ChatResponse, eventsOf } from '../../gateway/conversation/chat-event.ts'
import type { ThinkingPart } from '../../gateway/conversation/chat-request.ts'
import { createUsage } from '../../gateway/models/usage.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import { type ApiName, apis } from '../conversations/apis.ts'
import { type ClientServer, startClientServer } from './server.ts'

/** A model that thinks before it calls a tool, and needs its thought back. */
export interface Thinker {
  kind: string
  api: Exclude<ApiName, 'openrouter'>
  base: string
  thought: Omit<ThinkingPart, 'type'>
  /** Google signs the first of parallel calls, not thoughts. */
  callSignature?: string
}

const text = 'I look twice.'
const signature = Buffer.from('signed by the model').toString('base64')

/** A model of each kind of upstream, by its name. */
export const thinkers: Record<string, Thinker> = {
  'deep-thinker': { kind: 'openai', api: 'chat', base: '/v1', thought: { text } },
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
  'claude-at-litellm': {
    kind: 'openai',
    api: 'chat',
    base: '/v1',
    thought: { text, signature, origin: 'messages' },
  },
  'gemini-3-pro': {
    kind: 'google',
    api: 'gemini',
    base: '/v1beta',
    thought: { text },
    callSignature: signature,
  },
  'command-a-reasoning': { kind: 'cohere', api: 'cohere', base: '/v2', thought: { text } },
}

type Content = ChatResponse['choices'][number]['content']

/** Returns the parts of a model's response to a request: calls, or the words that end the loop. */
export type Reply = (model: string, sent: string) => { isOver: boolean; content: Content }

/** Upstreams of these models behind a gateway, and the requests that they got. */
export interface ThinkingServer {
  gateway: ClientServer
  requests: { api: ApiName; body: Json }[]
  stop(): Promise<void>
}

/** Starts a gateway of the thinkers. Each thinks before the calls of `reply`. */
export async function startThinkers(reply: Reply): Promise<ThinkingServer> {
  const requests: ThinkingServer['requests'] = []
  const respond = async (request: Request): Promise<Response> => {
    const body = recordOf(await request.json())
    const { pathname } = new URL(request.url)
    const name = /\/models\/([^:]+):/.exec(pathname)?.[1] ?? String(body.model)
    const thinker = thinkers[name]
    if (!thinker) return new Response(null, { status: 404 })
    const api = pathname.endsWith('/chat/completions') ? 'chat' : thinker.api
    requests.push({ api, body })
    const { isOver, content } = reply(name, JSON.stringify(body))
    const thought = { type: 'thinking' as const, ...thinker.thought }
    const choice = {
      content: isOver ? content : [thought, ...content],
      citations: [],
      logprobs: [],
      reason: isOver ? ('stop' as const) : ('calls' as const),
    }
    const isStream = body.stream === true || pathname.endsWith(':streamGenerateContent')
    return send(api, { id: `r${requests.length}`, choices: [choice] }, isStream)
  }
  const upstream = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: respond })
  const gateway = await startClientServer(
    Object.entries(thinkers).map(([id, { kind, base, api }]) => ({
      id,
      kind,
      baseUrl: `http://127.0.0.1:${upstream.port}${base}`,
      contextLength: 200_000,
      maxOutput: 64_000,
      inputs: ['text', 'image'],
      ...(api === 'responses' && { responses: true }),
    })),
  )
  const stop = async (): Promise<void> => {
    await gateway.stop()
    await upstream.stop(true)
  }
  return { gateway, requests, stop }
}

/** Sends a response in an API, whole or as a stream. */
async function send(api: ApiName, response: ChatResponse, isStream: boolean): Promise<Response> {
  const client = apis[api].client()
  const final = { usage: createUsage({ prompt: 9, completion: 7 }) }
  if (!isStream) return Response.json(await client.encode(response, final))
  const writer = client.createWriter()
  const bytes = [...eventsOf(response)].map((event) => writer.write([event]))
  const stream = Buffer.concat([...bytes, await writer.end(final)])
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}
