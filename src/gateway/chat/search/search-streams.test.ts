import { afterAll, beforeEach, describe, expect, test } from 'bun:test'

import { minute } from '../../../kernel/time.ts'
import { json, type Step } from '../../../testing/fakes/chat-scripts.ts'
import type { GatewayUser } from '../../../testing/fixtures/gateway.ts'
import {
  asking,
  askWithSearch,
  fee,
  pieces,
  search,
  startSearchServer,
  streamed,
  textSteps,
  tokens,
} from '../../../testing/fixtures/web-search.ts'
import { until } from '../../../testing/until.ts'

let gus: GatewayUser
const faked = await startSearchServer()
beforeEach(async () => {
  faked.clock.advance(2 * minute)
  gus = await faked.gus()
})
afterAll(() => faked.close())

const scriptResponses = (...rounds: Step[][]) => faked.fake.script('fake/seeks', ...rounds)
const ask = (more: object = {}) => askWithSearch(gus, more)
const dataOf = (text: string): string[] =>
  text.split('\n\n').flatMap((event) => (event.startsWith('data: ') ? [event.slice(6)] : []))

describe('a stream', () => {
  test('omits the searches and ends with the citations and all usage', async () => {
    const first = streamed({ role: 'assistant', content: 'Let me see. ' }, ...pieces('tides'))
    scriptResponses(first, streamed({ role: 'assistant', content: '' }, { content: 'High.' }))
    const { status, bytes } = await ask({ stream: true, stream_options: { include_usage: true } })
    expect(status).toBe(200)
    const events = dataOf(new TextDecoder().decode(bytes))
    expect(events.pop()).toBe('[DONE]')
    const chunks = events.map((data) => JSON.parse(data))
    const deltas = chunks.flatMap(({ choices: [choice] }) => (choice ? [choice.delta] : []))
    expect(deltas).toEqual([
      { role: 'assistant', content: 'Let me see. ' },
      { content: 'High.' },
      { annotations: [expect.anything(), expect.anything()] },
      {},
    ])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 220 } })
    const { use } = await faked.lastUse(gus)
    expect(use).toMatchObject({ searches: 1, charged: fee + tokens(2), estimated: false })
    expect(await faked.findProblems(gus)).toEqual([])
  })

  test('works with an upstream that does not stream', async () => {
    scriptResponses(asking(search('tides')), textSteps('High.'))
    const { bytes } = await ask({ stream: true })
    const events = dataOf(new TextDecoder().decode(bytes))
    expect(events.pop()).toBe('[DONE]')
    const received = events.map((data) => JSON.parse(data).choices[0]?.delta.content ?? '')
    expect(received.join('')).toBe('High.')
    expect(events.join('')).not.toContain('web_search')
    const { use } = await faked.lastUse(gus)
    expect(use).toMatchObject({ searches: 1, charged: fee + tokens(2), estimated: false })
  })

  test('has complete tool calls for the client', async () => {
    const call = {
      id: 'c9',
      type: 'function',
      function: { name: 'tide_table', arguments: '{"a":1}' },
    }
    const [start, ...rest] = pieces('tides')
    scriptResponses(streamed(start ?? {}, ...rest, { tool_calls: [{ index: 1, ...call }] }))
    const { bytes } = await ask({ stream: true })
    const text = new TextDecoder().decode(bytes)
    expect(text).not.toContain('web_search')
    expect(text).toContain(JSON.stringify({ tool_calls: [{ index: 0, ...call }] }).slice(1))
  })

  test('whose later round fails ends with an error', async () => {
    const failure = json(500, { error: { message: 'Broken.' } })
    scriptResponses(streamed(...pieces('tides')), failure)
    expect((await ask({ stream: true })).status).toBe(502)
    expect((await faked.lastUse(gus)).use).toMatchObject({ charged: 0n })
    scriptResponses(streamed({ content: 'Let me see. ' }, ...pieces('tides')), failure)
    const { bytes } = await ask({ stream: true })
    const text = new TextDecoder().decode(bytes)
    expect(text).toContain('upstream_stream_error')
    expect(text).not.toContain('[DONE]')
    const { use } = await faked.lastUse(gus)
    expect(use).toMatchObject({ searches: 1, estimated: true })
    expect(use?.charged).toBeGreaterThan(fee + tokens(1))
    expect(await faked.findProblems(gus)).toEqual([])
  })

  test('that its client leaves after a search is charged with the search', async () => {
    scriptResponses(streamed({ content: 'Let me see. ' }, ...pieces('tides')), [{ do: 'hang' }])
    const client = new AbortController()
    const before = faked.fake.received.length
    const response = await fetch(`${faked.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gus.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'fake/seeks',
        messages: [{ role: 'user', content: 'Tides?' }],
        web_search: true,
        stream: true,
      }),
      signal: client.signal,
    })
    await response.body?.getReader().read()
    await faked.fake.arrival(before + 1)
    client.abort()
    await until(async () => (await faked.lastUse(gus)).total > 0)
    const { use } = await faked.lastUse(gus)
    expect(use).toMatchObject({ status: 'interrupted', searches: 1 })
    expect(use?.charged).toBeGreaterThan(fee + tokens(1))
    expect(use?.charged).toBeLessThan(use?.held ?? 0n)
    expect(await faked.findProblems(gus)).toEqual([])
  })
})
