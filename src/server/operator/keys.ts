import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { KeyManager } from '../../gateway/accounts/key-settings.ts'
import * as keys from '../../gateway/accounts/keys.ts'
import * as projects from '../../gateway/accounts/projects.ts'
import {
  type KeyParams,
  KeyRequestSchema,
  type KeyResponse,
  NewProjectSchema,
  type ProjectParams,
  ProjectRequestSchema,
  type ProjectResponse,
  RotateRequestSchema,
} from '../../gateway/accounts/schemas.ts'
import { errorEnvelope, isGatewayError } from '../../gateway/error-response.ts'
import type { AppContext } from '../../kernel/context.ts'
import { describeSchema } from '../../kernel/schema.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import { auditKeys, findKeyManager } from './grants.ts'

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

/** One action of a command; `id` names a key or a project. */
interface Action {
  needsId: boolean
  run(ctx: AppContext, manager: KeyManager, id: string, fields: string[]): Promise<CommandResult>
}

const keyActions: Record<string, Action> = {
  list: {
    needsId: false,
    run: async (ctx, manager) => listed('keys', await keys.list(ctx, manager), keyLine),
  },
  add: {
    needsId: false,
    run: async (ctx, manager, _, fields) =>
      newKey(await keys.add(ctx, manager, readFields<KeyParams>(KeyRequestSchema, fields))),
  },
  change: {
    needsId: true,
    run: async (ctx, manager, id, fields) => {
      const params = readFields<KeyParams>(KeyRequestSchema, fields)
      const key = await keys.edit(ctx, manager, id, params)
      return succeeded(keyLine(key), key)
    },
  },
  rotate: {
    needsId: true,
    run: async (ctx, manager, id, fields) =>
      newKey(await keys.rotate(ctx, manager, id, readFields(RotateRequestSchema, fields))),
  },
  revoke: {
    needsId: true,
    run: async (ctx, manager, id) => {
      await keys.revoke(ctx, manager, id)
      return succeeded(`${id} is revoked.`, { id })
    },
  },
}

const projectActions: Record<string, Action> = {
  list: {
    needsId: false,
    run: async (ctx, manager) => listed('projects', await projects.list(ctx, manager), projectLine),
  },
  add: {
    needsId: false,
    run: async (ctx, manager, _, fields) => {
      const project = await projects.add(ctx, manager, readFields(NewProjectSchema, fields))
      return succeeded(projectLine(project), project)
    },
  },
  change: {
    needsId: true,
    run: async (ctx, manager, id, fields) => {
      const params = readFields<ProjectParams>(ProjectRequestSchema, fields)
      const project = await projects.edit(ctx, manager, id, params)
      return succeeded(projectLine(project), project)
    },
  },
  remove: {
    needsId: true,
    run: async (ctx, manager, id) => {
      await projects.remove(ctx, manager, id)
      return succeeded(`${id} is removed. Its keys stay, without its budgets.`, { id })
    },
  },
}

const createCommand =
  (command: string, actions: Record<string, Action>, usage: string) =>
  async (ctx: AppContext, [name = '', account = '', ...rest]: string[]): Promise<CommandResult> => {
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined
    const [id = ''] = action?.needsId ? rest : []
    if (!action || account === '' || (action.needsId && id === '')) return failed(usage)
    try {
      const found = await findKeyManager(ctx, account)
      if (!found) throw new UsageError(`${account} does not exist on this server.`)
      const fields = action.needsId ? rest.slice(1) : rest
      const result = await action.run(ctx, found.manager, id, fields)
      const entry = { by: 'command line', did: `${command} ${name}`, item: found.name, why: id }
      if (name !== 'list') await auditKeys(ctx, entry)
      return result
    } catch (error) {
      if (error instanceof UsageError) return failed(`${error.message}\n${usage}`)
      if (isGatewayError(error)) return failed(errorEnvelope(error).body.error.message)
      throw error
    }
  }

/** `berth keys`: lists, adds, changes, rotates and revokes the keys of an account. */
export const keysCommand = createCommand('keys', keyActions, keysUsage)

/** `berth projects`: manages groups of the keys of an account, which have budgets. */
export const projectsCommand = createCommand('projects', projectActions, projectsUsage)

const listFields = new Set(['models', 'tags'])

/** Parses words such as "monthly_cap=500" by a schema of the API. */
function readFields<Params>(schema: TSchema & { static: Params }, words: string[]): Params {
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
