import { accepted } from '../../kernel/http/outcome.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import { done, DoneSchema } from '../../people/schemas.ts'
import { operator } from '../../people/session-user.ts'
import * as backups from './console-backups.ts'

const operation = operationsOf('Operator')

export const startBackup = operation({
  id: 'start_backup',
  route: 'POST /operator/backups',
  summary: 'Start a backup into the data folder.',
  access: operator,
  input: { body: 'none' },
  output: { 202: DoneSchema },
  errors: [...writeErrors, 'busy'],
  async run(ctx, { caller }) {
    await backups.startBackup(ctx, caller.name)
    return accepted(done)
  },
})

export const checkBackup = operation({
  id: 'check_backup',
  route: 'POST /operator/backups/:name/check',
  onFullDisk: 'allow',
  summary: 'Start to verify a backup.',
  access: operator,
  input: { body: 'none' },
  output: { 202: DoneSchema },
  errors: [...writeErrors, 'busy'],
  run(ctx, { params }) {
    backups.startBackupCheck(ctx, params.name)
    return accepted(done)
  },
})

export const restoreBackup = operation({
  id: 'restore_backup',
  route: 'POST /operator/backups/:name/restore',
  onFullDisk: 'allow',
  summary: 'Start to restore a backup, or the newest encrypted one: "newest".',
  access: operator,
  input: { body: 'none' },
  output: { 202: DoneSchema },
  errors: [...writeErrors, 'busy'],
  run(ctx, { caller, params }) {
    backups.startRestore(ctx, params.name, caller.name)
    return accepted(done)
  },
})

export const removeBackup = operation({
  id: 'remove_backup',
  route: 'DELETE /operator/backups/:name',
  summary: 'Remove a backup.',
  access: operator,
  output: { 200: DoneSchema },
  errors: [...writeErrors, 'busy'],
  async run(ctx, { caller, params }) {
    await backups.removeBackup(ctx, params.name, caller.name)
    return done
  },
})

/** The actions on backups in the console. */
export const backupOperations = [startBackup, checkBackup, restoreBackup, removeBackup]
