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

/** Runs Python in the folder of the client. Returns its standard error and exit code. */
async function runPython(...args: string[]): Promise<[output: string, exitCode: number]> {
  const child = Bun.spawn(['python3', '-B', ...args], {
    cwd: folder,
    env: { PATH: Bun.env['PATH'], PYTHONPATH: 'src', BERTH_URL: url },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  return Promise.all([child.stderr.text(), child.exited])
}

const isMissing = Bun.which('python3') === null

test.skipIf(isMissing)('the tests of the Python client pass', async () => {
  const [output, exitCode] = await runPython('-m', 'unittest', 'discover', '-s', 'tests')
  expect(output).toEndWith('\nOK\n')
  expect(exitCode).toBe(0)
})

// The client loads the modules with types only for type checkers.
test.skipIf(isMissing)('all modules of the Python client compile', async () => {
  const compileAll = `import pathlib
for path in pathlib.Path('src').rglob('*.py'): compile(path.read_text(), str(path), 'exec')`
  expect(await runPython('-c', compileAll)).toEqual(['', 0])
})

test('a flag that a program computes has an overload, and fields are those of the operation', async () => {
  const api = await Bun.file(join(folder, 'src/berth_sdk/agent_api.py')).text()
  const overloads = (name: string) => api.match(new RegExp(`def ${name}\\(self, \\*,.*`, 'g')) ?? []
  expect(overloads('make_assets').join()).not.toContain('prompt')
  // The methods of the client that waits, and of the one for asyncio.
  for (const name of ['make_assets', 'publish_app']) {
    expect(overloads(name).filter((one) => one.includes('dryRun: bool'))).toHaveLength(2)
  }
})
