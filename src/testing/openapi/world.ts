import { labelOf } from '../../apps/libraries/library.ts'
import { dismiss, takeDown } from '../../apps/moderation/moderation.ts'
import { enqueue } from '../../jobs/jobs.ts'
import { zero } from '../../kernel/money.ts'
import { hour } from '../../kernel/time.ts'
import type { DescribedOperation } from '../../site/guide/read-description.ts'
import { newDelivery } from '../fixtures/deliveries.ts'
import { skillText } from '../fixtures/folders.ts'
import { createConnector } from '../fixtures/oauth-client.ts'
import { publishPackOnExplore } from '../fixtures/packs-on-explore.ts'
import { createTestPerson, type TestPerson } from '../fixtures/people.ts'
import type { TestAgent, TestServer } from '../fixtures/test-server.ts'
import {
  createCollection,
  createDueRun,
  createPacks,
  createRuns,
  type Ids,
  startRun,
  steps,
} from './packs-and-runs.ts'
import { type KnownIds, twoPixels } from './request-generator.ts'

const nobody = 'A'.repeat(12)
const unknown = {
  id: nobody,
  gone: nobody,
  taken: nobody,
  hook: nobody,
  delivery: nobody,
  skill: nobody,
  framework: nobody,
  run: nobody,
  collection: nobody,
  item: nobody,
  prefix: 'ak_xxxxxxxx',
  version: '99',
  position: '1',
  name: 'b.json',
  handle: 'nobody-here',
  owned: 'nobody-here',
  profile: 'nobody-here',
  ownedKey: 'ak_xxxxxxxx',
  code: 'BBBB-BBBB-BBBB',
  link: nobody,
  connector: nobody,
}

/** A part of the caller's data. `claims` belongs to other agents. */
type Part = 'claims' | 'account' | 'screenshots' | 'packs' | 'runs' | 'collections' | 'connectors'

/** The parts that a successful operation uses up. They are created again. */
const usedUp: Record<string, Part[]> = {
  ...Object.fromEntries(
    `close_me revoke_key delete_app restore_app delete_asset add_key cancel_job appeal add_hook
    delete_hook redeliver report_item change_audience revoke_share_link`
      .split(/\s+/)
      .map((id): [string, Part[]] => [id, ['account']]),
  ),
  report_run: ['runs'],
  answer_run: ['runs'],
  pay_share: ['runs'],
  delete_skill: ['packs', 'runs'],
  restore_skill: ['packs', 'runs'],
  delete_framework: ['packs', 'runs'],
  restore_framework: ['packs', 'runs'],
  delete_screenshot: ['screenshots'],
  delete_collection: ['collections'],
  revoke_connector: ['connectors'],
  remove_from_collection: ['collections'],
  claim_agent: ['account', 'claims'],
  release_agent: ['account', 'claims'],
  revoke_agent_key: ['account', 'claims'],
  add_agent_key: ['account', 'claims'],
}

/** Runs after which a new agent is the caller: an agent can start 60 an hour. */
const runsMax = 40
/** The body that uploads an image. */
export const image = { image: `data:image/png;base64,${twoPixels}` }

/** Creates the data that requests name: of the caller, of another agent, and of nobody. */
export async function createWorld(server: TestServer, payTo?: string): Promise<World> {
  const ben = await server.agent('ben')
  const item = await ben.publish({ store: true })
  const run = await startRun(ben, await publishPackOnExplore(ben))
  const others = {
    id: item,
    item,
    skill: (await ben.call('GET', '/skills')).text('skills.0.id'),
    framework: await publishPackOnExplore(ben, { skill: skillText('two'), steps }, 'framework'),
    run,
    collection: await createCollection(ben, item),
  }
  const olga = await createTestPerson(server, 'olga', 1_000_000n)
  // Requests of others must not change a page that an operation reads.
  const shown = await createTestPerson(server, 'shown')
  await shown.call('PATCH', '/people/me/profile', { handle: profileHandle, public: true })
  return new World(server, ben, others, olga, payTo)
}

/** The handle of a person with a public page. */
const profileHandle = 'shown-person'

class World {
  private readonly parts = new Map<Part, Ids>()
  private ann: TestAgent | undefined
  private agents = 0
  private runs = 0
  private addresses = 0

  constructor(
    private readonly server: TestServer,
    private readonly ben: TestAgent,
    private readonly others: Ids & Record<'item', string>,
    private readonly olga: TestPerson,
    /** The wallet that receives shares of profit; undefined where payments are off. */
    private readonly payTo: string | undefined,
  ) {}

  /** Returns the ids for an operation. Creates the parts that it needs and that are used up. */
  async known({ path }: Pick<DescribedOperation, 'path'>): Promise<KnownIds> {
    const account = await this.part('account', () => this.createAccount())
    const claims = await this.part('claims', () => this.createClaims())
    const own = { ...claims, ...account, ...(await this.partsBelow(path)) }
    const key = this.ann?.key ?? ''
    const personal = this.olga.key
    return { key, personal, own, other: this.ofOthers(), unknown }
  }

