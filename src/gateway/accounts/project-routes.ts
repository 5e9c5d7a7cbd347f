import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation } from '../operation.ts'
import * as projects from './projects.ts'
import * as schemas from './schemas.ts'

const errors = ['too_large', 'bad_request', 'key_above_own', 'try_again'] as const

/** Routes of projects: groups of an account's keys with budgets of their own. */
export const projectRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .get(
      '/accounts/projects',
      async ({ spender }) => ({ data: await projects.list(ctx, spender) }),
      keyOperation(
        { id: 'list_projects', tag: 'Account', summary: 'List projects and their spending.' },
        { 200: schemas.ProjectListSchema },
      ),
    )
    .post(
      '/accounts/projects',
      async ({ spender, body, status }) => status(201, await projects.add(ctx, spender, body)),
      {
        body: schemas.NewProjectSchema,
        ...keyOperation(
          {
            id: 'add_project',
            tag: 'Account',
            summary: 'Create a project: a group of keys with budgets.',
            description: 'Its keys spend the balance of the account, together within its budgets.',
          },
          { 201: schemas.ProjectSchema },
          errors,
        ),
      },
    )
    .patch(
      '/accounts/projects/:id',
      ({ spender, params, body }) => projects.edit(ctx, spender, params.id, body),
      {
        body: schemas.ProjectRequestSchema,
        ...keyOperation(
          { id: 'change_project', tag: 'Account', summary: 'Change a project.' },
          { 200: schemas.ProjectSchema },
          [...errors, 'not_found'],
        ),
      },
    )
    .delete(
      '/accounts/projects/:id',
      async ({ spender, params }) => {
        await projects.remove(ctx, spender, params.id)
        return { id: params.id, deleted: true as const }
      },
      keyOperation(
        {
          id: 'delete_project',
          tag: 'Account',
          summary: 'Delete a project.',
          description: 'Its keys stay, without its budgets.',
        },
        { 200: schemas.DeletedProjectSchema },
        [...errors, 'not_found'],
      ),
    )
