import { isRecord, type Json } from '../../kernel/schema.ts'

export const operators = [
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'not-in',
  'array-contains',
  'array-contains-any',
] as const
export type Operator = (typeof operators)[number]

/** A condition of a field, whose name may be a path with dots. */
export interface Condition {
  field: string
  operator: Operator
  value: unknown
}

export interface Order {
  field: string
  isDescending: boolean
}

export interface Query {
  conditions: Condition[]
  orders: Order[]
  limit: number
}

/** A document as queries see it. */
interface SelectableRow {
  id: string
  data: Json
}

function valueAt(data: unknown, field: string): unknown {
  let value: unknown = data
  for (const name of field.split('.')) {
    value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  return value
}

/** Values of different types sort as in Firestore: null, booleans, numbers, texts, others. */
const ranks = new Map([
  ['boolean', 1],
  ['number', 2],
  ['string', 3],
])

function rankOf(value: unknown): number {
  if (value === undefined || value === null) return 0
  return ranks.get(typeof value) ?? (Array.isArray(value) ? 4 : 5)
}

/** Compares two JSON values. */
function compare(a: unknown, b: unknown): number {
  const rank = rankOf(a) - rankOf(b)
  if (rank !== 0 || rankOf(a) === 0) return rank
  if (typeof a === 'number' || typeof a === 'boolean') return Number(a) - Number(b)
  const [left, right] = [a, b].map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  )
  return left === right ? 0 : String(left) < String(right) ? -1 : 1
}

const equal = (a: unknown, b: unknown): boolean => rankOf(a) === rankOf(b) && compare(a, b) === 0
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const isIn = (value: unknown, list: unknown): boolean =>
  listOf(list).some((item) => equal(item, value))

const comparisons: Record<Operator, (value: unknown, given: unknown) => boolean> = {
  '==': equal,
  '!=': (value, given) => value !== undefined && !equal(value, given),
  '<': (value, given) => rankOf(value) === rankOf(given) && compare(value, given) < 0,
  '<=': (value, given) => rankOf(value) === rankOf(given) && compare(value, given) <= 0,
  '>': (value, given) => rankOf(value) === rankOf(given) && compare(value, given) > 0,
  '>=': (value, given) => rankOf(value) === rankOf(given) && compare(value, given) >= 0,
  in: isIn,
  'not-in': (value, given) => value !== undefined && !isIn(value, given),
  'array-contains': (value, given) => isIn(given, value),
  'array-contains-any': (value, given) => listOf(given).some((item) => isIn(item, value)),
}

/** Returns the documents that match, in order. The id decides between equal ones. */
export function select<Row extends SelectableRow>(rows: Iterable<Row>, query: Query): Row[] {
  const matches = [...rows].filter(({ data }) =>
    query.conditions.every(({ field, operator, value }) =>
      comparisons[operator](valueAt(data, field), value),
    ),
  )
  return matches
    .toSorted((a, b) => {
      for (const { field, isDescending } of query.orders) {
        const order = compare(valueAt(a.data, field), valueAt(b.data, field))
        if (order !== 0) return isDescending ? -order : order
      }
      return a.id < b.id ? -1 : 1
    })
    .slice(0, query.limit)
}
