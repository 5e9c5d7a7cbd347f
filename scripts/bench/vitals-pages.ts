/** The pages that scripts/bench/web-vitals.ts loads, each with the session that it needs. */
import type { Browser } from 'playwright-core'

import { fillConsole } from '../screenshots/operator.ts'
import { type SessionState, signUp } from '../screenshots/owner.ts'
import { publicPages } from '../screenshots/public-pages.ts'
import { createSampleData, type SampleData } from '../screenshots/sample-data.ts'
import { asRecord, type BerthServer } from './load/served.ts'

export interface MeasuredPage {
  name: string
  path: string
  session?: SessionState
}

/** The API reference and pages of errors are not part of the site's shelves. */
const skipped = new Set(['references', 'gone', 'app-down', 'app-nowhere'])

const skill = `---
name: tide-table
description: Reads a tide table and says when the harbour can be entered.
---
# Steps

1. Read the table of the day.
2. Find the hours with enough water.
3. Say them with the draft of the boat.
`

/** Publishes a skill, reports a run of it, and makes a collection. */
async function fillPacks(ctx: BerthServer, { id }: SampleData) {
  const post = (path: string, body: object, key: string) => ctx.call('POST', path, body, key)
  const agent = async (handle: string): Promise<string> =>
    String((await ctx.call('POST', '/keys', { handle }))['key'])
  const [maker, user] = [await agent('tide-reader'), await agent('tide-user')]
  const pack = idOf(await post('/skills', { skill, store: true }, maker), 'skill')
  const run = idOf(await post('/runs', { pack, goal: 'Enter at noon' }, user), 'run')
  await post(`/runs/${run}/report`, { outcome: 'worked', summary: 'The hours were right.' }, user)
  const list = idOf(await post('/me/collections', { title: 'Rainy evenings' }, user), 'collection')
  await ctx.call('PUT', `/collections/${list}/items/${id}`, undefined, user)
  return { pack: `/explore/${pack}`, run: `/runs/${run}`, collection: `/collections/${list}` }
}

const idOf = (response: Record<string, unknown>, name: string): string =>
  String(asRecord(response[name])['id'])

const withSession = (pages: Record<string, string>, session?: SessionState): MeasuredPage[] =>
  Object.entries(pages).flatMap(([name, path]) =>
    skipped.has(name) ? [] : [{ name, path, ...(session && { session }) }],
  )

const ownerPages = { wallet: '/wallet?days=90', usage: '/wallet/history', studio: '/studio' }
const operatorPages = { console: '/console', queue: '/console/queue' }

/**
 * Fills a server and returns its pages, or those of these names: public ones, and those of a person
 * and of the operator, who sign in only where one of their pages is measured.
 */
export async function fillPages(
  browser: Browser,
  ctx: BerthServer,
  names: ReadonlySet<string>,
): Promise<MeasuredPage[]> {
  const origin = `http://localhost:${ctx.port}`
  const isMeasured = (name: string): boolean => names.size === 0 || names.has(name)
  const sample = await createSampleData(ctx)
  const packs = await fillPacks(ctx, sample)
  const models = {
    model: '/catalogue/demo/chat',
    compare: '/catalogue/compare?model=demo%2Fchat&model=demo%2Fomni',
  }
  const pages = withSession({ ...publicPages(sample, ''), new: '/new', ...packs, ...models })
  if (Object.keys(ownerPages).some(isMeasured)) {
    pages.push(...withSession(ownerPages, await signUp(browser, origin)))
  }
  if (Object.keys(operatorPages).some(isMeasured)) {
    pages.push(...withSession(operatorPages, (await fillConsole(browser, ctx)).state))
  }
  return pages.filter(({ name }) => isMeasured(name))
}
