import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

/** A bundle with one chunk that stays, and two late ones that import each other. */
const chunks = {
  'main.js': `import{name}from"./kept.js";
    const late=await import("./late.js");
    console.log(JSON.stringify({name,...await late.read()}))`,
  'kept.js': 'export const name="kept"',
  'late.js': `import{inCycle}from"./cycle.js";
    export const name="late";
    export const read=async()=>({
      late:inCycle(),
      kept:(await import("./kept.js")).name,
      node:typeof (await import("node:path")).join,
      text:"import.meta.dir",
      folder:import.meta.dir
    })`,
  'cycle.js': 'import{name}from"./late.js";export const inCycle=()=>name',
}

async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, ...command], { cwd: root, stderr: 'pipe' })
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(error)
  return out
}

test('late code imports kept chunks, modules of Node and chunks that import it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-late-code-'))
  const [bundle, built] = [join(dir, 'bundle'), join(dir, 'built')]
  try {
    for (const [name, code] of Object.entries(chunks)) await Bun.write(join(bundle, name), code)
    await run('scripts/build-late-code.ts', bundle, join(built, 'late-code.zst'))
    expect(await Bun.file(join(bundle, 'late.js')).exists()).toBe(false)
    await run('build', '--splitting', '--target=bun', '--outdir', built, join(bundle, 'main.js'))
    expect(JSON.parse(await run(join(built, 'main.js')))).toEqual({
      name: 'kept',
      late: 'late',
      kept: 'kept',
      node: 'function',
      text: 'import.meta.dir',
      folder: built,
    })
  } finally {
    rmSync(dir, { recursive: true })
  }
})
