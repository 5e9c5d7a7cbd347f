import { Type } from '@sinclair/typebox'

import { groupMembersMax } from '../kernel/limits.ts'
import { strictObject } from '../kernel/schema.ts'
import { listGroups, setGroup } from './groups.ts'
import { operationsOf, writeErrors } from './operation.ts'
import { done, DoneSchema } from './schemas.ts'
import { operator } from './session-user.ts'

const operation = operationsOf('Operator')

const GroupSchema = Type.Object({
  name: Type.String(),
  people: Type.Array(Type.String(), { description: 'Members whom the operator added.' }),
  provided: Type.Integer({ description: 'Members whom the sign-in provider names.' }),
})

const list = operation({
  id: 'list_groups',
  route: 'GET /operator/groups',
  mcp: 'hidden',
  summary: 'List the groups of people, with their members.',
  description: 'Makers open apps to groups. The claim "groups" of the sign-in provider adds some.',
  access: operator,
  output: { 200: Type.Object({ groups: Type.Array(GroupSchema) }) },
  run: async (ctx) => ({ groups: await listGroups(ctx) }),
})

export const changeGroup = operation({
  id: 'set_group',
  route: 'PUT /operator/groups/:name',
  mcp: 'hidden',
  summary: 'Set the members of a group; no members deletes it.',
  access: operator,
  input: {
    body: strictObject({
      people: Type.Array(Type.String({ maxLength: 120 }), {
        maxItems: groupMembersMax,
        description: 'Names of accounts.',
      }),
    }),
  },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { params, body }) {
    await setGroup(ctx, params.name, body.people)
    return done
  },
})

/** Groups of people, which the operator makes. */
export const groupOperations = [list, changeGroup]
