import { field } from '../frame/messages.ts'
import { agree, type SharingUse } from './agreement.ts'
import { LiveConnection } from './live.ts'
import { CallError } from './protocol.ts'
import type { Call, Handler } from './receiver.ts'

let connection: LiveConnection | undefined

/** Returns the connection of this page, once the player agreed to a use. */
export async function connect(call: Call, use: SharingUse): Promise<LiveConnection> {
  await agree(call, use)
  return (connection ??= new LiveConnection(call.app))
}

/** Runs a call until the app ends it, or an error does. */
export const untilEnd = (call: Call, begin: (fail: (error: CallError) => void) => () => void) =>
  new Promise<undefined>((resolve, reject) => {
    const end = begin((error) => reject(error))
    if (call.signal.aborted) return end()
    call.signal.addEventListener('abort', () => {
      end()
      resolve(undefined)
    })
  })

/** Errors that end no room. */
const passing = ['room_limit', 'too_large']

/** The calls that last: watched documents, and rooms. */
export const liveCalls: Record<string, Handler> = {
  async 'db.watch'(input, call) {
    const live = await connect(call, 'db')
    const [query, path] = [field(input, 'query'), field(input, 'path')]
    return untilEnd(call, (fail) => {
      const of = query === undefined ? { path: String(path) } : { query }
      const { end, restart } = live.watch(of, { event: (event) => call.send(event), fail })
      call.listen(restart)
      return end
    })
  },
  async 'room.join'(input, call) {
    const live = await connect(call, 'room')
    return untilEnd(call, (fail) => {
      const room = live.join(String(field(input, 'room')), field(input, 'presence') ?? null, {
        event: (event) => call.send(event),
        fail: (error) =>
          passing.includes(error.code)
            ? call.send({ error: { code: error.code, message: error.message } })
            : fail(error),
      })
      call.listen((event) => {
        if (field(event, 'type') === 'presence') room.setPresence(field(event, 'data') ?? null)
        else room.emit(field(event, 'topic'), field(event, 'data') ?? null)
      })
      return room.leave
    })
  },
}
