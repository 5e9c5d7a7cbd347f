import { currentClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import { hasBeenFunded } from '../../money/ledger/reports.ts'
import type { AccountId } from '../authentication.ts'
import { checkQuota, checkUnfunded } from '../files/quota.ts'
import { batchResultBytesMax, unfundedReservedBytes, unfundedResultBytesMax } from '../limits.ts'

/** Returns the bytes of results after which further lines of a batch do not run. */
export const resultBytesMaxOf = async ({ db }: AppContext, account: AccountId): Promise<number> =>
  (await hasBeenFunded(db.read, account)) ? batchResultBytesMax : unfundedResultBytesMax

/** The reason for which lines beyond those bytes do not run. */
export const tooLarge = (max: number) => ({
  code: 'batch_output_limit',
  message: `The results of this batch have at most ${max} bytes. Send this request in another one.`,
})

/**
 * Creates a batch when its account has space for more files. One that was never funded reserves the
 * bytes of the results, which name every line of the input, as an upload of its network. Throws
 * `files_full`, `uploads_limit` and `try_again`.
 */
export async function withResultSpace<Created>(
  ctx: AppContext,
  { account, inputBytes }: { account: AccountId; inputBytes: number },
  create: () => Promise<Created>,
): Promise<Created> {
  const isFunded = await hasBeenFunded(ctx.db.read, account)
  const bytes = isFunded ? 0 : unfundedReservedBytes + inputBytes
  await checkQuota(ctx, account, { rows: 1, bytes }, isFunded)
  if (isFunded) return create()
  await checkUnfunded(ctx, bytes)
  try {
    return await create()
  } catch (error) {
    await ctx.state.limits.unfundedUploads.giveBack(currentClient().prefix, bytes)
    throw error
  }
}
