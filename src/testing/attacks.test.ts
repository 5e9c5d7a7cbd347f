/**
 * Short forms of the attacks in scripts/attack, with one server each. Builds without a browser end
 * before a victim could wait for them, so src/jobs/runner.test.ts checks their turns. The bytes of
 * new accounts are checked by src/gateway/files/unfunded.test.ts.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'

import type { AttackRow } from '../../scripts/attack/attack.ts'
import { run as mcpBatches } from '../../scripts/attack/mcp-batches.ts'
import { run as pdfs } from '../../scripts/attack/pdfs.ts'
import { run as scans } from '../../scripts/attack/scans.ts'
import { run as signIns } from '../../scripts/attack/sign-in.ts'
import { run as watchers } from '../../scripts/attack/watchers.ts'
import { isThorough } from './thorough.ts'

setDefaultTimeout(120_000)

const expectLimited = (row: AttackRow) =>
  expect([row.name, row.measured, row.isLimited]).toEqual([row.name, row.measured, true])

test('a batch of MCP messages counts each message', async () => {
  expectLimited(await mcpBatches(500))
})

// With hashes as costly as in production. src/site/sign-in/lockout.test.ts proves the same in CI.
test.if(isThorough)('wrong passwords from many networks do not lock the owner out', async () => {
  expectLimited(await signIns(3))
})

test('a note wakes idle watchers', async () => {
  expectLimited(await watchers(200, 100))
})

test('a page does not wait for the large pages of another network', async () => {
  expectLimited(await scans(3, 0, 400_000))
})

test('a PDF does not wait for the bombs of another network, which all fail', async () => {
  expectLimited(await pdfs(4, 0))
})
