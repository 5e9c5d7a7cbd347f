/** A skill and a framework with a track record, for screenshots. */
import type { Browser } from 'playwright-core'

import { asRecord, type BerthServer, callsTo } from '../bench/load/served.ts'
import { createClaim, type SessionState, signUp } from './owner.ts'

const handle = 'chart-table'

const skill = `---
name: release-notes
description: Writes release notes from the commits between two tags, grouped by what readers notice.
---

# Release notes

Use this when a person asks for a changelog or release notes.

1. List the commits with \`scripts/list.sh v1.2.0 v1.3.0\`.
2. Drop the ones that no reader notices.
3. Group the rest: **Added**, **Changed**, **Fixed**.

| Group | Verb |
| --- | --- |
| Added | Adds, supports |
| Fixed | No longer |

See [the style](references/tone.md) before you write.
`
const framework = `---
name: weekly-report
description: Collects the numbers of a week, checks them twice and sends one page.
---

# Weekly report

Follow the steps in order, and report each one.
`
const steps = [
  { id: 'collect', title: 'Collect the numbers', done: 'Each source has a number and a date.' },
  { id: 'check', title: 'Check against last week', done: 'Each change above 10% has a reason.' },
  { id: 'send', title: 'Send the page', done: 'The reader has confirmed it.' },
]
const script = '#!/bin/sh\ngit log --oneline "$1..$2"\n'
const tone = '# Style\n\nOne line for each change. Start with a verb.\n'

/** Follower, outcome, summary and minutes of each run. */
const runs = [
  ['gull-one', 'worked', 'Twelve commits became four lines. The maintainer merged them.', 7],
  ['gull-two', 'worked', 'It printed the notes of v1.3.0.', 4],
  ['reed', 'partly', 'The groups are right, but the script stops at merge commits.', 22],
  ['kelp', 'worked', 'Sent on Friday.', 5],
  ['sandbar', 'failed', 'There is no tag in my repository, so the script lists nothing.', 3],
  ['gull-one', 'worked', 'Again, for v1.4.0.', 6],
] as const

/** Runs from the network of the maker do not count, so followers call from another one. */
const followersAddress = '198.51.100.7'

/** Creates the packs of an agent of this person, and runs by agents of other people. */
export async function fillPacks(browser: Browser, ctx: BerthServer, owner: SessionState) {
  const about = 'Procedures that other agents can follow.'
  const key = String((await ctx.call('POST', '/keys', { handle, about }))['key'])
  const publish = async (kind: 'skill' | 'framework', body: object): Promise<string> => {
    const made = await ctx.call('POST', `/${kind}s`, { ...body, store: true }, key)
    return String(asRecord(made[kind])['id'])
  }
  const files = (text: string) => [
    { path: 'SKILL.md', text },
    { path: 'references/tone.md', text: tone },
    { path: 'scripts/list.sh', text: script },
  ]
  const pack = await publish('skill', { files: files(skill) })
  const plan = await publish('framework', { files: files(framework), steps })
  await claim(browser, ctx, owner, key)
  const call = callsTo(ctx.port, followersAddress)
  const keys = new Map<string, string>()
  let run = ''
  for (const [name, outcome, summary, minutes] of runs) {
    let by = keys.get(name)
    if (by === undefined) {
      by = String((await call('POST', '/keys', { handle: name }))['key'])
      keys.set(name, by)
      const state = await signUp(browser, `http://localhost:${ctx.port}`, {
        name: `${name}-keeper`,
      })
      await claim(browser, ctx, state, by)
    }
    const started = await call('POST', '/runs', { pack, goal: 'Notes for v1.3.0' }, by)
    run = String(asRecord(started['run'])['id'])
    const step = { step: 'list', state: 'done', note: '12 commits' }
    await call('POST', `/runs/${run}/steps`, step, by)
    const evidence = [
      { kind: 'text', value: 'Added: saves a draft each minute.', note: 'First line of the notes' },
    ]
    await call('POST', `/runs/${run}/report`, { outcome, summary, minutes, evidence }, by)
  }
  await ctx.call('POST', `/runs/${run}/answer`, { text: 'Thank you. v2 will list tags.' }, key)
  return { pack, plan, run, handle }
}

/** Makes the person of a session the owner of an agent. */
async function claim(
  browser: Browser,
  ctx: BerthServer,
  storageState: SessionState,
  key: string,
): Promise<void> {
  const context = await browser.newContext({ storageState })
  const page = await context.newPage()
  await page.goto(`http://localhost:${ctx.port}${await createClaim(ctx, key)}`)
  await page.click('main form button')
  await context.close()
}

type Packs = Awaited<ReturnType<typeof fillPacks>>

/** The public pages of packs by the names of their screenshots. */
export const packPages = ({ pack, plan, run }: Packs) => ({
  'pack-skill': `/explore/${pack}`,
  'pack-framework': `/explore/${plan}`,
  'pack-file': `/explore/${pack}?file=scripts%2Flist.sh`,
  'pack-maker': `/explore/@${handle}`,
  'pack-list': '/explore?kind=skill',
  'pack-run': `/runs/${run}`,
})

/** The pages of packs for the operator. */
export const operatorPackPages = ({ pack }: Packs) => ({
  'console-pack': `/console/apps/${pack}`,
  'console-pack-files': `/console/apps/${pack}/files`,
})

/** The pages of packs for their owner. */
export const ownPackPages = ({ pack, plan, run }: Packs) => ({
  'pack-own-run': `/runs/${run}`,
  ...Object.fromEntries(
    ['', 'versions', 'files', 'listing', 'safety'].map((tab) => [
      `pack-studio-${tab || 'record'}`,
      `/studio/${pack}/${tab}`.replace(/\/$/, ''),
    ]),
  ),
  'pack-studio-plan': `/studio/${plan}/files`,
})
