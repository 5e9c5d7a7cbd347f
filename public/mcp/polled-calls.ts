import { agree } from '../bridge/agreement.ts'
import { CallError } from '../bridge/protocol.ts'
import type { Handler } from '../bridge/receiver.ts'
import { callServer } from '../bridge/server.ts'
import { field } from '../frame/messages.ts'

const pollMs = 5_000

/** Resolves after a pause, and when the call ends. */
const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, pollMs)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

function onPageOnly(): never {
  throw new CallError('unavailable', 'Players meet on the page of the app only. Open its link.')
}

/** The calls that last. A host passes requests on, and no connection, so documents are polled. */
export const polledCalls: Record<string, Handler> = {
  async 'db.watch'(input, call) {
    await agree(call, 'db')
    const [query, path] = [field(input, 'query'), encodeURIComponent(String(field(input, 'path')))]
    const read = async (): Promise<unknown[]> => {
      if (query === undefined) {
        const found = await callServer(call, 'GET', `/documents?path=${path}`)
        return [field(await found.json(), 'document') ?? []].flat()
      }
      const found = await callServer(call, 'POST', '/documents/query', query)
      return [field(await found.json(), 'documents') ?? []].flat()
    }
    while (!call.signal.aborted) {
      if (!document.hidden) {
        const docs = await read()
        call.send({ full: true, docs: docs.map((stored, at) => [at, stored]) })
      }
      await pause(call.signal)
    }
    return undefined
  },
  'room.join': onPageOnly,
  'room.controller': onPageOnly,
}
