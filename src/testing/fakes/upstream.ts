import type { Socket } from 'bun'

import { scripts, type Step } from './chat-scripts.ts'
import { mediaScripts } from './media-scripts.ts'
import { nativeScripts } from './native-scripts.ts'
import { claudeScripts, cohereScripts } from './provider-scripts.ts'
import { responsesScripts } from './responses-scripts.ts'

const known = { ...mediaScripts, ...claudeScripts, ...cohereScripts, ...nativeScripts, ...scripts }

/** A request as the fake upstream received it. */
export interface Received {
  path: string
  headers: Record<string, string>
  text: string
  /** The parsed body of a JSON request. */
  body: Record<string, unknown>
  /** True after the client disconnected before the end of the response. */
  left: boolean
  /** Resolves when the client has disconnected or the response is complete. */
  ended: Promise<void>
}

export interface FakeUpstream {
  /** The `base_url` of an `[[upstream]]`. */
  baseUrl: string
  received: Received[]
  /** Resolves with the request of a position in `received` when it has arrived. */
  arrival(at: number): Promise<Received>
  /** Number of connections to the target of redirects. */
  canaryTouched(): number
  /**
   * Runs these steps for requests to that model, streamed or not. With several lists, each request
   * takes the next one, and the last one repeats.
   */
  script(model: string, ...responses: Step[][]): void
  close(): void
}

const idle = (): void => {}

interface Connection {
  bytes: Buffer
  request: Received | undefined
  /** Ends the wait of the running step because the client disconnected. */
  leave: () => void
  /** Continues writing when the socket accepts bytes again. */
  drained: () => void
}

/**
 * An OpenAI upstream on 127.0.0.1 that controls every byte. The model's name selects the script,
 * with or without "fake/" in front. One request for each connection.
 */
export function startFakeUpstream(): FakeUpstream {
  const requests = new Requests()
  const own = new Map<string, Step[][]>()
  let touched = 0
  const canary = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => void (touched += 1),
      data: (socket) => void socket.end(),
    },
  })
  const stepsFor = (request: Received): Step[] => {
    const model = modelOf(request)
    const name = model.replace(/^fake\//, '')
    const script = nextOf(own.get(model)) ?? scriptOf(name, request)
    if (!script) throw new Error(`The fake upstream has no script "${model}".`)
    if (Array.isArray(script)) return script
    return wantsStream(request) ? script.stream : script.plain
  }
  const open = new Set<Socket<Connection>>()
  const server = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { bytes: Buffer.alloc(0), request: undefined, leave: idle, drained: idle }
        open.add(socket)
      },
      data(socket, chunk) {
        const connection = socket.data
        connection.bytes = Buffer.concat([connection.bytes, chunk])
        if (connection.request) return
        const request = parse(connection.bytes)
        if (!request) return
        connection.request = request
        requests.add(request)
        const steps = stepsFor(request).map((step) => withAddresses(step, canary.port, request))
        request.ended = play(socket, request, steps)
      },
      drain: (socket) => socket.data.drained(),
      close(socket) {
        open.delete(socket)
        socket.data.leave()
      },
    },
  })
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    received: requests.received,
    arrival: (at) => requests.arrival(at),
    canaryTouched: () => touched,
    script: (model, ...responses) => void own.set(model, responses),
    close() {
      for (const socket of open) socket.terminate()
      server.stop(true)
      canary.stop(true)
    },
  }
}

/** Requests in the order of their arrival. */
class Requests {
  readonly received: Received[] = []
  private arrived = Promise.withResolvers<void>()

  add(request: Received): void {
    this.received.push(request)
    this.arrived.resolve()
    this.arrived = Promise.withResolvers()
  }

  async arrival(at: number): Promise<Received> {
    for (;;) {
      const request = this.received[at]
      if (request) return request
      await this.arrived.promise
    }
  }
}

const wantsStream = ({ body, path }: Received): boolean =>
  body.stream === true || path.includes(':stream')

/** Returns the script of a model for the API of a request. */
const scriptOf = (name: string, { path }: Received) =>
  (path.endsWith('/responses') ? responsesScripts[name] : undefined) ?? known[name]

/** Returns the next response of a script. The last one repeats. */
const nextOf = (responses: Step[][] = []): Step[] | undefined =>
  responses.length > 1 ? responses.shift() : responses[0]

/** Runs the steps until they end or the client disconnects. */
async function play(socket: Socket<Connection>, request: Received, steps: Step[]): Promise<void> {
  const left = new Promise<'left'>((resolve) => {
    socket.data.leave = () => resolve('left')
  })
  for (const step of steps) {
    const outcome = await Promise.race([left, doStep(socket, step)])
    if (outcome !== 'left') continue
    request.left = true
    return
  }
}

async function doStep(socket: Socket<Connection>, step: Step): Promise<void> {
  if ('send' in step) return write(socket, Buffer.from(step.send))
  if ('waitMs' in step) return Bun.sleep(step.waitMs)
  if ('until' in step) return void (await step.until)
  if (step.do === 'hang') return new Promise(() => {})
  socket.data.leave = () => {}
  if (step.do === 'reset') socket.terminate()
  else socket.end()
}

async function write(socket: Socket<Connection>, bytes: Buffer): Promise<void> {
  let rest = bytes
  while (rest.length > 0) {
    const written = socket.write(rest)
    if (written < 0) return
    rest = rest.subarray(written)
    if (rest.length === 0) return
    await new Promise<void>((resolve) => {
      socket.data.drained = resolve
    })
  }
}

/** Returns the request when it is complete. */
function parse(bytes: Buffer): Received | undefined {
  const split = bytes.indexOf('\r\n\r\n')
  if (split < 0) return undefined
  const [start = '', ...lines] = bytes.toString('latin1', 0, split).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const body = bytes.subarray(split + 4)
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined
  const text = body.toString('utf8')
  const isJson = headers['content-type']?.includes('json') ?? false
  return {
    path: start.split(' ')[1] ?? '',
    headers,
    text,
    body: isJson ? JSON.parse(text) : {},
    left: false,
    ended: Promise.resolve(),
  }
}

/**
 * Returns the model of a request. Gemini has it in the path. Polls of a video have none: they use
 * the path ("/videos/film").
 */
function modelOf({ body, text, path }: Received): string {
  if (typeof body.model === 'string') return body.model
  const [, generated] = /\/v1\/(?:models\/)?(.+):\w*[gG]enerateContent/.exec(path) ?? []
  if (generated !== undefined) return generated
  const [videoPath] = /\/(?:videos|files)\/.+$/.exec(path) ?? []
  if (videoPath !== undefined) return videoPath
  return /name="model"\r\n\r\n([^\r]*)/.exec(text)?.[1] ?? ''
}

/** Replaces CANARY with the target of redirects and KEY with the received key. */
function withAddresses(step: Step, canaryPort: number, { headers }: Received): Step {
  if (!('send' in step) || typeof step.send !== 'string') return step
  const key = headers.authorization?.replace('Bearer ', '') ?? headers['x-goog-api-key'] ?? ''
  const location = `http://127.0.0.1:${canaryPort}/v1/chat/completions`
  if (!/CANARY|KEY/.test(step.send)) return step
  const replaced = step.send.replace('CANARY', location).replace('KEY', key)
  return {
    send: replaced.replace(/content-length: [1-9]\d*/, `content-length: ${bodyBytes(replaced)}`),
  }
}

const bodyBytes = (response: string): number =>
  Buffer.byteLength(response.slice(response.indexOf('\r\n\r\n') + 4))
