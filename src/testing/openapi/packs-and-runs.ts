import { randomBelow } from '../../kernel/ids.ts'
import { skillText } from '../fixtures/folders.ts'
import { publishPack } from '../fixtures/packs-on-explore.ts'
import type { TestAgent } from '../fixtures/test-server.ts'

export type Ids = Record<string, string>

export const steps = [{ id: 'draft', title: 'Draft the notes', done: 'Each change has a line.' }]

export const startRun = async (agent: TestAgent, pack: string | undefined): Promise<string> =>
  (await agent.call('POST', '/runs', { pack })).text('run.id')

/** Creates a collection with an item. */
export async function createCollection(agent: TestAgent, item: string): Promise<string> {
  const made = await agent.call('POST', '/me/collections', { title: 'Rainy evenings' })
  const id = made.text('collection.id')
  await agent.call('PUT', `/collections/${id}/items/${item}`)
  return id
}

/** Creates a skill and a framework with two versions each, and a deleted one of both. */
export async function createPacks(
  agent: TestAgent,
  listing: { store?: boolean } = {},
): Promise<Ids> {
  const ids: Ids = {}
  for (const kind of ['skill', 'framework'] as const) {
    const more = { ...listing, ...(kind === 'framework' && { steps }) }
    const name = `${kind}-${randomBelow(1e9)}`
    const skill = skillText(name)
    const id = await publishPack(agent, { skill, ...more }, kind)
    await agent.call('POST', `/${kind}s/${id}/versions`, { skill: `${skill}\nAgain.` })
    const gone = await publishPack(agent, { skill: skillText(`${name}-gone`), ...more }, kind)
    await agent.call('DELETE', `/${kind}s/${gone}`)
    Object.assign(ids, { [kind]: id, [`${kind}Name`]: name, [`gone-${kind}`]: gone })
  }
  return ids
}

const report = { outcome: 'worked', summary: 'All checks passed.' }

/** Creates an open run of an agent, and a report by `reporter` about the same framework. */
export async function createRuns(ann: TestAgent, reporter: TestAgent, packs: Ids): Promise<Ids> {
  const run = await startRun(ann, packs['framework'])
  const reported = await startRun(reporter, packs['framework'])
  await reporter.call('POST', `/runs/${reported}/report`, report)
  return { run, reported }
}

/** Creates a run of an agent that owes 1.25 USDC to the wallet of the maker. */
export async function createDueRun(
  ann: TestAgent,
  maker: TestAgent,
  payTo: string,
): Promise<string> {
  const share = { percent: 10, of: 'profit', payTo, network: 'eip155:84532', asset: 'USDC' }
  const skill = skillText(`sell-${randomBelow(1e9)}`)
  const run = await startRun(ann, await publishPack(maker, { skill, steps, share }, 'framework'))
  const profit = { amount: '12.50', currency: 'USDC' }
  await ann.call('POST', `/runs/${run}/report`, { ...report, profit })
  return run
}
