import { expect, test } from 'bun:test'

import { until } from '../until.ts'

const starts = `import { endingWithProcess } from ${JSON.stringify(`${import.meta.dir}/lender.ts`)}
console.log(Bun.spawn(endingWithProcess(['sleep', '600'])).pid)
setInterval(() => undefined, 1_000)`

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a program that is lent ends with a process that is killed', async () => {
  const parent = Bun.spawn([process.execPath, '-e', starts], { stdout: 'pipe' })
  const { value } = await parent.stdout.getReader().read()
  const pid = Number(new TextDecoder().decode(value))
  expect(isAlive(pid)).toBe(true)
  parent.kill('SIGKILL')
  await until(() => !isAlive(pid))
})
