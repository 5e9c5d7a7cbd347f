import { describe, expect, spyOn, test } from 'bun:test'

import { nano } from '../../core/money.ts'
import type { Usage } from '../../models/usage.ts'
import { CallDeadlines } from '../paid/deadlines.ts'
import { Heartbeat } from './heartbeat.ts'
import { Relay, type RelayOptions } from './relay.ts'
import { ResponseMeter } from './response-meter.ts'
import { UpstreamEvents } from './upstream-events.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const word = bytes(
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }] })}\n\n`,
)
const done = bytes('data: [DONE]\n\n')

/** A relay of a stream that is fed by hand. */
async function openRelay(terms: Partial<RelayOptions> = {}, first = word) {
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined
  let isCancelled = false
  const upstream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      feed = controller
      controller.enqueue(first)
    },
    cancel: () => {
      isCancelled = true
    },
  })
  const client = new AbortController()
  const watch = new CallDeadlines(client.signal, { firstByteMs: 60_000, totalMs: 60_000 })
  const limits = { prompt: 1_000, completion: 1_000 }
  const carried = new ResponseMeter({ limits, choices: 1, countPrompt: () => 3 })
  const source = await UpstreamEvents.open(new Response(upstream), watch)
  const wanted = { costOf: undefined, settled: Promise.resolve(), ...terms }
  const relay = new Relay(source, carried, watch, wanted)
  const body = relay.body()
  return { relay, watch, client, carried, feed, body, isCancelled: () => isCancelled }
}

describe('Relay', () => {
  test('says so every while when nothing comes, and only after the first event', async () => {
    const { body, feed } = await openRelay({ heartbeat: new Heartbeat(5) })
    const reader = body.getReader()
    const seen = []
    for (let at = 0; at < 3; at += 1)
      seen.push(String(Buffer.from((await reader.read()).value ?? '')))
    expect(seen).toEqual([String(Buffer.from(word)), ': keep-alive\n\n', ': keep-alive\n\n'])
    feed?.enqueue(done)
    feed?.close()
    let rest = ''
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      rest = String(Buffer.from(read.value))
    }
    expect(rest).toBe('data: [DONE]\n\n')
  })

  test('keeps its last event back until it is paid', async () => {
    const { promise: settled, resolve } = Promise.withResolvers<void>()
    const { body, feed, relay } = await openRelay({ settled })
    feed?.enqueue(done)
    const reader = body.getReader()
    await reader.read()
    const last = reader.read()
    expect(await relay.ended).toBe('done')
    expect(await Promise.race([last, Bun.sleep(20).then(() => 'waits')])).toBe('waits')
    resolve()
    expect(String(Buffer.from((await last).value ?? ''))).toBe('data: [DONE]\n\n')
    expect((await reader.read()).done).toBe(true)
  })

  test('ends once, whatever comes after it', async () => {
    const { body, feed, relay, client, watch, isCancelled } = await openRelay()
    const reader = body.getReader()
    await reader.read()
    client.abort()
    expect(await relay.ended).toBe('client')
    watch.stop('deadline')
    await reader.cancel()
    while (!isCancelled()) await Bun.sleep(1)
    expect(watch.cause).toBe('client')
    expect(() => feed?.enqueue(done)).toThrow()
  })

  test('a deadline ends it though its client reads nothing', async () => {
    const { body, relay, watch } = await openRelay()
    watch.stop('deadline')
    expect(await relay.ended).toBe('deadline')
    const text = await new Response(body).text()
    expect(text).toContain('"code":"upstream_stream_error"')
    expect(text).not.toContain('[DONE]')
  })

  test('tells the usage once, as the last chunk, though its upstream tells the prompt first', async () => {
    const usageOf = (completion_tokens: number, cost?: number) =>
      bytes(
        `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 9, completion_tokens, cost } })}\n\n`,
      )
    const told = async (...more: Uint8Array[]) => {
      const first = Buffer.concat([usageOf(0), word])
      const { body, feed } = await openRelay({ costOf: () => nano(5_000_000n) }, first)
      for (const event of more) feed?.enqueue(event)
      feed?.close()
      return new Response(body).text()
    }
    const late = await told(usageOf(1), done)
    expect(late).toBe(String(Buffer.concat([word, usageOf(1, 0.005), done])))
    const events = (await told(done)).trim().split('\n\n')
    expect(events).toHaveLength(3)
    expect(events[1]).toContain('"prompt_tokens":9')
    expect(events[1]).toContain('"cost":0.005')
  })

  test('tells last the usage that is charged, though an earlier one stood beside the words', async () => {
    const beside = (content: string) => ({
      choices: [{ index: 0, delta: { role: 'assistant', content } }],
      usage: { prompt_tokens: 9, completion_tokens: 0, cost: 7 },
    })
    const costOf = ({ completion }: Usage) => nano(BigInt(completion) * 1_000_000_000n)
    for (const content of ['', 'Ahoy']) {
      const first = bytes(`data: ${JSON.stringify(beside(content))}\n\n`)
      const { body, feed, carried } = await openRelay({ costOf }, first)
      for (const part of [word, word, done]) feed?.enqueue(part)
      const events = (await new Response(body).text()).trim().split('\n\n')
      const told = events.flatMap((event) => [...event.matchAll(/"cost":(\d+)/g)].map(([, n]) => n))
      expect(told.at(-1)).toBe(String(carried.usage(true).completion))
      // Before there were words nothing is told.
      expect(told).toHaveLength(content === '' ? 1 : 2)
      expect(events.at(-2)).toContain('"usage"')
    }
  })

  test('a usage that cannot be read is not handed on', async () => {
    const usage = { cost: 7, prompt_tokens: 'nine' }
    const first = bytes(`data: ${JSON.stringify({ choices: [], usage })}\n\n`)
    const { body, feed } = await openRelay({ costOf: () => nano(1n) }, Buffer.concat([word, first]))
    feed?.enqueue(done)
    expect(await new Response(body).text()).not.toContain('"cost":7')
  })

  test('of a stream that its upstream ended the usage is waited for, a second at most', async () => {
    const event = (chunk: object) => bytes(`data: ${JSON.stringify(chunk)}\n\n`)
    const filtered = event({ choices: [{ index: 0, finish_reason: 'content_filter' }] })
    const failed = event({ error: { message: 'Broken.' } })
    const usage = event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 2 } })
    for (const last of [filtered, failed]) {
      const { body, feed, relay, carried } = await openRelay()
      feed?.enqueue(last)
      feed?.enqueue(usage)
      expect(await new Response(body).text()).not.toContain('usage')
      expect(await relay.ended).toBe(last === filtered ? 'filtered' : 'failed')
      expect(carried.usage(false)).toMatchObject({ prompt: 9, completion: 2, estimated: false })
      const silent = await openRelay()
      silent.feed?.enqueue(last)
      await new Response(silent.body).text()
      expect(silent.isCancelled()).toBe(true)
      expect(silent.carried.usage(false)).toMatchObject({ prompt: 3, estimated: true })
    }
  })

  test('what came after an early usage is counted, when it breaks off', async () => {
    const { body, feed, relay, carried } = await openRelay()
    const early = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 }
    feed?.enqueue(bytes(`data: ${JSON.stringify({ choices: [], usage: early })}\n\n`))
    const more = { choices: [{ index: 0, delta: { content: 'word '.repeat(20) } }] }
    feed?.enqueue(bytes(`data: ${JSON.stringify(more)}\n\n`))
    feed?.close()
    await new Response(body).text()
    expect(await relay.ended).toBe('broken')
    const usage = carried.usage(false)
    expect(usage).toMatchObject({ prompt: 9, estimated: true })
    expect(usage.completion).toBeGreaterThan(20)
  })
})

test('a stream that is made here is read without a wait between its events', async () => {
  const words = Array.from({ length: 300 }, () => word)
  const made = new ReadableStream<Uint8Array>({
    pull: (out) => {
      const next = words.pop()
      if (next) out.enqueue(next)
      else out.close()
    },
  })
  const slept = spyOn(Bun, 'sleep')
  const { signal } = new AbortController()
  const watch = new CallDeadlines(signal, { firstByteMs: 60_000, totalMs: 60_000 })
  const source = await UpstreamEvents.open(new Response(made), watch)
  let read = 0
  for (let events = await source.next(); events; events = await source.next()) read += events.length
  expect([read, slept.mock.calls.length]).toEqual([300, 0])
  slept.mockRestore()
  watch.end()
})
