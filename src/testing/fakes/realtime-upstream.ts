import { recordOf } from '../../core/schema.ts'

type Event = Record<string, unknown>

/** A session at the fake upstream, which the test controls. */
export interface FakeSession {
  /** Query and headers of the handshake. */
  url: URL
  headers: Headers
  /** Events that the gateway sent. */
  received: Event[]
  emit(type: string, fields?: Event): void
  /** Sends a text as it is. */
  write(text: string): void
  /** Breaks the connection without a closing handshake. */
  cut(): void
  isOpen: boolean
}

/** A server with the handshake of OpenAI's realtime API. */
export function startFakeRealtime() {
  const sessions: FakeSession[] = []
  /** Answers an event of the gateway. Tests replace it. */
  const script = { respond: (_event: Event, _session: FakeSession): void => {}, status: 101 }
  const server = Bun.serve<{ session: FakeSession }>({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request, server) {
      if (script.status !== 101) return new Response('no', { status: script.status })
      const session: FakeSession = {
        url: new URL(request.url),
        headers: request.headers,
        received: [],
        emit: () => {},
        write: () => {},
        cut: () => {},
        isOpen: true,
      }
      return server.upgrade(request, { data: { session } }) ? undefined : new Response('no')
    },
    websocket: {
      backpressureLimit: 256 * 1_048_576,
      open(socket) {
        const { session } = socket.data
        session.write = (text) => void socket.send(text)
        session.emit = (type, fields) => session.write(JSON.stringify({ type, ...fields }))
        session.cut = () => socket.terminate()
        sessions.push(session)
        session.emit('session.created', { session: { model: 'their-voice', id: 'sess_1' } })
      },
      message(socket, text) {
        const { session } = socket.data
        const event = recordOf(JSON.parse(String(text)))
        session.received.push(event)
        script.respond(event, session)
      },
      close(socket) {
        socket.data.session.isOpen = false
      },
    },
  })
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    sessions,
    script,
    close: () => server.stop(true),
  }
}

export type FakeRealtime = ReturnType<typeof startFakeRealtime>
