import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startChain } from '../../../testing/fixtures/chain.ts'
import { startPaidServer } from '../../../testing/fixtures/payments.ts'

const root = join(import.meta.dir, '../../..')

/** Returns the lines between two lines of docs/payments.md, without their indentation. */
async function linesOfGuide(first: string, last: string): Promise<string> {
  const text = await Bun.file(join(root, 'docs/payments.md')).text()
  const [, found] = text.split(`${first}\n`)
  const lines = found?.split(`   ${last}\n`)[0]
  if (!lines) throw new Error(`docs/payments.md has no lines between ${first} and ${last}`)
  return lines.replaceAll(/^ {3}/gm, '')
}

test('the wallets and the client of docs/payments.md pay', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-guide-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const run = async (name: string, code: string, env = {}) => {
    await Bun.write(join(folder, name), code)
    const child = Bun.spawn([process.execPath, name], {
      cwd: folder,
      env: { PATH: Bun.env.PATH, ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
    expect([err, await child.exited]).toEqual(['', 0])
    return out
  }
  const chain = await startChain()
  const t = await startPaidServer(chain)
  try {
    const wallet = await linesOfGuide(
      'do node --input-type=module -e "',
      '"; done | tee wallets.sh',
    )
    const made = await run('wallet.mjs', wallet.replaceAll('$name', 'AGENT'))
    const [, key = '', address = ''] =
      /AGENT_KEY=(0x\w{64}) AGENT_ADDRESS=(0x\w{40})/.exec(made) ?? []
    await chain.mint(`0x${address.slice(2)}`, 50_000n)
    const ann = await t.agent('ann')
    const client = await linesOfGuide("cat > pay.mjs <<'END'", 'END')
    const code = client.replaceAll('http://localhost:3000', t.url)
    const out = await run('pay.mjs', code, { AGENT_KEY: key, KEY: ann.key })
    expect(out).toMatch(/200 .*added: 50.*credits: 450.*success: true/s)
  } finally {
    await t.close()
    await chain.stop()
    rmSync(folder, { recursive: true })
  }
}, 60_000)
