import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { formatCsv } from '../../kernel/csv.ts'
import { csv } from '../../kernel/http/outcome.ts'
import { nano, toUsd } from '../../kernel/money.ts'
import { mediaSchema } from '../../kernel/schema.ts'
import { day } from '../../kernel/time.ts'
import * as keys from '../../money/keys/keys.ts'
import * as projects from '../../money/keys/projects.ts'
import { key, type KeySpender } from '../authentication.ts'
import { invalidField } from '../fields.ts'
import { groupUsage, type UsageField, usageFields, type UsageGroup } from '../models/spending.ts'
import { operationsOf } from '../operation.ts'
import * as history from './history.ts'
import * as schemas from './history.ts'
import { parseTime, type UsageGroupRow, type UsageQuery } from './history.ts'

const operation = operationsOf('Account')

const listUsage = operation({
  id: 'list_usage',
  route: 'GET /accounts/usage',
  summary: 'Add up the usage of your account by day, key, model, upstream, tag or project.',
  description: 'As JSON, or as CSV with `format=csv`; the highest cost first.',
  access: key,
  input: { query: schemas.UsageQuerySchema },
  output: { 200: Type.Union([schemas.UsageGroupsSchema, mediaSchema('text/csv')]) },
  errors: ['bad_request'],
  async run(ctx, { caller: spender, query }) {
    const usage = await sumUsage(ctx, spender, query)
    return query.format === 'csv' ? csv('usage', formatUsage(usage.data)) : usage
  },
})

const listHistory = operation({
  id: 'list_history',
  route: 'GET /queries/history',
  summary: 'List the usage of your account, newest first.',
  description: 'As JSON, or as CSV with `format=csv`. Request and response bodies are not stored.',
  access: key,
  input: { query: schemas.HistoryQuerySchema },
  output: { 200: Type.Union([schemas.HistorySchema, mediaSchema('text/csv')]) },
  errors: ['bad_request'],
  async run(ctx, { caller: spender, query }) {
    const listed = await history.listHistory(ctx, spender.account, query)
    return query.format === 'csv' ? csv('history', history.formatHistory(listed.data)) : listed
  },
})

export const usageOperations = [listUsage, listHistory]

const defaultDays = 30

/** Fields that follow from the key of a call. */
const keyFields = ['tag', 'project'] as const
const groupFields = [...usageFields, ...keyFields]
type GroupField = (typeof groupFields)[number]

/**
 * Groups the usage of the account (GET /accounts/usage) by one to three fields, highest cost first.
 * A call counts for every tag that its key has now. Throws `bad_request`.
 */
async function sumUsage(
  ctx: AppContext,
  { account, owner }: KeySpender,
  query: UsageQuery,
): Promise<{ data: UsageGroupRow[] }> {
  const fields = readFields(query.group_by ?? 'day')
  const now = ctx.clock.now()
  const from =
    query.from === undefined ? now - defaultDays * day : parseTime(query.from, 'from').start
  const to = query.to === undefined ? now : parseTime(query.to, 'to').end
  const ofKeys = fields.some((field) => isKeyField(field))
  const read: UsageField[] = usageFields.filter(
    (field) => fields.includes(field) || (ofKeys && field === 'key'),
  )
  const groups = await groupUsage(ctx.db.read, { account, from, to }, read)
  const rows = ofKeys ? await addKeyFields(ctx, owner.owner, groups, fields) : groups
  return { data: merge(rows, fields).map((row) => present(row, fields)) }
}

type Row = UsageGroup & { tag?: string | null; project?: string | null }

const isKeyField = (field: GroupField): boolean => keyFields.some((name) => name === field)

function readFields(text: string): GroupField[] {
  const words = text.split(',').map((word) => word.trim())
  const fields = groupFields.filter((field) => words.includes(field))
  const isValid = fields.length === words.length && fields.length <= 3
  if (isValid) return fields
  throw invalidField('group_by', `group_by must be one to three of ${groupFields.join(', ')}.`)
}

/** Adds the tags and the project of each group's key. A group with several tags counts for each. */
async function addKeyFields(
  { db }: AppContext,
  owner: string,
  groups: UsageGroup[],
  fields: GroupField[],
): Promise<Row[]> {
  const all = new Map((await keys.listAll(db.read, owner)).map((key) => [key.prefix, key]))
  const names = new Map((await projects.list(db.read, owner)).map(({ id, name }) => [id, name]))
  return groups.flatMap((group) => {
    const key = all.get(group.key ?? '')
    const project = names.get(key?.project ?? '') ?? null
    const tags = fields.includes('tag') && key?.tags?.length ? key.tags : [null]
    return tags.map((tag) => ({ ...group, tag, project }))
  })
}

/** Adds up rows with the same values of the fields. */
function merge(rows: Row[], fields: GroupField[]): Row[] {
  const merged = new Map<string, Row>()
  for (const row of rows) {
    const name = JSON.stringify(fields.map((field) => row[field] ?? null))
    const known = merged.get(name)
    merged.set(name, known ? sum(known, row) : row)
  }
  return [...merged.values()].sort((a, b) => Number(b.charged - a.charged))
}

const sum = (a: Row, b: Row): Row => ({
  ...a,
  requests: a.requests + b.requests,
  input: a.input + b.input,
  cached: a.cached + b.cached,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
  searches: a.searches + b.searches,
  charged: nano(a.charged + b.charged),
})

const present = (row: Row, fields: GroupField[]): UsageGroupRow => ({
  ...Object.fromEntries(fields.map((field) => [field, row[field] ?? null])),
  requests: row.requests,
  input_count: row.input,
  cached_count: row.cached,
  output_count: row.output,
  reasoning_count: row.reasoning,
  search_count: row.searches,
  price_in_usd: toUsd(row.charged),
})

const countColumns = [
  'requests',
  'input_count',
  'cached_count',
  'output_count',
  'reasoning_count',
  'search_count',
  'price_in_usd',
] as const

/** Formats groups as CSV with a header line (RFC 4180). */
function formatUsage(rows: UsageGroupRow[]): string {
  const [first] = rows
  const fields = groupFields.filter((field) => first?.[field] !== undefined)
  const names = [...fields, ...countColumns]
  const cells = rows.map((row) =>
    Object.fromEntries(names.map((name) => [name, row[name] ?? null])),
  )
  return formatCsv<string>(names, cells)
}
