import { join } from 'node:path'

import { Glob } from 'bun'

const root = join(import.meta.dir, '../..')
const path = join(root, 'dist/reports/timings.json')

/** The files that take longest. Their order does not matter. */
const slow = [
  'src/testing/properties.test.ts',
  'src/testing/attacks.test.ts',
  'src/testing/browsers/templates.test.ts',
  'src/testing/clients/conformance.test.ts',
  'src/testing/fuzz.test.ts',
  'src/testing/journeys/bucket.test.ts',
  'src/testing/journeys/killed-builds.test.ts',
  'src/testing/journeys/people.test.ts',
  'src/gateway/paid/media.test.ts',
  'src/apps/builds/builds.test.ts',
  'src/apps/browser/chromium.test.ts',
  'src/site/browsing/pages.test.ts',
  'src/site/browsing/payloads.test.ts',
  'src/site/browsing/console.test.ts',
]

/**
 * Returns the flag with which the processes of a run start with the slow files, so that none works
 * alone at the end. Bun takes a file without a time for the slowest, so every file has one.
 */
export async function slowestFirst(): Promise<string> {
  const files = await Array.fromAsync(new Glob('src/**/*.test.ts').scan({ cwd: root }))
  const times = files.map((file) => [file, slow.includes(file) ? 60_000 : 1_000])
  const text = JSON.stringify({ version: 1, files: Object.fromEntries(times) })
  await Bun.write(path, text)
  return `--timings=${path}`
}
