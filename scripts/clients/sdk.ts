import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { startClientServer } from '../../src/testing/clients/server.ts'
import { install, makeHome, spawn } from './agent.ts'

/** An SDK from npm, and a program beside this file that calls a tool, which writes two files. */
export interface Sdk {
  /** Packages with their versions. The first names the SDK. */
  packages: string[]
  /** The name of the program in `programs`. Node runs it with BASE_URL and GATEWAY_KEY. */
  program: string
}

/**
 * Installs an SDK with npm in a temporary folder and runs its program against the demo models. The
 * program makes a tool round trip with a whole response, which writes whole.txt, and one with a
 * streamed response, which writes streamed.txt. Throws if one is missing or nothing was charged.
 */
export async function runSdk({ packages, program }: Sdk): Promise<void> {
  const home = makeHome()
  const berth = await startClientServer()
  try {
    await install(packages.join(' '), home)
    copyFileSync(join(import.meta.dir, 'programs', program), join(home, program))
    const work = join(home, 'work')
    mkdirSync(work)
    const [, origin = ''] = berth.baseUrls
    const env = { BASE_URL: origin, GATEWAY_KEY: berth.key }
    const text = await spawn(['node', join(home, program)], work, env)
    for (const name of ['whole.txt', 'streamed.txt']) {
      const isWritten = readFileSync(join(work, name), 'utf8') === 'Ahoy'
      if (!isWritten || !text.includes(`wrote ${name}`)) throw new Error(`No ${name}:\n${text}`)
    }
    const cost = await berth.spent()
    console.log(`${text}\n${packages[0]}: ${cost} nano USD were charged.`)
    if (cost === 0n) throw new Error('Nothing was charged.')
  } finally {
    await berth.stop()
    rmSync(home, { recursive: true, force: true })
  }
}
