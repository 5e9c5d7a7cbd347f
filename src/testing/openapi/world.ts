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

/** Creates the data that requests name: of the caller, of another agent, and of nobody. */
export async function createWorld(server: TestServer): Promise<World> {
  const ben = await server.agent('ben')
  const theirs = await ben.publish({ store: true })
  return new World(server, ben, theirs, (await createTestPerson(server, 'olga', 1_000_000n)).key)
}

class World {
  private claims: Record<string, string> | undefined
  private people = 0
  private ids: KnownIds | undefined
  private addresses = 0

  constructor(
    private readonly server: TestServer,
    private readonly ben: TestAgent,
    private readonly theirs: string,
    private readonly personal: string,
  ) {}

  /** Returns the ids: an agent with an app, two versions, a file and two keys. */
  async known(): Promise<KnownIds> {
    return (this.ids ??= await this.create())
  }

  /** Records the success of an operation. What it used up is replaced. */
  used(operationId: string): void {
    if (wearing.includes(operationId)) this.ids = undefined
    if (claiming.includes(operationId)) this.ids = this.claims = undefined
  }

  /** Returns a new address, because claim codes are limited by address. */
  from(): string {
    this.addresses += 1
    return `10.0.${this.addresses >> 8}.${this.addresses & 255}`
  }

  private async create(): Promise<KnownIds> {
    this.people += 1
    // A third report would quarantine the item.
    await dismiss(this.server.ctx, this.theirs, 'for the next one')
    const ann = await this.server.agent(`ann-${this.people}`)
    const id = await ann.publish({ store: true })
    const gone = await ann.publish()
    await ann.call('DELETE', `/apps/${gone}`)
    const file = await ann.call('PUT', `/apps/${id}/assets/a.json`, '[]')
    const look = Object.fromEntries(new URL(file.text('asset.url')).searchParams)
    await ann.call('POST', `/apps/${id}/versions`, { html: '<title>Two</title>' })
    const prefix = (await ann.call('POST', '/me/keys')).text('prefix')
    const taken = await ann.publish({ html: `<title>${this.people}</title>` })
    await takeDown(this.server.ctx, taken, 'spam')
    const own = {
      ...(this.claims ??= await this.claimed()),
      id,
      gone,
      taken,
      prefix,
      version: '1',
      name: 'a.json',
      handle: ann.handle,
      ...look,
      ...(await this.jobs(ann, id)),
      ...(await this.reviewed(ann, id)),
      from: '2026-05-01',
      to: '2026-05-31',
      ...(await newDelivery(this.server, ann)),
    }
    return { key: ann.key, personal: this.personal, own, other: this.others(), unknown }
  }

  private others(): Record<string, string> {
    const { ben, theirs } = this
    const apps = { id: theirs, gone: theirs, taken: theirs, hook: theirs, delivery: theirs }
    const prefix = ben.key.slice(0, 11)
    const keys = { prefix, ownedKey: prefix, code: 'AAAA-AAAA-AAAA' }
    const { handle } = ben
    return { ...apps, ...keys, version: '1', name: 'a.json', handle, owned: handle }
  }

  /** Creates an agent that a person claimed, its key, and the claim code of an unclaimed agent. */
  private async claimed(): Promise<Record<string, string>> {
    const agent = await this.server.agent(`kay-${this.people}`)
    const free = await this.server.agent(`lee-${this.people}`)
    const codeOf = async (one: TestAgent) =>
      (await one.call('POST', '/me/claim')).text('claim.code')
    const body = { code: await codeOf(agent) }
    await this.server.call('POST', '/claim', { key: this.personal, body, from: this.from() })
    return { owned: agent.handle, ownedKey: agent.key.slice(0, 11), code: await codeOf(free) }
  }

  /** Items by another agent that this one reviewed, and reviews of this agent's app. */
  private async reviewed(ann: TestAgent, id: string): Promise<Record<string, string>> {
    const { ben, theirs } = this
    await ann.call('GET', `/explore/${theirs}/source`)
    await ann.call('PUT', `/explore/${theirs}/review`, { stars: 4 })
    await ben.call('GET', `/explore/${id}/source`)
    const review = await ben.call('PUT', `/explore/${id}/review`, { stars: 4 })
    const comment = await ann.call('POST', `/explore/${theirs}/comments`, { text: 'Hello' })
    return { used: theirs, review: review.text('review.id'), comment: comment.text('comment.id') }
  }

  /** An open and an ended job that no runner processes. */
  private async jobs(ann: TestAgent, item: string): Promise<Record<string, string>> {
    const { db, keys, clock } = this.server.ctx
    const owner = `agent:${(await keys.find(ann.key))?.owner}`
    const about = { kind: 'assets', queue: 'media', owner, item, input: {} } as const
    const add = async () =>
      (await db.tx((tx) => enqueue({ clock }, tx, { ...about, price: zero, ms: hour }))).id
    const [open, ended] = [await add(), await add()]
    await ann.call('DELETE', `/jobs/${ended}`)
    return { open, ended, wait: '0' }
  }
}
