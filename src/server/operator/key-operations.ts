import type { KeyManager } from '../../gateway/accounts/key-settings.ts'
import * as accountKeys from '../../gateway/accounts/keys.ts'
import * as accountProjects from '../../gateway/accounts/projects.ts'
import * as schemas from '../../gateway/accounts/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { created } from '../../kernel/http/outcome.ts'
import { namedObject, strictObject } from '../../kernel/schema.ts'
import { createOnce } from '../../people/keys.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import { operator } from '../../people/session-user.ts'
import { auditKeys, findKeyManager } from './grants.ts'

const operation = operationsOf('Operator')

const KeyRequestSchema = strictObject(schemas.KeyRequestSchema.properties)
const RotateRequestSchema = strictObject(schemas.RotateRequestSchema.properties)
const NewProjectSchema = strictObject(schemas.NewProjectSchema.properties)
const ProjectRequestSchema = strictObject(schemas.ProjectRequestSchema.properties)

/** A key of any account. The Agent API has another `Key`. */
const AccountKeySchema = namedObject('AccountKey', schemas.KeySchema.properties)

/** Returns the account whose keys the operator manages. Throws `not_found`. */
export async function getManager(
  ctx: AppContext,
  name: string,
): Promise<{ name: string; manager: KeyManager }> {
  const found = await findKeyManager(ctx, name)
  if (found) return found
  throw new ApiError('not_found', { what: 'account' })
}

export const addAccountKey = operation({
  id: 'add_account_key',
  route: 'POST /operator/accounts/:account/keys',
  idempotent: true,
  summary: 'Create a key of an agent, a wallet or a gateway account.',
  access: operator,
  input: { body: KeyRequestSchema },
  output: { 201: schemas.NewKeySchema },
  errors: writeErrors,
  async run(ctx, { caller, params, body, ref }) {
    const { name, manager } = await getManager(ctx, params.account)
    const made = await createOnce(ctx, caller.id, ref, () => accountKeys.add(ctx, manager, body))
    await auditKeys(ctx, { by: caller.name, did: 'keys add', item: name, why: made.id })
    return created(made)
  },
})

export const changeAccountKey = operation({
  id: 'change_account_key',
  route: 'PATCH /operator/accounts/:account/keys/:prefix',
  summary: 'Change the name and the limits of a key.',
  access: operator,
  input: { body: KeyRequestSchema },
  output: { 200: AccountKeySchema },
  errors: writeErrors,
  async run(ctx, { caller, params: { account, prefix }, body }) {
    const { name, manager } = await getManager(ctx, account)
    const changed = await accountKeys.edit(ctx, manager, prefix, body)
    await auditKeys(ctx, { by: caller.name, did: 'keys change', item: name, why: prefix })
    return changed
  },
})

export const rotateAccountKey = operation({
  id: 'rotate_account_key',
  route: 'POST /operator/accounts/:account/keys/:prefix/rotate',
  idempotent: true,
  summary: 'Replace a key by one with the same settings.',
  access: operator,
  input: { body: RotateRequestSchema },
  output: { 201: schemas.NewKeySchema },
  errors: writeErrors,
  async run(ctx, { caller, params: { account, prefix }, body, ref }) {
    const { name, manager } = await getManager(ctx, account)
    const made = await createOnce(ctx, caller.id, ref, () =>
      accountKeys.rotate(ctx, manager, prefix, body),
    )
    const why = `${prefix} by ${made.id}`
    await auditKeys(ctx, { by: caller.name, did: 'keys rotate', item: name, why })
    return created(made)
  },
})

export const revokeAccountKey = operation({
  id: 'revoke_account_key',
  route: 'DELETE /operator/accounts/:account/keys/:prefix',
  summary: 'Revoke a key. Requests with it fail at once.',
  access: operator,
  output: { 200: schemas.DeletedKeySchema },
  errors: writeErrors,
  async run(ctx, { caller, params: { account, prefix } }) {
    const { name, manager } = await getManager(ctx, account)
    await accountKeys.revoke(ctx, manager, prefix)
    await auditKeys(ctx, { by: caller.name, did: 'keys revoke', item: name, why: prefix })
    return { id: prefix, deleted: true as const }
  },
})

export const addProject = operation({
  id: 'add_account_project',
  route: 'POST /operator/accounts/:account/projects',
  summary: 'Create a project, which is a group of keys with budgets that they share.',
  access: operator,
  input: { body: NewProjectSchema },
  output: { 201: schemas.ProjectSchema },
  errors: writeErrors,
  async run(ctx, { caller, params, body }) {
    const { name, manager } = await getManager(ctx, params.account)
    const project = await accountProjects.add(ctx, manager, body)
    await auditKeys(ctx, { by: caller.name, did: 'projects add', item: name, why: project.id })
    return created(project)
  },
})

export const changeProject = operation({
  id: 'change_account_project',
  route: 'PATCH /operator/accounts/:account/projects/:project',
  summary: 'Change the name and the budgets of a project.',
  access: operator,
  input: { body: ProjectRequestSchema },
  output: { 200: schemas.ProjectSchema },
  errors: writeErrors,
  async run(ctx, { caller, params: { account, project }, body }) {
    const { name, manager } = await getManager(ctx, account)
    const changed = await accountProjects.edit(ctx, manager, project, body)
    await auditKeys(ctx, { by: caller.name, did: 'projects change', item: name, why: project })
    return changed
  },
})

export const removeProject = operation({
  id: 'remove_account_project',
  route: 'DELETE /operator/accounts/:account/projects/:project',
  summary: 'Delete a project. Its keys stay, without its budgets.',
  access: operator,
  output: { 200: schemas.DeletedProjectSchema },
  errors: writeErrors,
  async run(ctx, { caller, params: { account, project } }) {
    const { name, manager } = await getManager(ctx, account)
    await accountProjects.remove(ctx, manager, project)
    await auditKeys(ctx, { by: caller.name, did: 'projects remove', item: name, why: project })
    return { id: project, deleted: true as const }
  },
})

/** The keys and the projects of any account, for the operator. */
export const accountKeyOperations = [
  addAccountKey,
  changeAccountKey,
  rotateAccountKey,
  revokeAccountKey,
  addProject,
  changeProject,
  removeProject,
]
