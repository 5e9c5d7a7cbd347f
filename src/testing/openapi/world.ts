import { zero } from '../../core/money.ts'
import { hour } from '../../core/time.ts'
import { dismiss, takeDown } from '../../hosting/moderation/moderation.ts'
import { enqueue } from '../../jobs/jobs.ts'
import { newDelivery } from '../fixtures/deliveries.ts'
import { createTestPerson } from '../fixtures/people.ts'
import type { TestAgent, TestServer } from '../fixtures/test-server.ts'
import type { KnownIds } from './request-generator.ts'

const nobody = 'A'.repeat(12)
const unknown = {
  id: nobody,
  gone: nobody,
  taken: nobody,
  hook: nobody,
  delivery: nobody,
  prefix: 'ak_xxxxxxxx',
  version: '99',
  name: 'b.json',
  handle: 'nobody-here',
  owned: 'nobody-here',
  ownedKey: 'ak_xxxxxxxx',
  code: 'BBBB-BBBB-BBBB',
}

const wearing = [
  'close_me',
  'revoke_key',
  'delete_app',
  'restore_app',
  'delete_asset',
  'add_key',
  'cancel_job',
  'appeal',
  'add_hook',
  'delete_hook',
  'redeliver',
  'report_item',
]

/** Operations that use up claimed and unclaimed agents. */
const claiming = ['claim_agent', 'release_agent', 'revoke_agent_key', 'add_agent_key']

/** The data that generated requests name: of the caller, of another agent, and of nobody. */
export interface World {
  /** Returns the data. Replaces what `used` used up. */
  known(): Promise<KnownIds>
  /** Records the success of an operation. */
  used(operationId: string): void
  /** Returns a new address, because claim codes are limited by address. */
  from(): string
}

export async function createWorld(ctx: TestServer): Promise<World> {
  const ben = await ctx.agent('ben')
  const theirs = await ben.publish({ store: true })
  const other = {
    id: theirs,
    gone: theirs,
    taken: theirs,
    hook: theirs,
    delivery: theirs,
    prefix: ben.key.slice(0, 11),
    version: '1',
    name: 'a.json',
    handle: ben.handle,
    owned: ben.handle,
    ownedKey: ben.key.slice(0, 11),
    code: 'AAAA-AAAA-AAAA',
  }
  const olga = await createTestPerson(ctx, 'olga', 1_000_000n)
  let claims: Record<string, string> | undefined
  let people = 0
  let known: KnownIds | undefined
  /**
   * Creates an agent with an app, two versions, a file and two keys. Replaces it when it is used up.
   */
  const world = async (): Promise<KnownIds> => {
    if (known) return known
    people += 1
    // A third report would quarantine the item.
    await dismiss(ctx.ctx, theirs, 'for the next one')
    const ann: TestAgent = await ctx.agent(`ann-${people}`)
    const id = await ann.publish({ store: true })
    const gone = await ann.publish()
    await ann.call('DELETE', `/apps/${gone}`)
    const file = await ann.call('PUT', `/apps/${id}/assets/a.json`, '[]')
    const look = Object.fromEntries(new URL(file.text('asset.url')).searchParams)
    await ann.call('POST', `/apps/${id}/versions`, { html: '<title>Two</title>' })
    const prefix = (await ann.call('POST', '/me/keys')).text('prefix')
    const taken = await ann.publish({ html: `<title>${people}</title>` })
    await takeDown(ctx.ctx, taken, 'spam')
    const [open, ended] = [await newJob(ann, id), await newJob(ann, id)]
    await ann.call('DELETE', `/jobs/${ended}`)
    const hooks = await newDelivery(ctx, ann)
    const jobs = { open, ended, wait: '0' }
    const params = { ...(await reviewed(ann, id)), from: '2026-05-01', to: '2026-05-31' }
    known = {
      key: ann.key,
      personal: olga.key,
      own: {
        ...(claims ??= await claimed()),
        id,
        gone,
        taken,
        prefix,
        version: '1',
        name: 'a.json',
        handle: ann.handle,
        ...look,
        ...jobs,
        ...params,
        ...hooks,
      },
      other,
      unknown,
    }
    return known
  }

  /** Creates an agent that a person claimed, its key, and the claim code of an unclaimed agent. */
  async function claimed(): Promise<Record<string, string>> {
    const [agent, free] = [await ctx.agent(`kay-${people}`), await ctx.agent(`lee-${people}`)]
    const codeOf = async (one: TestAgent) =>
      (await one.call('POST', '/me/claim')).text('claim.code')
    const body = { code: await codeOf(agent) }
    await ctx.call('POST', '/claim', { key: olga.key, body, from: from() })
    return { owned: agent.handle, ownedKey: agent.key.slice(0, 11), code: await codeOf(free) }
  }

  /** Claim codes are limited by address. */
  let requestCount = 0
  const from = (): string => `10.0.${(requestCount += 1) >> 8}.${requestCount & 255}`

  /** Items by another agent that this one reviewed, and reviews of this agent's app. */
  async function reviewed(ann: TestAgent, id: string): Promise<Record<string, string>> {
    await ann.call('GET', `/explore/${theirs}/source`)
    await ann.call('PUT', `/explore/${theirs}/review`, { stars: 4 })
    await ben.call('GET', `/explore/${id}/source`)
    const review = await ben.call('PUT', `/explore/${id}/review`, { stars: 4 })
    const comment = await ann.call('POST', `/explore/${theirs}/comments`, { text: 'Hello' })
    return { used: theirs, review: review.text('review.id'), comment: comment.text('comment.id') }
  }

  /** A job that no runner processes. */
  async function newJob({ key }: TestAgent, item: string): Promise<string> {
    const { db, keys, clock } = ctx.ctx
    const owner = `agent:${(await keys.find(key))?.owner}`
    const about = { kind: 'assets', queue: 'media', owner, item, input: {} } as const
    return (await db.tx((tx) => enqueue({ clock }, tx, { ...about, price: zero, ms: hour }))).id
  }

  return {
    known: world,
    from,
    used(operationId) {
      if (wearing.includes(operationId)) known = undefined
      if (claiming.includes(operationId)) known = claims = undefined
    },
  }
}
