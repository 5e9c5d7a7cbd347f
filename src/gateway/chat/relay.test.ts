import { describe, expect, spyOn, test } from 'bun:test'

import { nextTurn } from '../../testing/until.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import type { StreamWriter } from '../conversation/codec.ts'
import type { Usage } from '../models/usage.ts'
import { createChatCodec } from '../openai-chat/encode.ts'
import { createChatClient } from '../openai-chat/write.ts'
import { CallDeadlines } from '../paid/deadlines.ts'
import { ChatMeter } from './meter.ts'
import { Heartbeat, Relay, type RelayOptions } from './relay.ts'
import { OpenedSource, StepSource, StreamSource } from './source.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const word = bytes(
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }] })}\n\n`,
)
const done = bytes('data: [DONE]\n\n')

const codec = createChatCodec({})
const head = { model: 'asked', id: 'own', created: 1, flavor: 'openai' } as const

interface Terms extends Partial<RelayOptions> {
  /** The cost in USD. With it the client wants the usage. */
  costOf?(usage: Usage): number
}

/** Opens a relay of a stream that the test feeds. */
async function openRelay({ costOf, ...terms }: Terms = {}, first = word) {
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined
  const { promise: canceled, resolve: cancel } = Promise.withResolvers<void>()
  const upstream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      feed = controller
      controller.enqueue(first)
    },
    cancel: () => cancel(),
  })
  const client = new AbortController()
  const deadlines = new CallDeadlines(client.signal, { firstByteMs: 60_000, totalMs: 60_000 })
  const limits = { prompt: 1_000, completion: 1_000 }
  const meter = new ChatMeter({ limits, choices: 1, countPrompt: () => 3 })
  const source = await OpenedSource.open(new StreamSource(new Response(upstream), codec, deadlines))
  const options = {
    writer: createChatClient({ ...head, wantsUsage: costOf !== undefined }).createWriter(),
    isPassed: true,
    final: () => ({ usage: meter.usage(true), cost: costOf?.(meter.usage(true)) }),
    settled: Promise.resolve(),
    ...terms,
  }
  const relay = new Relay(source, meter, deadlines, options)
  const body = relay.body()
  return { relay, deadlines, client, meter, feed, body, canceled }
}

describe('Relay', () => {
  test('sends heartbeats while idle, and only after the first event', async () => {
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

  test('withholds its last event until the settlement', async () => {
    const { promise: settled, resolve } = Promise.withResolvers<void>()
    const { body, feed, relay } = await openRelay({ settled })
    feed?.enqueue(done)
    const reader = body.getReader()
    await reader.read()
    const last = reader.read()
    expect(await relay.ended).toBe('done')
    expect(await Promise.race([last, nextTurn().then(() => 'waits')])).toBe('waits')
    resolve()
    expect(String(Buffer.from((await last).value ?? ''))).toBe('data: [DONE]\n\n')
    expect((await reader.read()).done).toBe(true)
  })

  test('ends only once', async () => {
    const { body, feed, relay, client, deadlines, canceled } = await openRelay()
    const reader = body.getReader()
    await reader.read()
    client.abort()
    expect(await relay.ended).toBe('client')
    deadlines.stop('deadline')
    await reader.cancel()
    await canceled
    expect(deadlines.cause).toBe('client')
    expect(() => feed?.enqueue(done)).toThrow()
  })

  test('a deadline ends it while its client does not read', async () => {
    const { body, relay, deadlines } = await openRelay()
    deadlines.stop('deadline')
    expect(await relay.ended).toBe('deadline')
    const text = await new Response(body).text()
    expect(text).toContain('"code":"upstream_stream_error"')
    expect(text).not.toContain('[DONE]')
  })

  test('sends the usage once, as the last chunk, after an early one of the prompt', async () => {
    const usageOf = (completion_tokens: number, cost?: number) =>
      bytes(
        `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 9, completion_tokens, cost } })}\n\n`,
      )
    const reported = async (...more: Uint8Array[]) => {
      const first = Buffer.concat([usageOf(0), word])
      const { body, feed } = await openRelay({ costOf: () => 0.005 }, first)
      for (const event of more) feed?.enqueue(event)
      feed?.close()
      return new Response(body).text()
    }
    const late = await reported(usageOf(1), done)
    expect(late).toBe(String(Buffer.concat([word, usageOf(1, 0.005), done])))
    const events = (await reported(done)).trim().split('\n\n')
    expect(events).toHaveLength(3)
    expect(events[1]).toContain('"prompt_tokens":9')
    expect(events[1]).toContain('"cost":0.005')
  })

  test('sends the charged usage last, after an earlier one beside text', async () => {
    const beside = (content: string) => ({
      choices: [{ index: 0, delta: { role: 'assistant', content } }],
      usage: { prompt_tokens: 9, completion_tokens: 0, cost: 7 },
    })
    const costOf = ({ completion }: Usage) => completion
    for (const content of ['', 'Ahoy']) {
      const first = bytes(`data: ${JSON.stringify(beside(content))}\n\n`)
      const { body, feed, meter } = await openRelay({ costOf }, Buffer.concat([first, word]))
      for (const part of [word, done]) feed?.enqueue(part)
      const events = (await new Response(body).text()).trim().split('\n\n')
      const reported = events.flatMap((event) =>
        [...event.matchAll(/"cost":(\d+)/g)].map(([, n]) => n),
      )
      expect(reported.at(-1)).toBe(String(meter.usage(true).completion))
      // Clients add up all that they get.
      expect(reported).toHaveLength(1)
      expect(events.at(-2)).toContain('"usage"')
    }
  })

  test('an invalid usage is not passed on', async () => {
    const usage = { cost: 7, prompt_tokens: 'nine' }
    const first = bytes(`data: ${JSON.stringify({ choices: [], usage })}\n\n`)
    const { body, feed } = await openRelay({ costOf: () => 1e-9 }, Buffer.concat([word, first]))
    feed?.enqueue(done)
    expect(await new Response(body).text()).not.toContain('"cost":7')
  })

  test('waits at most a second for the usage of a stream that its upstream ended', async () => {
    const event = (chunk: object) => bytes(`data: ${JSON.stringify(chunk)}\n\n`)
    const filtered = event({ choices: [{ index: 0, finish_reason: 'content_filter' }] })
    const failed = event({ error: { message: 'Broken.' } })
    const usage = event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 2 } })
    for (const last of [filtered, failed]) {
      const { body, feed, relay, meter } = await openRelay()
      feed?.enqueue(last)
      feed?.enqueue(usage)
      expect(await new Response(body).text()).not.toContain('usage')
      expect(await relay.ended).toBe(last === filtered ? 'filtered' : 'failed')
      expect(meter.usage(false)).toMatchObject({ prompt: 9, completion: 2, estimated: false })
      const silent = await openRelay()
      silent.feed?.enqueue(last)
      await new Response(silent.body).text()
      await silent.canceled
      expect(silent.meter.usage(false)).toMatchObject({ prompt: 3, estimated: true })
    }
  })

  test('counts the output after an early usage when the stream breaks off', async () => {
    const { body, feed, relay, meter } = await openRelay()
    const early = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 }
    feed?.enqueue(bytes(`data: ${JSON.stringify({ choices: [], usage: early })}\n\n`))
    const more = { choices: [{ index: 0, delta: { content: 'word '.repeat(20) } }] }
    feed?.enqueue(bytes(`data: ${JSON.stringify(more)}\n\n`))
    feed?.close()
    await new Response(body).text()
    expect(await relay.ended).toBe('broken')
    const usage = meter.usage(false)
    expect(usage).toMatchObject({ prompt: 9, estimated: true })
    expect(usage.completion).toBeGreaterThan(20)
  })
})

test('a stream of this process is read without waits between events', async () => {
  async function* steps(): AsyncGenerator<ChatEvent[]> {
    for (let at = 0; at < 300; at += 1) yield [{ type: 'text', choice: 0, text: 'a' }]
  }
  const slept = spyOn(Bun, 'sleep')
  const source = await OpenedSource.open(new StepSource(steps()))
  let read = 0
  for (let next = await source.next(); next; next = await source.next()) read += next.length
  expect([read, slept.mock.calls.length]).toEqual([300, 0])
  slept.mockRestore()
})

describe('a client of another API', () => {
  /** A writer that names the steps, and has nothing of its upstream's bytes. */
  const named: StreamWriter = {
    write: (events) => bytes(events.map(({ type }) => `${type};`).join('')),
    pass: () => undefined,
    beat: () => bytes('beat;'),
    end: ({ usage }) => bytes(`end ${usage.completion};`),
    fail: ({ code }) => bytes(`fail ${String(code)};`),
  }

  test('gets every step in its own API, and the end after the charge', async () => {
    const { body, feed, relay } = await openRelay({ writer: named, isPassed: false })
    feed?.enqueue(bytes(': still working\n\n'))
    for (const part of [word, done]) feed?.enqueue(part)
    expect(await new Response(body).text()).toBe('start;text;text;done;end 1;')
    expect(await relay.ended).toBe('done')
  })

  test('gets an error in its own API when the stream breaks off', async () => {
    const { body, feed, relay } = await openRelay({ writer: named, isPassed: false })
    feed?.close()
    expect(await new Response(body).text()).toBe('start;text;fail upstream_stream_error;')
    expect(await relay.ended).toBe('broken')
  })

  test('gets the last bytes of its API when the response is too long, and leaves', async () => {
    let hasLeft = false
    const writer: StreamWriter = {
      ...named,
      cut: () => bytes('too long;'),
      leave: () => void (hasLeft = true),
    }
    const { body, relay, canceled } = await openRelay({ writer, isPassed: false })
    expect(await new Response(body).text()).toBe('start;text;too long;')
    expect([await relay.ended, hasLeft]).toEqual(['client', true])
    await canceled
  })
})
