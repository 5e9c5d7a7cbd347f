import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { formatCsv } from '../../kernel/csv.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { wholeQuery } from '../../kernel/http/list-query.ts'
import { csv } from '../../kernel/http/outcome.ts'
import {
  historyPageDefault,
  historyPageMax,
  historyPagesMax,
  modelIdCharsMax,
} from '../../kernel/limits.ts'
import { nano, toUsd } from '../../kernel/money.ts'
import {
  lenientObject,
  lineSchema,
  mediaSchema,
  momentSchema,
  namedObject,
  nullable,
  oneOf,
  TimeSchema,
} from '../../kernel/schema.ts'
import { isPlainLine } from '../../kernel/text.ts'
import { day, iso, utcDay } from '../../kernel/time.ts'
import * as keys from '../../money/keys/keys.ts'
import * as projects from '../../money/keys/projects.ts'
import { key, type KeySpender } from '../authentication.ts'
import { invalidField } from '../fields.ts'
import { listUses, type Use } from '../models/history.ts'
import { groupUsage, type UsageField, usageFields, type UsageGroup } from '../models/spending.ts'
import { operationsOf } from '../operation.ts'

const UsageRowSchema = namedObject('Use', {
  id: Type.String(),
  request_id: Type.String({ description: 'The x-request-id of the response.' }),
  timestamp: TimeSchema,
  model: Type.String(),
  type: Type.String(),
  source: oneOf(['api', 'web', 'build']),
  status: Type.String(),
  input_count: Type.Integer(),
  cached_count: Type.Integer({ description: 'Part of input_count.' }),
  output_count: Type.Integer(),
  reasoning_count: Type.Integer({ description: 'Part of output_count.' }),
  search_count: Type.Integer({ description: 'Web searches.' }),
  estimated: Type.Boolean({
    description: 'Counted by this server, because the upstream reported no usage.',
  }),
  price_in_usd: Type.Number(),
  held_in_usd: Type.Number({ description: 'The maximum cost that was held.' }),
  ms: Type.Integer(),
  ttft_ms: nullable(
    Type.Integer({ description: 'Milliseconds to the first byte of the response.' }),
  ),
  key: nullable(Type.String({ description: 'The prefix of the key; null for the web.' })),
  error: nullable(Type.String({ description: 'The name of the error of a failed call.' })),
})
export type UsageRow = Static<typeof UsageRowSchema>

const columns = Object.keys(UsageRowSchema.properties)

const HistorySchema = Type.Object({
  data: Type.Array(UsageRowSchema),
  page: Type.Integer(),
  page_count: Type.Integer({ description: 'Rows per page at most.' }),
  total: Type.Integer(),
})

const HistoryQuerySchema = lenientObject({
  page: Type.Optional(wholeQuery(historyPagesMax, 'From 1; page 1 has the newest rows.')),
  page_count: Type.Optional(
    wholeQuery(historyPageMax, 'Rows per page, 1 to 1,000. The default is 100.'),
  ),
  from: Type.Optional(momentSchema('ISO 8601, inclusive. A date starts at 00:00 UTC.')),
  to: Type.Optional(momentSchema('ISO 8601, inclusive. A date includes the whole day.')),
  model: Type.Optional(lineSchema(modelIdCharsMax)),
  format: Type.Optional(oneOf(['json', 'csv'])),
})
export type HistoryQuery = Static<typeof HistoryQuerySchema>

const groups = 'day|key|model|upstream|tag|project'
/** No word of the list is there twice. */
const unique = '(?!(?:.*,)?(\\w+),(?:.*,)?\\1(?:,|$))'

const UsageQuerySchema = lenientObject({
  group_by: Type.Optional(
    Type.String({
      maxLength: 100,
      described: { pattern: `^${unique}(?:${groups})(?:,(?:${groups})){0,2}$` },
      description: 'One to three of day, key, model, upstream, tag, project. The default is day.',
    }),
  ),
  from: Type.Optional(momentSchema('ISO 8601, inclusive. Default: 30 days ago.')),
  to: Type.Optional(momentSchema('ISO 8601, inclusive. Default: now.')),
  format: Type.Optional(oneOf(['json', 'csv'])),
})
type UsageQuery = Static<typeof UsageQuerySchema>

const groupField = Type.Optional(nullable(Type.String()))

