import { afterAll, describe, expect, test } from 'bun:test'

import { recordOf } from '../../kernel/schema.ts'
import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { type Cell, ChargeTable, plain, streamed } from '../../testing/fixtures/charge-table.ts'
import { eventsOf } from '../../testing/fixtures/responses.ts'

/** The table of upstreams with the Responses API, whose bytes are relayed. */
const table = await ChargeTable.open(
  '/v1/responses',
  (model, stream) => ({ model, input: 'Say hello.', stream, max_output_tokens: 50 }),
  'responses',
)
afterAll(() => table.close())

/** All cells run in parallel. */
const waitMs = 30_000
const text = fakeText.join('')

/** Forms of a chat alone: an early usage, events without data, and JSON instead of a stream. */
const ofChats = /early|each|empty-data|unstreamed/
/**
 * Cells that differ from another one only before a response is read as one of this API, and
 * deadlines, which end a stream like a broken upstream. Other tables have them.
 */
const formatless = /^(402|403|408|422|503|close-first|gzip-bomb|hang|hang-middle)$/
const plainCells = plain.filter(([name]) => !formatless.test(name))
/** Without content: known by the last event, before the client has received any. */
const silent: Cell = { status: 502, charge: 'nothing' }
const streamedCells = streamed
  .filter(([name]) => !ofChats.test(name) && !formatless.test(name) && name !== 'no-choices')
  .map(([name, cell]): [string, Cell] => [name, name === 'no-content' ? silent : cell])

async function runPlain(name: string, cell: Cell): Promise<void> {
  const { body, headers } = await table.run(name, false, cell)
  const { code = null } = cell
  if (cell.status !== 200) return expect(body).toMatchObject({ error: { code } })
  const { usage } = Object(body)
  expect(body).toMatchObject({ object: 'response', output: [{ content: [{ text }] }] })
  expect(usage).not.toHaveProperty('cost_details')
  expect(usage.cost.toFixed(9).replace(/0+$/, '')).toBe(String(headers.get('x-service-cost')))
}

async function runStreamed(name: string, cell: Cell): Promise<void> {
  const { body } = await table.run(name, true, cell)
  const { code = null } = cell
  if (cell.status !== 200) return expect(body).toMatchObject({ error: { code } })
  if (['html', 'bad-headers'].includes(name)) return
  const lines = String(body)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/^: .*\n+/gm, '')
  const events = eventsOf(lines)
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
  const words = deltas.map(({ delta }) => delta).join('')
  const [error, last] = events.slice(-2)
  if (!cell.event) {
    expect([words, last?.type]).toEqual([text, 'response.completed'])
    expect(recordOf(recordOf(last?.response).usage)).not.toHaveProperty('cost')
    return
  }
  expect(text).toStartWith(words)
  expect(error).toMatchObject({ type: 'error', code: cell.event })
  expect(last).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: cell.event } },
  })
}

describe('charges of a relayed response', () => {
  test.concurrent.each(plainCells)('%s', runPlain, waitMs)
})

describe('charges of a relayed stream', () => {
  test.concurrent.each(streamedCells)('%s', runStreamed, waitMs)
})

test('no upstream was called at another path', () => {
  const paths = table.patient.fake.received.map(({ path, body }) => [path, body.model])
  const chats = paths.filter(([path]) => path !== '/v1/responses')
  // A 404 is tried again as a chat.
  expect(new Set(chats.map(([, model]) => model))).toEqual(new Set(['fake/404']))
})
