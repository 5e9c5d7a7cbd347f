import { created } from '../../kernel/http/outcome.ts'
import { key } from '../authentication.ts'
import { operationsOf } from '../operation.ts'
import * as projects from './projects.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Account')

const errors = ['too_large', 'bad_request', 'key_above_own', 'try_again'] as const

const listProjects = operation({
  id: 'list_projects',
  route: 'GET /accounts/projects',
  summary: 'List projects and their spending.',
  access: key,
  output: { 200: schemas.ProjectListSchema },
  run: async (ctx, { caller: spender }) => ({ data: await projects.list(ctx, spender) }),
})

const addProject = operation({
  id: 'add_project',
  route: 'POST /accounts/projects',
  summary: 'Create a project: a group of keys with budgets.',
  description: 'Its keys spend the balance of the account, together within its budgets.',
  access: key,
  input: { body: schemas.NewProjectSchema },
  output: { 201: schemas.ProjectSchema },
  errors: errors,
  run: async (ctx, { caller: spender, body }) => created(await projects.add(ctx, spender, body)),
})

const changeProject = operation({
  id: 'change_project',
  route: 'PATCH /accounts/projects/:id',
  summary: 'Change a project.',
  access: key,
  input: { body: schemas.ProjectRequestSchema },
  output: { 200: schemas.ProjectSchema },
  errors: [...errors, 'not_found'],
  run: (ctx, { caller: spender, params, body }) => projects.edit(ctx, spender, params.id, body),
})

const deleteProject = operation({
  id: 'delete_project',
  route: 'DELETE /accounts/projects/:id',
  summary: 'Delete a project.',
  description: 'Its keys stay, without its budgets.',
  access: key,
  output: { 200: schemas.DeletedProjectSchema },
  errors: [...errors, 'not_found'],
  async run(ctx, { caller: spender, params }) {
    await projects.remove(ctx, spender, params.id)
    return { id: params.id, deleted: true as const }
  },
})

/** Routes of projects: groups of an account's keys with budgets of their own. */
export const projectOperations = [listProjects, addProject, changeProject, deleteProject]
