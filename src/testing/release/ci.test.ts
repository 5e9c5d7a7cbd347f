import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import { binaryPath } from '../processes/server-process.ts'

setDefaultTimeout(60_000)

const root = join(import.meta.dir, '../../..')
const { path: folder, remove } = temporaryFolder('berth-ci-')
afterAll(remove)

async function shell(script: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(['bash', '-c', script], {
    cwd: folder,
    env: { PATH: `${dirname(binaryPath)}:${Bun.env.PATH}`, HOME: folder, TMPDIR: folder, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { out, err, code }
}

test('the plain shell of docs/ci.md has a chat and a page within 5 s of a processor', async () => {
  const guide = await Bun.file(join(root, 'docs/ci.md')).text()
  const [, script = ''] = /## Plain shell\n\n```sh\n(.*?)^```/ms.exec(guide) ?? []
  // Its time on a busy machine would say nothing: `times` has that of the processor.
  const { out, err, code } = await shell(`${script}\nwait\ntimes`)
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('"content":"Ahoy"')
  expect(out).toMatch(/^http:\/\/localhost:\d+\/a\/[\w-]+$/m)
  const spent = [...out.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s))
  expect(spent).toHaveLength(4)
  expect(spent.reduce((sum, seconds) => sum + seconds, 0)).toBeLessThan(5)
})

test('the action exports the addresses of an instance that answers, and a key that works', async () => {
  const files = { GITHUB_ENV: join(folder, 'env'), GITHUB_OUTPUT: join(folder, 'output') }
  mkdirSync(join(folder, 'runner'))
  const start = join(root, '.github/actions/berth/start.sh')
  const { out, err, code } = await shell(`bash '${start}'`, {
    ...files,
    RUNNER_TEMP: join(folder, 'runner'),
    BERTH_BINARY: binaryPath,
    BERTH_VERSION: '',
    BERTH_RELEASES_INPUT: '',
  })
  expect([code, err]).toEqual([0, ''])
  const exported = Object.fromEntries(
    readFileSync(files.GITHUB_ENV, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  )
  expect(out).toContain(`::add-mask::${exported.BERTH_KEY}`)
  const models = await fetch(`${exported.OPENAI_BASE_URL}/models`, {
    headers: { authorization: `Bearer ${exported.OPENAI_API_KEY}` },
  })
  expect(await models.text()).toContain('demo/chat')

  const action = Bun.YAML.parse(
    await Bun.file(join(root, '.github/actions/berth/action.yml')).text(),
  )
  const outputs = readFileSync(files.GITHUB_OUTPUT, 'utf8')
  const names = [...outputs.matchAll(/^([\w-]+)=/gm)].map(([, name = '']) => name)
  expect(action).toMatchObject({
    outputs: Object.fromEntries(
      names.map((name) => [name, { value: `\${{ steps.start.outputs.${name} }}` }]),
    ),
  })
  const status = await fetch(`${exported.BERTH_ORIGIN}/healthz`)
  expect(status.status).toBe(200)
  process.kill(Number(/pid (\d+)/.exec(out)?.[1]))
})
