import { listItems } from '../../apps/explore/explore.ts'
import type { AppContext } from '../../kernel/context.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import { readFirstApp } from '../../store/data-files.ts'
import { listBackups } from './console-backups.ts'

export type SetupStepName = 'provider' | 'url' | 'backup' | 'app' | 'payments' | 'developer'

/** A step of setting up a server. It is done when the server is in that state. */
export interface SetupStep {
  name: SetupStepName
  isDone: boolean
  /** A server may well do without it. */
  isOptional: boolean
}

/** Returns the steps with their current state. Backups of PostgreSQL are not visible here. */
export async function readChecklist(ctx: AppContext): Promise<SetupStep[]> {
  const { config, upstreams, db, x402 } = ctx
  const [{ backups }, sample, { items }] = await Promise.all([
    listBackups(ctx),
    readFirstApp(config.dataDir),
    listItems(ctx, { limit: 2 }),
  ])
  const step = (name: SetupStepName, isDone: boolean, isOptional = false): SetupStep => ({
    name,
    isDone,
    isOptional,
  })
  const backup = step(
    'backup',
    config.backupTo !== '' || backups.some(({ manifest }) => manifest !== undefined),
  )
  return [
    step(
      'provider',
      upstreams.names.some((name) => name !== 'demo'),
    ),
    step('url', config.appUrl !== ''),
    ...(db.file ? [backup] : []),
    step(
      'app',
      items.some(({ id }) => id !== sample),
    ),
    step('payments', openMethods(config).length > 0 || x402 !== undefined, true),
    step('developer', config.gatewayDeveloperRole === 'system', true),
  ]
}
