import { recordOf } from '../../kernel/schema.ts'
import { expect, textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'
import type { Front } from './front.ts'
import type { Replicas } from './replicas.ts'

/** Servers and their balancer. */
export interface Raced {
  r: Replicas
  front: Front
}

/** Runs a race for some rounds. Throws an Error that names the violation. */
type Race = (raced: Raced, rounds: number) => Promise<void>

/** Requests that begin at once, which the balancer spreads over the servers. */
const racers = 6
const page = '<!doctype html><title>Hello</title><h1>Hello</h1>'
const hello = {
  model: 'fake/ok',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hi.' }],
}

const race = <T>(act: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: racers }, (_, at) => act(at)))

/** Counts responses by status, as "200 x1, 409 x5". Reads their bodies. */
async function countStatuses(responses: Response[]): Promise<string> {
  await Promise.all(responses.map((response) => response.text()))
  const counts = Object.groupBy(responses, ({ status }) => status)
  return Object.entries(counts)
    .map(([status, all]) => `${status} x${all?.length}`)
    .join(', ')
}

const newAgent = async (front: Front): Promise<string> =>
  textAt(await front.ok({ method: 'POST', path: '/api/keys' }), 'key')

const chat = (front: Front, key: string, ref?: string) =>
  front.send({ method: 'POST', path: '/v1/chat/completions', key, ref, body: hello })

/** One Idempotency-Key: the upstream is called once, and the call is charged once. */
async function raceForIdempotencyKey({ r, front }: Raced, rounds: number): Promise<void> {
  const key = await r.newGatewayKey()
  for (let round = 0; round < rounds; round += 1) {
    const before = r.fake.received.length
    const found = await countStatuses(await race(() => chat(front, key, `race-${round}`)))
    expect(/^200 x\d(, 409 x\d)?$/.test(found), `one Idempotency-Key: ${found}`)
    const calls = r.fake.received.length - before
    expect(calls === 1, `one Idempotency-Key: ${calls} calls of the upstream`)
  }
  const { total } = recordOf(await front.ok({ method: 'GET', path: '/queries/history', key }))
  expect(total === rounds, `${rounds} keys have ${String(total)} rows of history`)
}

/** One handle: one of the agents that want it gets it. */
async function raceForHandle({ front }: Raced, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const body = { handle: `one-${round}` }
    const made = await race(() => front.send({ method: 'POST', path: '/api/keys', body }))
    const found = await countStatuses(made)
    expect(found === `201 x1, 409 x${racers - 1}`, `one handle: ${found}`)
  }
}

/** One ref: one app is created, and the others are told so. */
async function raceForRef({ r, front }: Raced, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const key = await newAgent(front)
    const body = { html: page, ref: `ref-round-${round}` }
    const made = await race(() => front.send({ method: 'POST', path: '/api/apps', key, body }))
    const created = made.filter(({ status }) => status === 201)
    const ids = await Promise.all(created.map(async (app) => textAt(await app.json(), 'app.id')))
    expect(new Set(ids).size === 1, `one ref: ${new Set(ids).size} apps`)
    const rest = await countStatuses(made.filter(({ status }) => status !== 201))
    expect(/^(409 x\d)?$/.test(rest), `one ref: ${rest}`)
    const rows = await r.sql`select 1 from apps where id = ${ids[0]}`
    expect(rows.length === 1, 'one ref: the app is not stored')
  }
}

/** The last credit: with credits for one call, one call passes and the others are 402. */
async function raceForLastCredit({ r, front }: Raced, rounds: number): Promise<void> {
  const usd = await maxCostOf(front)
  for (let round = 0; round < rounds; round += 1) {
    const key = await r.newGatewayKey(usd)
    const before = r.fake.received.length
    const found = await countStatuses(await race(() => chat(front, key)))
    expect(found === `200 x1, 402 x${racers - 1}`, `the last credit: ${found}`)
    const calls = r.fake.received.length - before
    expect(calls === 1, `the last credit: ${calls} calls of the upstream`)
    const read = async () =>
      recordOf(await front.ok({ method: 'POST', path: '/credits/balance', key, body: {} }))
    await until(async () => (await read()).held === 0)
    const { balance } = await read()
    expect(Number(balance) >= 0 && Number(balance) < Number(usd), `a balance of ${String(balance)}`)
  }
}

/** Returns the maximum cost of a call in USD, as the error of an account without credits has it. */
async function maxCostOf(front: Front): Promise<string> {
  const account = await front.ok({ method: 'POST', path: '/accounts/create' })
  const response = await chat(front, textAt(account, 'api_key'))
  const text = await response.text()
  const [, usd] = /\$?(0\.\d+)/.exec(text) ?? []
  if (response.status !== 402 || usd === undefined) throw new Error(`${response.status} ${text}`)
  return usd
}

/** One claim: one of the people who open the link of an agent owns it. */
async function raceForClaim({ r, front }: Raced, rounds: number): Promise<void> {
  const people = await race((at) => front.signUp(`racer${at}`, 'correct horse battery'))
  for (let round = 0; round < rounds; round += 1) {
    const key = await newAgent(front)
    const made = await front.ok({ method: 'POST', path: '/api/me/claim', key })
    const path = `/claim/${textAt(made, 'claim.code')}`
    const forms = await Promise.all(people.map((cookie) => front.openForm(path, cookie)))
    const results = await race((at) => {
      const [form, cookie] = [forms[at], people[at]]
      if (!form || cookie === undefined) throw new Error('No form.')
      return front.submit(path, form, cookie)
    })
    const won = results.filter(({ status }) => status === 303)
    const found = await countStatuses(results)
    expect(won.length === 1, `one claim: ${found}`)
    const { total } = recordOf(
      (
        await r.sql`select count(*)::int as total from notes
      where kind = 'claim.done'`
      )[0],
    )
    expect(total === round + 1, `one claim: ${String(total)} notes after ${round + 1} claims`)
  }
}

/** The races, by what one of many gets. */
export const races: Record<string, Race> = {
  'one Idempotency-Key': raceForIdempotencyKey,
  'one handle': raceForHandle,
  'one ref': raceForRef,
  'the last credit': raceForLastCredit,
  'one claim': raceForClaim,
}
