import { afterAll, expect, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { kinds } from '../apps/kinds.ts'
import { apps } from '../apps/tables.ts'
import { recordOf } from '../kernel/schema.ts'
import { skillText, steps } from './fixtures/folders.ts'
import { callTool } from './fixtures/mcp-server.ts'
import { publishPackOnExplore } from './fixtures/packs-on-explore.ts'
import { startTestServer } from './fixtures/test-server.ts'
import {
  type Document,
  getDocument,
  getGatewayDocument,
  listOperations,
} from './openapi/document.ts'

const t = await startTestServer({ PUBLISHES_PER_HOUR: '0' })
afterAll(() => t.close())

/** The field of an item for a filter, or for each value of an order. */
type Fields = Record<string, string | Record<string, string>>

const orders = {
  new: 'published',
  top: 'ratingLow',
  trending: 'heat',
  remixed: 'remixers',
  record: 'record.successLow',
  played: 'opens',
}
const filters = {
  kind: 'kind',
  shelf: 'shelf',
  q: 'title',
  maker: 'maker',
  price: 'remix',
  uses: 'uses',
}
const range = { from: 'timestamp', to: 'timestamp' }

/** Parameters of each list that sort or filter it, with the fields of items that they read. */
const lists: Record<string, [list: string, fields: Fields]> = {
  explore: ['items', { ...filters, sort: orders }],
  get_maker: ['items', { kind: 'kind', sort: orders }],
  list_notes: ['notes', { kind: 'kind', unread: 'read' }],
  list_errors: ['errors', { version: 'version' }],
  list_records: ['records', { kind: 'kind' }],
  operator_list_records: ['records', { kind: 'kind' }],
  get_earnings: ['byItem', { item: 'item' }],
  list_models: ['data', { type: 'type' }],
  list_history: ['data', { model: 'model', ...range }],
  list_files: ['data', { purpose: 'purpose', order: 'created_at' }],
  list_videos: ['data', { order: 'created_at' }],
  list_usage: [
    'data',
    {
      group_by: {
        day: 'day',
        key: 'key',
        model: 'model',
        upstream: 'upstream',
        tag: 'tag',
        project: 'project',
      },
    },
  ],
}

/** Parameters that page a list or choose its format. */
const paging = ['limit', 'cursor', 'after', 'page', 'page_count', 'format']
/** Parameters that select what a row sums up, start a key, or order a conversation. */
const unseen = [
  'get_earnings from',
  'get_earnings to',
  'list_usage from',
  'list_usage to',
  'list_input_items order',
  'list_values prefix',
]
/** Operations whose parameters choose one thing, and feeds, whose format has no such fields. */
const others =
  /^(get|read|look_at|open|diff|delete|operator_delete)_(?!maker|earnings$)|^get_earnings_csv$/

/** Returns the schema of a field such as `rating.count`. */
function fieldOf({ components }: Document, schema: unknown, path: string): unknown {
  const resolve = (given: unknown): Record<string, unknown> => {
    const found = recordOf(given)
    const name = String(found['$ref'] ?? '')
      .split('/')
      .at(-1)
    return name ? resolve(components.schemas[name]) : found
  }
  return path
    .split('.')
    .reduce<unknown>(
      (part, name) =>
        name === '[]' ? resolve(part)['items'] : recordOf(resolve(part)['properties'])[name],
      schema,
    )
}

test('items have each field that their list sorts or filters by', async () => {
  const found: string[] = []
  for (const document of [await getDocument(t), await getGatewayDocument(t)]) {
    for (const { operationId: id, parameters = [], responses } of listOperations(document)) {
      const names = parameters.flatMap((one) => (one.in === 'query' ? one.name : []))
      const sorting = names.filter(
        (name) => !paging.includes(name) && !unseen.includes(`${id} ${name}`),
      )
      if (sorting.length === 0 || others.test(id)) continue
      found.push(id)
      const [list, fields] = lists[id] ?? ['', {}]
      expect([id, Object.keys(fields).toSorted()]).toEqual([id, sorting.toSorted()])
      const schema = responses['200']?.content?.['application/json']?.schema
      const paths = Object.values(fields).flatMap((field) =>
        typeof field === 'string' ? field : Object.values(field),
      )
      const missing = paths.filter((path) => !fieldOf(document, schema, `${list}.[].${path}`))
      expect([id, missing]).toEqual([id, []])
      const sorts = Object(parameters.find(({ name }) => name === 'sort')).schema
      if (sorts) expect(Object.keys(orders)).toEqual(Object(sorts).enum)
    }
  }
  expect(found.toSorted()).toEqual(Object.keys(lists).toSorted())
})

/** Returns the value of a field of each item as text; 0 where it has none. */
const valuesOf = (items: unknown, path: string): string[] =>
  Array.isArray(items)
    ? items.map((item) => {
        const value: unknown = path.split('.').reduce((part, name) => recordOf(part)[name], item)
        return typeof value === 'string' ? value : Number(value ?? 0).toFixed(4)
      })
    : []

test('each order of Explore is that of the values which its items show', async () => {
  const ann = await t.agent('ann')
  for (const [at, kind] of [...kinds, ...kinds].entries()) {
    const isPack = kind === 'skill' || kind === 'framework'
    const id = isPack
      ? await publishPackOnExplore(
          ann,
          { skill: skillText(`pack-${at}`), ...(kind === 'framework' && { steps }) },
          kind,
        )
      : await ann.publish({ kind, title: `Item ${at}`, store: true })
    // Another order for each column, of single digits, which sort as text.
    const [good, heat, remixers, successLow, opens] = [5, 3, 7, 3, 1].map((by) => (at * by + 3) % 8)
    const set = { good, reviews: 8, heat, remixers, opens }
    await t.ctx.db.tx(async (db) => {
      const changed = { ...set, ...(isPack && { successLow: 100_000 * (successLow ?? 0) }) }
      await db.update(apps).set(changed).where(eq(apps.id, id))
    })
    t.clock.advance(1_000)
  }
  for (const [sort, path] of Object.entries(orders)) {
    const lists = {
      explore: recordOf((await t.call('GET', `/explore?sort=${sort}`)).body)['items'],
      maker: recordOf((await t.call('GET', `/explore/@ann?sort=${sort}`)).body)['items'],
      mcp: recordOf((await callTool(t, 'explore', { sort }, { key: ann.key })).structuredContent)[
        'items'
      ],
    }
    for (const [list, items] of Object.entries(lists)) {
      const values = valuesOf(items, path)
      const sorted = values.toSorted().toReversed()
      expect([sort, list, values]).toEqual([sort, list, sorted])
      expect([sort, list, new Set(values).size > 3]).toEqual([sort, list, true])
    }
  }
})
