import { field, text } from '../frame/messages.ts'
import { markServed } from '../frame/served.ts'
import { CallError, type FromShell } from './protocol.ts'

/** The shell's end of the bridge (see bridge.ts). */

/** Running calls of an app. A page that exceeds it waits for no reply. */
const callsMax = 128
const nameCharsMax = 64

/** A call while a handler serves it. */
export interface Call {
  /** The app whose page calls. */
  app: string
  /** Aborts when the app ends the call, or when its document is left. */
  signal: AbortSignal
  /** Sends an event to the app. */
  send(event: unknown): void
  /** Registers the listener of the events that the app sends. */
  listen(listener: (event: unknown) => void): void
}

/** Serves a call. Throws a CallError, whose code and message reach the app. */
export type Handler = (input: unknown, call: Call) => Promise<unknown>

/** The window of the running app, or null. */
type AppWindow = () => Window | null

/** Serves the calls of an app until its document is left. */
export function serveCalls(
  app: string,
  appWindow: AppWindow,
  handlers: Readonly<Record<string, Handler>>,
): void {
  /** The calls of one document. The next document of the app ends them. */
  let running = new Set<AbortController>()
  let owner: MessageEventSource | null = null
  const leave = (source: MessageEventSource): void => {
    for (const call of running) call.abort()
    running = new Set()
    owner = source
  }
  addEventListener('message', ({ source, data, ports: [port] }) => {
    if (!source || source !== appWindow()) return
    if (source !== owner || field(data, 'type') === 'service:hello') leave(source)
    if (!port || field(data, 'type') !== 'service:call') return
    const name = text(data, 'name', nameCharsMax)
    const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
    const post = (message: FromShell): void => port.postMessage(message)
    const fail = (code: string, message: string): void => post({ error: { code, message } })
    if (!handler) return fail('not_found', `service has no ${name}.`)
    if (running.size >= callsMax) {
      return fail('too_many_calls', `At most ${callsMax} calls of a page run at a time.`)
    }
    post({ taken: true })
    void serve(app, handler, field(data, 'input'), port, running)
  })
}

async function serve(
  app: string,
  handler: Handler,
  input: unknown,
  port: MessagePort,
  running: Set<AbortController>,
): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  let listener: (event: unknown) => void = () => undefined
  const post = (message: FromShell): void => {
    if (!signal.aborted) port.postMessage(message)
  }
  port.onmessage = ({ data }) => {
    if (field(data, 'end') === true) controller.abort()
    else listener(field(data, 'event'))
  }
  running.add(controller)
  try {
    markServed()
    const result = await handler(input, {
      app,
      signal,
      send: (event) => post({ event }),
      listen: (next) => void (listener = next),
    })
    post({ result })
  } catch (error) {
    const { code, message } = error instanceof CallError ? error : unknownError
    post({ error: { code, message } })
  }
  running.delete(controller)
  controller.abort()
  port.close()
}

const unknownError = { code: 'failed', message: 'The call failed. Try again.' }
