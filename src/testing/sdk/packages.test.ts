import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'

import { packTypescript } from '../../../scripts/packaging/sdks.ts'
import { useTypescript } from '../../../scripts/packaging/use-sdks.ts'
import { findBrowser } from '../browsers/browser.ts'
import { serveGateway } from '../fixtures/gateway.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import { startTestServer } from '../fixtures/test-server.ts'

setDefaultTimeout(120_000)

const t = await startTestServer({ DEMO_MODELS: 'on' })
const { origin, stop } = serveGateway(t)
const { path: files, remove } = temporaryFolder('berth-sdk-')
afterAll(async () => {
  await stop()
  await t.close()
  remove()
})

await packTypescript(files)

test('the packed SDK is installed in an empty project, and runs its example in Node and Bun', async () => {
  await useTypescript('node', { files, folder: join(files, 'node'), origin })
  await useTypescript('bun', { files, folder: join(files, 'bun'), origin })
  expect.assertions(0)
})

test.skipIf(findBrowser('chromium') === undefined)(
  'the packed SDK runs its example in a page of Chromium with another origin than the server',
  async () => {
    await useTypescript('chromium', { files, folder: join(files, 'chromium'), origin })
    expect.assertions(0)
  },
)
