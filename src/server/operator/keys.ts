import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import * as keys from '../../gateway/accounts/keys.ts'
import * as projects from '../../gateway/accounts/projects.ts'
import {
  KeyRequestSchema,
  type KeyResponse,
  NewProjectSchema,
  ProjectRequestSchema,
  type ProjectResponse,
  RotateRequestSchema,
} from '../../gateway/accounts/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { describeSchema } from '../../kernel/schema.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import {
  addAccountKey,
  addProject,
  changeAccountKey,
  changeProject,
  getManager,
  removeProject,
  revokeAccountKey,
  rotateAccountKey,
} from './key-operations.ts'
import { performCommand } from './perform-command.ts'

const keysUsage = `usage: berth keys list <credit_id|@handle>
       berth keys add <credit_id|@handle> [field=value ...]
       berth keys change <credit_id|@handle> <key> field=value ...
       berth keys rotate <credit_id|@handle> <key> [overlap_hours=24]
       berth keys revoke <credit_id|@handle> <key>
Fields: name daily_cap weekly_cap monthly_cap requests_per_minute tokens_per_minute
        running_requests models=a,b expires_at note tags=a,b project. "none" removes a limit. Caps are credits.`

const projectsUsage = `usage: berth projects list <credit_id>
       berth projects add <credit_id> name=<name> [field=value ...]
       berth projects change <credit_id> <project> field=value ...
       berth projects remove <credit_id> <project>
Fields: name daily_cap weekly_cap monthly_cap. "none" removes a limit. Caps are credits.`

/** A command with wrong words or fields. */
class UsageError extends Error {}

/** Returns the result of one action of a command; `id` names a key or a project. */
type Action = (
  ctx: AppContext,
  account: string,
  id: string,
  fields: string[],
) => Promise<CommandResult>

const keyActions: Record<string, Action> = {
  list: async (ctx, account) =>
    listed('keys', await keys.list(ctx, (await getManager(ctx, account)).manager), keyLine),
  add: async (ctx, account, _, fields) =>
    newKey(
      await performCommand(ctx, addAccountKey, { account }, readFields(KeyRequestSchema, fields)),
    ),
  change: async (ctx, account, prefix, fields) => {
    const body = readFields(KeyRequestSchema, fields)
    const key = await performCommand(ctx, changeAccountKey, { account, prefix }, body)
    return succeeded(keyLine(key), key)
  },
  rotate: async (ctx, account, prefix, fields) => {
    const body = readFields(RotateRequestSchema, fields)
    return newKey(await performCommand(ctx, rotateAccountKey, { account, prefix }, body))
  },
  revoke: async (ctx, account, prefix) => {
    await performCommand(ctx, revokeAccountKey, { account, prefix })
    return succeeded(`${prefix} is revoked.`, { id: prefix })
  },
}

const projectActions: Record<string, Action> = {
  list: async (ctx, account) =>
    listed(
      'projects',
      await projects.list(ctx, (await getManager(ctx, account)).manager),
      projectLine,
    ),
  add: async (ctx, account, _, fields) => {
    const body = readFields(NewProjectSchema, fields)
    const project = await performCommand(ctx, addProject, { account }, body)
    return succeeded(projectLine(project), project)
  },
  change: async (ctx, account, project, fields) => {
    const body = readFields(ProjectRequestSchema, fields)
    const changed = await performCommand(ctx, changeProject, { account, project }, body)
    return succeeded(projectLine(changed), changed)
  },
  remove: async (ctx, account, project) => {
    await performCommand(ctx, removeProject, { account, project })
    return succeeded(`${project} is removed. Its keys stay, without its budgets.`, { id: project })
  },
}

const withoutId = new Set(['list', 'add'])

const createCommand =
  (actions: Record<string, Action>, usage: string) =>
  async (ctx: AppContext, [name = '', account = '', ...rest]: string[]): Promise<CommandResult> => {
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined
    const [id, fields] = withoutId.has(name) ? ['', rest] : [rest[0] ?? '', rest.slice(1)]
    if (!action || account === '' || (id === '' && !withoutId.has(name))) return failed(usage)
    try {
      return await action(ctx, account, id, fields)
    } catch (error) {
      if (error instanceof UsageError) return failed(`${error.message}\n${usage}`)
      throw error
    }
  }

/** `berth keys`: lists, adds, changes, rotates and revokes the keys of an account. */
export const keysCommand = createCommand(keyActions, keysUsage)

/** `berth projects`: manages groups of the keys of an account, which have budgets. */
export const projectsCommand = createCommand(projectActions, projectsUsage)

const listFields = new Set(['models', 'tags'])

/** Parses words such as "monthly_cap=500" by a schema of the API. */
function readFields(schema: TSchema, words: string[]): object {
  const { properties } = schema
  const fields = Object.fromEntries(
    words.map((word) => {
      const [, field = '', text = ''] = /^([a-z_]+)=(.*)$/s.exec(word) ?? []
      if (!Object.hasOwn(properties, field)) throw new UsageError(`${word} is not a field.`)
      return [field, readValue(properties[field], field, text)]
    }),
  )
  const missing = schema.required?.find((field: string) => !Object.hasOwn(fields, field))
  if (missing) throw new UsageError(`${missing} is missing.`)
  if (Value.Check(schema, fields)) return fields
  throw new UsageError('The fields are not valid.')
}

function readValue(schema: TSchema, field: string, text: string): unknown {
  const number = Number(text || NaN)
  const date = new Date(text)
  const values = [
    text === 'none' ? (field === 'tags' ? [] : null) : undefined,
    listFields.has(field) ? text.split(',') : undefined,
    field === 'expires_at' && date.getTime() > 0 ? date.toISOString() : undefined,
    number,
    text,
  ]
  const value = values.find((one) => one !== undefined && Value.Check(schema, one))
  if (value !== undefined) return value
  throw new UsageError(`${field} must be ${describeSchema(schema)}.`)
}

const listed = <T>(what: string, rows: T[], line: (row: T) => string): CommandResult =>
  succeeded(rows.map(line).join('\n') || 'There are none.', { [what]: rows })

/** Returns the fields that are set, as the words that set them. */
const settingsOf = (row: object): string =>
  Object.entries(row)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([field, value]) => `${field}=${Array.isArray(value) ? value.join(',') : value}`)
    .join('  ')

function keyLine({ id, prefix: _, current: __, ...settings }: KeyResponse): string {
  return `${id}  ${settingsOf(settings)}`
}

function newKey(created: KeyResponse & { api_key: string }): CommandResult {
  const { api_key: text, ...key } = created
  return succeeded(`${text}\nThis key is shown once.\n${keyLine(key)}`, created)
}

function projectLine({ id, spent, ...settings }: ProjectResponse): string {
  const { day, week, month } = spent
  return `${id}  ${settingsOf(settings)}  spent: ${day} today, ${week} this week, ${month} this month`
}
