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

/** Returns the error of a cursor that is not in its list. */
export const unknownAfter = () =>
  invalidField('after', '"after" is not in this list. Start again without it.')

/** Returns the page of a whole list behind the item `after`. Throws `bad_request`. */
export function pageAfter<Item extends Listed>(
  items: Item[],
  after: string | undefined,
  size: number,
): { page: Item[]; hasMore: boolean } {
  const start = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && start === 0) throw unknownAfter()
  return { page: items.slice(start, start + size), hasMore: start + size < items.length }
}
