import { formatCsv } from '../../kernel/csv.ts'
import { nano, toUsd } from '../../kernel/money.ts'
import { day } from '../../kernel/time.ts'
import * as keys from '../../money/keys/keys.ts'
import * as projects from '../../money/keys/projects.ts'
import type { AppContext } from '../../server/context.ts'
import type { KeySpender } from '../authentication.ts'
import { invalidField } from '../fields.ts'
import {
  groupUsage,
  type UsageField,
  usageFields,
  type UsageGroup,
} from '../models/usage-groups.ts'
import { parseTime } from './history.ts'
import type { UsageGroupRow, UsageQuery } from './schemas.ts'

const defaultDays = 30

/** Fields that follow from the key of a call. */
const keyFields = ['tag', 'project'] as const
const groupFields = [...usageFields, ...keyFields]
type GroupField = (typeof groupFields)[number]

/**
 * Groups the usage of the account (GET /accounts/usage) by one to three fields, highest cost first.
 * A call counts for every tag that its key has now. Throws `bad_request`.
 */
export async function listUsage(
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
export function formatUsage(rows: UsageGroupRow[]): string {
  const [first] = rows
  const fields = groupFields.filter((field) => first?.[field] !== undefined)
  const names = [...fields, ...countColumns]
  const cells = rows.map((row) =>
    Object.fromEntries(names.map((name) => [name, row[name] ?? null])),
  )
  return formatCsv<string>(names, cells)
}
