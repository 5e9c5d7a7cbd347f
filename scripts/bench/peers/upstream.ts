/**
 * A minimal OpenAI upstream over TCP: a completion, or a stream of 200 chunks, the first at once
 * and then one every 2 ms. `bun upstream.ts [MS [CHUNKS]]`: MS between two chunks. Prints its port.
 */
import type { Socket } from 'bun'

const chunks = Number(Bun.argv[3] ?? 200)
const everyMs = Number(Bun.argv[2] ?? 2)
const usage = { prompt_tokens: 20, completion_tokens: chunks, total_tokens: chunks + 20 }
const base = { id: 'chatcmpl-bench', created: 1_760_000_000, model: 'bench' }

const message = { role: 'assistant', content: 'A short answer, as most of them are. '.repeat(8) }
const whole = JSON.stringify({
  ...base,
  object: 'chat.completion',
  choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
  usage,
})
const json = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${whole.length}\r\n\r\n${whole}`,
)

const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const event = (more: object): string =>
  chunked(
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...more, usage: null })}\n\n`,
  )
const choice = (delta: object, finish_reason: string | null) =>
  event({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
const head =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const steps = Array.from({ length: chunks }, (_, at) => choice({ content: ` word${at}` }, null))
const usageChunk = { ...base, object: 'chat.completion.chunk', choices: [], usage }
const last =
  choice({}, 'stop') +
  chunked(`data: ${JSON.stringify(usageChunk)}\n\n`) +
  chunked('data: [DONE]\n\n') +
  chunked('')
const parts = [head + (steps[0] ?? ''), ...steps.slice(1), last].map((text) => Buffer.from(text))

interface Connection {
  text: string
  /** Number of chunks sent. -1 while no stream runs. */
  sent: number
}

const streaming = new Set<Socket<Connection>>()

function respond(socket: Socket<Connection>, bytes: Buffer): void {
  const { data } = socket
  data.text += bytes.toString('latin1')
  const end = data.text.indexOf('\r\n\r\n')
  const length = Number(/content-length: *(\d+)/i.exec(data.text)?.[1] ?? 0)
  if (end < 0 || data.text.length < end + 4 + length) return
  const isStream = data.text.includes('"stream":true')
  data.text = ''
  if (!isStream) return void socket.write(json)
  socket.write(parts[0] ?? '')
  data.sent = 1
  streaming.add(socket)
}

setInterval(() => {
  for (const socket of streaming) {
    const part = parts[socket.data.sent]
    socket.data.sent += 1
    if (part) socket.write(part)
    else streaming.delete(socket)
  }
}, everyMs)

const server = Bun.listen<Connection>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open: (socket) => void (socket.data = { text: '', sent: -1 }),
    data: respond,
    close: (socket) => void streaming.delete(socket),
    error: (socket) => void streaming.delete(socket),
  },
})
console.log(server.port)
