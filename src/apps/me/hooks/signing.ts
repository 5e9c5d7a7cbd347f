import { sign } from '../../../kernel/ids.ts'
import { unixSeconds } from '../../../kernel/time.ts'
import type { AppContext } from '../../../server/context.ts'

const signingKey = ({ secret }: Pick<AppContext, 'secret'>, hook: string): Buffer =>
  Buffer.from(sign(secret, `hook ${hook}`), 'base64url')

/** Returns the secret of a hook in the format of Standard Webhooks. It is not stored. */
export const signingSecret = (ctx: Pick<AppContext, 'secret'>, hook: string): string =>
  `whsec_${signingKey(ctx, hook).toString('base64')}`

/** Returns the headers of a message (https://www.standardwebhooks.com) sent at `at`, in ms. */
export function signedHeaders(
  ctx: Pick<AppContext, 'secret'>,
  { hook, note: id, body }: { hook: string; note: string; body: string },
  at: number,
): Record<string, string> {
  const timestamp = `${unixSeconds(at)}`
  const mac = Buffer.from(sign(signingKey(ctx, hook), `${id}.${timestamp}.${body}`), 'base64url')
  return {
    'content-type': 'application/json',
    'user-agent': 'berth',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${mac.toString('base64')}`,
  }
}
