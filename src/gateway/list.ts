import { type TSchema, Type } from '@sinclair/typebox'

import { nullable } from '../kernel/schema.ts'
import { invalidField } from './fields.ts'

/** Returns the schema of a page of a list in OpenAI's format. */
export const listSchema = <Item extends TSchema>(item: Item) =>
  Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(item),
    first_id: nullable(Type.String()),
    last_id: nullable(Type.String()),
    has_more: Type.Boolean(),
  })

interface Listed {
  id?: unknown
}

const idOf = (item: Listed | undefined): string | null =>
  typeof item?.id === 'string' ? item.id : null

export const toList = <Item extends Listed>(data: Item[], hasMore: boolean) => ({
  object: 'list' as const,
  data,
  first_id: idOf(data.at(0)),
  last_id: idOf(data.at(-1)),
  has_more: hasMore,
})

/** Returns the error of a cursor that is not in its list. `param`: the parameter that has it. */
export const unknownAfter = (param = 'after') =>
  invalidField(param, `"${param}" is not in this list. Start again without it.`)

/**
 * Returns the page of a whole list behind the item `after`, which the parameter `param` names.
 * Throws `bad_request`.
 */
export function pageAfter<Item extends Listed>(
  items: Item[],
  after: string | undefined,
  size: number,
  param?: string,
): { page: Item[]; hasMore: boolean } {
  const start = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && start === 0) throw unknownAfter(param)
  return { page: items.slice(start, start + size), hasMore: start + size < items.length }
}

/**
 * Returns the page behind or before an item of a whole list, in the fields of Anthropic's lists.
 * Throws `bad_request`.
 */
export function pageBetween<Item extends { id: string }>(
  items: Item[],
  { after, before }: { after: string | undefined; before: string | undefined },
  size: number,
) {
  if (after !== undefined && before !== undefined) {
    throw invalidField('before_id', 'Send after_id or before_id, not both.')
  }
  const { page, hasMore } =
    before === undefined
      ? pageAfter(items, after, size, 'after_id')
      : pageBefore(items, before, size)
  const ends = { first_id: page.at(0)?.id ?? null, last_id: page.at(-1)?.id ?? null }
  return { page, ...ends, has_more: hasMore }
}

function pageBefore<Item extends Listed>(
  items: Item[],
  before: string,
  size: number,
): { page: Item[]; hasMore: boolean } {
  const end = items.findIndex(({ id }) => id === before)
  if (end < 0) throw unknownAfter('before_id')
  return { page: items.slice(Math.max(0, end - size), end), hasMore: end > size }
}