  private async partsBelow(path: string): Promise<Ids> {
    const { ann } = this
    if (!ann) throw new Error('no agent')
    if (path.startsWith('/people/me/connectors/{')) {
      return this.part('connectors', async () => {
        const key = (await ann.call('POST', '/me/keys')).text('key')
        return { connector: await createConnector(this.server, this.olga, { key }) }
      })
    }
    if (path.startsWith('/collections')) {
      const create = () => createCollection(ann, this.others.item)
      return this.part('collections', async () => ({ collection: await create() }))
    }
    if (path.includes('/screenshots')) {
      return this.part('screenshots', async () => {
        const id = this.parts.get('account')?.['id']
        await ann.call('PUT', `/apps/${id}/screenshots/1`, image)
        return { position: '1' }
      })
    }
    if (!/^\/(?:skills|frameworks|packs|runs)/.test(path)) return {}
    const packs = await this.part('packs', () => createPacks(ann))
    if (!path.startsWith('/runs/')) return packs
    const runs = await this.part('runs', async () => {
      this.runs += 2
      const reporter = await this.server.agent(`rae-${this.agents}`)
      const created = await createRuns(ann, reporter, packs)
      const { payTo } = this
      return { ...created, ...(payTo && { due: await createDueRun(ann, this.ben, payTo) }) }
    })
    return { ...packs, ...runs }
  }

  /** Records the success of an operation. What it used up is replaced. */
  used(operationId: string): void {
    if (operationId === 'start_run') this.runs += 1
    const parts = this.runs > runsMax ? ['account' as const] : (usedUp[operationId] ?? [])
    for (const part of parts) this.parts.delete(part)
    if (!parts.includes('account')) return
    // Everything else belongs to the caller.
    for (const part of this.parts.keys()) if (part !== 'claims') this.parts.delete(part)
  }

  /** Returns a new address, because claim codes are limited by address. */
  from(): string {
    this.addresses += 1
    return `10.0.${this.addresses >> 8}.${this.addresses & 255}`
  }

  private async part(name: Part, create: () => Promise<Ids>): Promise<Ids> {
    const ids = this.parts.get(name) ?? (await create())
    this.parts.set(name, ids)
    return ids
  }

  /** Creates an agent with an app, two versions, a file, two keys, jobs, reviews and a webhook. */
  private async createAccount(): Promise<Ids> {
    this.agents += 1
    this.runs = 0
    const { server, others } = this
    // A third report would quarantine the item.
    await dismiss(server.ctx, others.item, 'for the next one', 'operator')
    const ann = (this.ann = await server.agent(`ann-${this.agents}`))
    const id = await ann.publish({ store: true })
    const gone = await ann.publish()
    await ann.call('DELETE', `/apps/${gone}`)
    const file = await ann.call('PUT', `/apps/${id}/assets/a.json`, '[]')
    const look = Object.fromEntries(new URL(file.text('asset.url')).searchParams)
    await ann.call('POST', `/apps/${id}/versions`, { html: '<title>Two</title>' })
    const prefix = (await ann.call('POST', '/me/keys')).text('prefix')
    const taken = await ann.publish({ html: `<title>${this.agents}</title>` })
    await takeDown(server.ctx, taken, 'spam', 'operator')
    const [library] = await server.ctx.libraries.list()
    const link = (await ann.call('POST', `/apps/${id}/links`, { name: 'Board' })).text('link.id')
    return {
      link,
      id,
      gone,
      taken,
      prefix,
      item: others.item,
      version: '1',
      base: '1',
      name: 'a.json',
      path: 'SKILL.md',
      handle: ann.handle,
      profile: profileHandle,
      ...look,
      ...(await this.createJobs(ann, id)),
      ...(await this.createReviews(ann, id)),
      from: '2026-05-01',
      to: '2026-05-31',
      ...(library && { library: labelOf(library) }),
      ...(await newDelivery(server, ann)),
    }
  }

  private ofOthers(): Ids {
    const { ben, others } = this
    const { item } = others
    const apps = { gone: item, taken: item, hook: item, delivery: item, library: 'none@1.0.0' }
    const prefix = ben.key.slice(0, 11)
    const keys = { prefix, ownedKey: prefix, code: 'AAAA-AAAA-AAAA' }
    const names = { version: '1', position: '1', name: 'a.json', path: 'SKILL.md' }
    const makers = { handle: ben.handle, owned: ben.handle, profile: profileHandle }
    return { ...others, ...apps, ...keys, ...names, ...makers }
  }

  /** Creates an agent that a person claimed, its key, and the claim code of an unclaimed agent. */
  private async createClaims(): Promise<Ids> {
    const agent = await this.server.agent(`kay-${this.agents}`)
    const free = await this.server.agent(`lee-${this.agents}`)
    const codeOf = async (one: TestAgent) =>
      (await one.call('POST', '/me/claim')).text('claim.code')
    const body = { code: await codeOf(agent) }
    await this.server.call('POST', '/claim', { key: this.olga.key, body, from: this.from() })
    return { owned: agent.handle, ownedKey: agent.key.slice(0, 11), code: await codeOf(free) }
  }

  /** Creates reviews by the caller of another agent's item, and of the caller's app. */
  private async createReviews(ann: TestAgent, id: string): Promise<Ids> {
    const { ben } = this
    const { item } = this.others
    await ann.call('GET', `/explore/${item}/source`)
    await ann.call('PUT', `/explore/${item}/review`, { stars: 4 })
    await ben.call('GET', `/explore/${id}/source`)
    const review = await ben.call('PUT', `/explore/${id}/review`, { stars: 4 })
    const comment = await ann.call('POST', `/explore/${item}/comments`, { text: 'Hello' })
    const received = await ann.call('POST', `/explore/${id}/comments`, { text: 'Hello' })
    return {
      used: item,
      review: review.text('review.id'),
      comment: comment.text('comment.id'),
      received: received.text('comment.id'),
    }
  }

  /** Creates an open and an ended job that no runner processes. */
  private async createJobs(ann: TestAgent, item: string): Promise<Ids> {
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
