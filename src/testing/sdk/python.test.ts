import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'

import { serveGateway } from '../fixtures/gateway.ts'
import { startTestServer } from '../fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const { origin: url, stop } = serveGateway(t)
afterAll(async () => {
  await stop()
  await t.close()
})

const folder = join(import.meta.dir, '../../../sdk/python')

test.skipIf(Bun.which('python3') === null)('the tests of the Python client pass', async () => {
  const child = Bun.spawn(['python3', '-B', '-m', 'unittest', 'discover', '-s', 'tests'], {
    cwd: folder,
    env: { PATH: Bun.env['PATH'], PYTHONPATH: 'src', BERTH_URL: url },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const [output, code] = await Promise.all([child.stderr.text(), child.exited])
  expect(output).toEndWith('\nOK\n')
  expect(code).toBe(0)
})
