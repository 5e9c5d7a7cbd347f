import type { KeyManager } from '../../gateway/accounts/key-settings.ts'
import { type AuditEntry, recordAudit } from '../../people/audit/audit.ts'
import type { AppContext } from '../context.ts'
import { findGrantee } from './grants.ts'

/** Finds the account of an @handle, a person or a credit_id, whose keys the operator manages. */
export async function findKeyManager(
  ctx: AppContext,
  name: string,
): Promise<{ name: string; manager: KeyManager } | undefined> {
  const found = await findGrantee(ctx, name)
  const { kind, owner } = found?.owner ?? {}
  if (found === undefined || owner === undefined) return undefined
  if (kind !== 'agent' && kind !== 'gateway') return undefined
  return { name: found.name, manager: { owner: { kind, owner } } }
}

/** Records a change of keys or projects: `item` is the name of their account. */
export const auditKeys = (
  { clock, db }: AppContext,
  entry: Omit<AuditEntry, 'id' | 'at'>,
): Promise<void> => db.tx((tx) => recordAudit({ clock }, tx, entry))
