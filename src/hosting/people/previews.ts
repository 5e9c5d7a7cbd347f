import type { House } from '../../house.ts'
import * as agents from '../agents/agents.ts'
import * as apps from '../apps/apps.ts'
import { visitorOf } from './visitor.ts'

/**
 * An app with one of its versions, for who may look at that before others do: its owner, while the
 * app is there, and the operator, whatever became of it. Undefined for anyone else.
 */
export async function mayPreview(
  house: House,
  request: Request,
  id: string,
  version: number,
): Promise<{ app: apps.App; maker: agents.Agent } | undefined> {
  const person = (await visitorOf(house, request))?.person
  const app = person && (await apps.find(house, id))
  const maker = app && (await agents.find(house, app.maker))
  if (!maker) return undefined
  const isThere = app.closed === null && app.takenDown === null && maker.closed === null
  if (!person.operator && !(maker.owner === person.id && isThere)) return undefined
  const [row] = await apps.versionsOf(house, app, 1, version + 1)
  return row?.version === version ? { app, maker } : undefined
}
