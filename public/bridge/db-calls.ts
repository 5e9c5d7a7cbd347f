import { field } from '../frame/messages.ts'
import { agree, type SharingUse } from './agreement.ts'
import type { Handler } from './receiver.ts'
import { callServer } from './server.ts'

/** Returns a handler that sends the input of a call to an operation, once the player agreed. */
const send =
  (method: string, path: string, use: SharingUse = 'db'): Handler =>
  async (input, call) => {
    await agree(call, use)
    return (await callServer(call, method, path, input)).json()
  }

/** Returns a handler of an operation that takes the path of a document. */
const sendPath =
  (method: string, part: (body: unknown) => unknown): Handler =>
  async (input, call) => {
    await agree(call, 'db')
    const path = encodeURIComponent(String(field(input, 'path')))
    return part(await (await callServer(call, method, `/documents?path=${path}`)).json())
  }

/** The calls of `service.files`. */
export const fileCalls: Record<string, Handler> = {
  'files.upload': send('POST', '/uploads', 'files'),
}

/** The calls of `service.db`. The server checks their inputs. */
export const dbCalls: Record<string, Handler> = {
  async 'db.me'(_, call) {
    const { id, name } = await agree(call, 'db')
    return { id, name }
  },
  'db.get': sendPath('GET', (body) => body),
  'db.delete': sendPath('DELETE', (body) => field(body, 'deleted')),
  'db.query': send('POST', '/documents/query'),
  'db.add': send('POST', '/documents'),
  'db.set': send('PUT', '/documents'),
  'db.update': send('PATCH', '/documents'),
  'db.batch': send('POST', '/documents/batch'),
  'db.acquire': send('POST', '/documents/lease'),
}
