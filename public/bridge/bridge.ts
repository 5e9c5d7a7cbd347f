/**
 * The app's end of the bridge: calls of `service` that the shell answers. The app has no network.
 * The shell calls operations of its own server with the session of the player, and passes back what
 * an app may see.
 *
 * Each call has a MessageChannel of its own. The app sends `{ type: 'service:call', name, input }`
 * with a port to the shell. The shell replies over the port: `taken` at once, any number of
 * `event`s, and one `result` or `error`. The app may send `event`s and `end` over the same port. A
 * call also ends when its document is left.
 *
 * To add a call:
 * 1. App: a function that returns `call('room.join', input, { onEvent, signal })`, in a file beside
 *    this one, and a member of `service` in page.ts and, for authors, in service-types.ts.
 * 2. Shell: a `Handler` of the same name, in a `...-calls.ts` file beside this one, listed in
 *    shell.ts. It checks nothing that the server checks. Use `callServer` of server.ts.
 * 3. Server: an operation below `/api/apps/{id}/` with the access `visitor` or `signedIn`. The
 *    policy of the shell reaches no other path.
 * 4. Detection: a pattern of the name in src/apps/uses/uses.ts. Pages that match none of them get
 *    no byte of this folder.
 */
import { field } from '../frame/messages.ts'
import { CallError, type CallRequest, deferred, type FromApp, withPlainData } from './protocol.ts'

/** Time in which a shell takes a call. Without one, such as in a preview, the call fails. */
const takenMs = 10_000

/** A running call. */
export interface RunningCall<Result> {
  result: Promise<Result>
  /** Sends an event of the app. Throws `bad_request`. */
  send(event: unknown): void
}

export interface CallOptions {
  onEvent?: ((event: unknown) => void) | undefined
  signal?: AbortSignal | undefined
}

export type Bridge = <Result>(
  name: string,
  input: unknown,
  options?: CallOptions,
) => RunningCall<Result>

const aborted = (): CallError => new CallError('cancelled', 'The call was canceled.')

/** Opens the bridge to the shell. It keeps every function that the app could replace. */
export function openBridge(shell: Window): Bridge {
  const post = shell.postMessage.bind(shell)
  const Channel = MessageChannel
  return <Result>(name: string, input: unknown, { onEvent, signal }: CallOptions = {}) => {
    const { port1: port, port2 } = new Channel()
    const { promise, resolve, reject } = deferred<Result>()
    const send = (message: FromApp): void => withPlainData(() => port.postMessage(message))
    const fail = (error: unknown): void => {
      clearTimeout(timer)
      port.close()
      reject(error)
    }
    const abort = (): void => {
      send({ end: true })
      fail(aborted())
    }
    const timer = setTimeout(() => {
      fail(new CallError('unavailable', 'Nothing answers here. Open the app by its link.'))
    }, takenMs)
    port.onmessage = ({ data }) => {
      clearTimeout(timer)
      const error = field(data, 'error')
      if (error) fail(new CallError(String(field(error, 'code')), String(field(error, 'message'))))
      else if (Object.hasOwn(data, 'event')) onEvent?.(data.event)
      else if (Object.hasOwn(data, 'result')) {
        port.close()
        resolve(data.result)
      }
    }
    const running = { result: promise, send: (event: unknown) => send({ event }) }
    if (signal?.aborted) {
      fail(aborted())
      return running
    }
    signal?.addEventListener('abort', abort, { once: true })
    const request: CallRequest = { type: 'service:call', name, input }
    try {
      withPlainData(() => post(request, '*', [port2]))
    } catch (error) {
      fail(error)
    }
    return running
  }
}
