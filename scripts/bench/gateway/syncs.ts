import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { median } from '../load/load.ts'

/** Returns the median time of 200 fdatasync calls after one written page, in milliseconds. */
export function syncMs(folder: string): number {
  const file = openSync(join(folder, 'sync'), 'w')
  const page = Buffer.alloc(4_096, 1)
  const times = Array.from({ length: 200 }, () => {
    writeSync(file, page)
    const since = performance.now()
    fdatasyncSync(file)
    return performance.now() - since
  })
  closeSync(file)
  return median(times)
}

/** Counts the disk syncs of a process while `work` runs. Returns undefined without strace. */
export async function countSyncs(
  pid: number,
  work: () => Promise<unknown>,
): Promise<number | undefined> {
  if (!Bun.which('strace')) return undefined
  const calls = ['--seccomp-bpf', '-e', 'trace=fsync,fdatasync']
  const tracer = Bun.spawn(['strace', '-f', '-qq', ...calls, '-p', String(pid)], { stderr: 'pipe' })
  await Bun.sleep(500)
  await work()
  tracer.kill('SIGINT')
  const output = await new Response(tracer.stderr).text()
  return output.match(/(?<!\.\.\. )f(data)?sync\(/g)?.length ?? 0
}