const UsageGroupRowSchema = namedObject('UsageGroup', {
  day: groupField,
  key: groupField,
  model: groupField,
  upstream: groupField,
  tag: groupField,
  project: groupField,
  requests: Type.Integer(),
  input_count: Type.Integer(),
  cached_count: Type.Integer(),
  output_count: Type.Integer(),
  reasoning_count: Type.Integer(),
  search_count: Type.Integer(),
  price_in_usd: Type.Number(),
})
type UsageGroupRow = Static<typeof UsageGroupRowSchema>

const UsageGroupsSchema = Type.Object({ data: Type.Array(UsageGroupRowSchema) })

/**
 * Returns a page of an account's usage, newest first (document 2, GET /queries/history;
 * `page_count` is the page size). Throws `bad_request` for an invalid time or model id.
 */
export async function findHistory(ctx: AppContext, account: string, query: HistoryQuery) {
  const { page = 1, page_count = historyPageDefault, model } = query
  if (model !== undefined && !isPlainLine(model, modelIdCharsMax)) {
    throw invalidField(
      'model',
      `"model" must be a model id of at most ${modelIdCharsMax} characters.`,
    )
  }
  const size = requireWhole('page_count', page_count, historyPageMax)
  const { rows, total } = await listUses(ctx.db.read, {
    account,
    page: requireWhole('page', page, historyPagesMax),
    size,
    ...(model !== undefined && { model }),
    ...parsePeriod(query),
  })
  return { data: rows.map(presentUse), page, page_count, total }
}

/** A period in milliseconds, both ends inclusive. */
export interface Period {
  from?: number
  to?: number
}

/** Parses the period of a query; a date in `to` includes the whole day. Throws `bad_request`. */
export const parsePeriod = ({ from, to }: Pick<HistoryQuery, 'from' | 'to'>): Period => ({
  ...(from !== undefined && { from: parseTime(from, 'from').start }),
  ...(to !== undefined && { to: parseTime(to, 'to').end }),
})

const timePattern =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/

/** Parses a date, from its start to its end, or a time. Without a zone it is UTC. */
function parseTime(text: string, param: string): { start: number; end: number } {
  // A query string decodes the plus of an offset as a space.
  const [, date, time, zone = 'Z'] = timePattern.exec(text.trim().replace(' ', '+')) ?? []
  const start = date === undefined ? Number.NaN : Date.parse(`${date}T${time ?? '00:00'}${zone}`)
  // Date.parse accepts February 30 as a day in March.
  const isDay = !Number.isNaN(start) && utcDay(Date.parse(date ?? '')) === date
  if (isDay) return { start, end: time === undefined ? start + day - 1 : start }
  throw invalidField(
    param,
    `"${param}" must be an ISO 8601 time, for example 2026-11-21 or 2026-11-21T09:30:00Z.`,
  )
}

const presentUse = (use: Use): UsageRow => ({
  id: use.id,
  request_id: use.requestId,
  timestamp: iso(use.at),
  model: use.model,
  type: use.type,
  source: use.source,
  status: use.status,
  input_count: use.input,
  cached_count: use.cached,
  output_count: use.output,
  reasoning_count: use.reasoning,
  search_count: use.searches,
  estimated: use.estimated,
  price_in_usd: toUsd(use.charged),
  held_in_usd: toUsd(use.held),
  ms: use.ms,
  ttft_ms: use.firstByteMs,
  key: use.key,
  error: use.error,
})

/** Formats rows as CSV with a header line (RFC 4180). */
export const formatHistory = (uses: UsageRow[]): string => formatCsv(columns, uses)

const operation = operationsOf('Account')

const listUsage = operation({
  id: 'list_usage',
  route: 'GET /accounts/usage',
  summary: 'Add up the usage of your account by day, key, model, upstream, tag or project.',
  description: 'As JSON, or as CSV with `format=csv`; the highest cost first.',
  access: key,
  input: { query: UsageQuerySchema },
  output: { 200: Type.Union([UsageGroupsSchema, mediaSchema('text/csv')]) },
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
  input: { query: HistoryQuerySchema },
  output: { 200: Type.Union([HistorySchema, mediaSchema('text/csv')]) },
  errors: ['bad_request'],
  async run(ctx, { caller: spender, query }) {
    const listed = await findHistory(ctx, spender.account, query)
    return query.format === 'csv' ? csv('history', formatHistory(listed.data)) : listed
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
  const { from = now - defaultDays * day, to = now } = parsePeriod(query)
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
