/** The memory of open streams: two sockets and their buffers in the pass-through, and more here. */
import { rssKib } from '../../../src/testing/processes/server-process.ts'
import type { Target } from '../load/load.ts'
import { atMost, type BenchRow } from '../row.ts'
import { chatAt, serveGateway, servePass } from './served.ts'

const everyMs = 200
const streams = 1_000
const warmStreams = 250
const perKey = 50
const kibMax = 12

/** Opens slow streams at Berth and at the pass-through. Returns their difference as a row. */
export async function streamMemory(
  name: string,
  settings: Record<string, string>,
): Promise<BenchRow> {
  const gateway = await serveGateway(everyMs, settings)
  const keys: string[] = []
  while (keys.length * perKey < streams + warmStreams) keys.push((await gateway.newAccount()).key)
  const reading = await servePass(gateway.upstream, 'read')
  const servers = [gateway.ctx, gateway.pass, reading]
  const kib: number[] = []
  for (const server of servers) kib.push(await kibEach(keys, chatAt(server, keys[0] ?? '', true)))
  const [ours = 0, bare = 0, read = 0] = kib
  await Promise.all([gateway.stop(), reading.stop()])
  const numbers = `${ours.toFixed(0)} KiB vs. ${bare.toFixed(0)} KiB; ${read.toFixed(0)} KiB if it reads them`
  return atMost(`${name} beyond those of the pass-through (${numbers})`, ours - bare, kibMax, 'KiB')
}

/** A first group of streams excludes what every process needs once. */
async function kibEach(keys: string[], target: Target): Promise<number> {
  const open = (from: number, count: number) =>
    Promise.all(Array.from({ length: count }, (_, at) => openStream(target, keys, from + at)))
  const some = await open(0, warmStreams)
  await Bun.sleep(2_000)
  const before = rssKib(target.pid)
  const all = await open(warmStreams, streams)
  await Bun.sleep(3_000)
  const each = (rssKib(target.pid) - before) / streams
  for (const socket of [...some, ...all]) socket.end()
  return each
}

/** Resolves with the first bytes. */
async function openStream({ port, request }: Target, keys: string[], at: number) {
  const began = Promise.withResolvers<void>()
  const own = request.replace(/Bearer \S+/, `Bearer ${keys[at % keys.length]}`)
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (opened) => void opened.write(own),
      data: (_, bytes) =>
        bytes.toString().startsWith('HTTP/1.1 4') ? began.reject(bytes) : began.resolve(),
    },
  })
  await began.promise
  return socket
}
