import { ProtocolErrorCode } from '@modelcontextprotocol/server'

import { Cache } from '../../kernel/lazy.ts'
import { mcpListsMax } from '../../kernel/limits.ts'
import { isRecord } from '../../kernel/schema.ts'
import { type Batch, spentMessage } from './batch.ts'
import { isInvalidInitialize } from './server.ts'
import { isViewSession } from './view-session.ts'

type Serve = (request: Request, options: { parsedBody?: unknown }) => Promise<Response>

type ListRequest = { jsonrpc: '2.0'; id: string | number; method: 'tools/list' }

/**
 * Returns whether a message is a `tools/list` of the revisions with `initialize`, without
 * parameters. The library answers all others: it checks headers and envelopes.
 */
const isListRequest = (message: unknown): message is ListRequest =>
  isRecord(message) &&
  message['jsonrpc'] === '2.0' &&
  message['method'] === 'tools/list' &&
  (typeof message['id'] === 'string' || Number.isSafeInteger(message['id'])) &&
  (message['params'] === undefined || isEmpty(message['params']))

const isEmpty = (params: unknown): boolean => isRecord(params) && Object.keys(params).length === 0

const eventHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/**
 * Answers `tools/list` from memory. The library would validate, convert and serialize 80 KB for
 * each message. The first list of a revision and an area comes from the library.
 */
export function createListCache(serve: Serve, areaOf: (request: Request) => string) {
  const lists = new Cache<string>(mcpListsMax)

  /** Returns the serialized result, or undefined where the library rejects the request. */
  async function findList(request: Request): Promise<string | undefined> {
    const { headers } = request
    const accept = headers.get('accept') ?? ''
    const isLegacy = !headers.has('mcp-method') && !headers.has('mcp-name')
    if (!isLegacy || !/application\/json/.test(accept) || !/text\/event-stream/.test(accept)) {
      return undefined
    }
    const version = headers.get('mcp-protocol-version')
    const key = `${version} ${areaOf(request)} ${isViewSession(request)}`
    const known = lists.get(key)
    if (known !== undefined) return known
    const response = await serve(request, {
      parsedBody: { jsonrpc: '2.0', id: 0, method: 'tools/list' },
    })
    const text = await response.text()
    const message: unknown = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? 'null')
    if (response.status !== 200 || !isRecord(message) || !isRecord(message['result'])) {
      return undefined
    }
    const list = JSON.stringify(message['result'])
    lists.set(key, list)
    return list
  }

  return async (request: Request, body: unknown, batch: Batch | undefined): Promise<Response> => {
    const messages = Array.isArray(body) ? body : [body]
    const invalid = messages.find((message) => isInvalidInitialize(message, request.headers))
    if (invalid !== undefined) return invalidParamsResponse(invalid)
    const listRequests = messages.filter(isListRequest)
    const list = listRequests.length > 0 ? await findList(request) : undefined
    if (list === undefined) return serve(request, { parsedBody: body })
    const events = listRequests.map(({ id }) => {
      const outcome =
        !batch || batch.spend(list.length)
          ? `"result":${list}`
          : `"error":${JSON.stringify({ code: -32_000, message: spentMessage })}`
      return `event: message\ndata: {"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome}}\n\n`
    })
    const others = messages.filter((message) => !isListRequest(message))
    if (others.length === 0) return new Response(events.join(''), { headers: eventHeaders })
    const response = await serve(request, { parsedBody: others })
    const isRejected = response.status >= 300
    const isStream = response.headers.get('content-type') === eventHeaders['content-type']
    if (isRejected || (response.body && !isStream)) return response
    return new Response(prepend(events.join(''), response.body), { headers: eventHeaders })
  }
}

function invalidParamsResponse(message: { id?: unknown }): Response {
  const error = { code: ProtocolErrorCode.InvalidParams, message: 'The parameters are invalid.' }
  return Response.json({ jsonrpc: '2.0', id: message.id ?? null, error }, { status: 400 })
}

/** Returns a stream of a text and then a body. */
function prepend(
  text: string,
  body: ReadableStream<Uint8Array> | null,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const write = async (): Promise<void> => {
    const writer = writable.getWriter()
    await writer.write(new TextEncoder().encode(text))
    writer.releaseLock()
    await (body ? body.pipeTo(writable) : writable.close())
  }
  // A client that leaves cancels the readable side, which ends the body.
  write().catch(() => undefined)
  return readable
}
