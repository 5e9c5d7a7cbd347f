import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { install, makeHome, spawn } from './agent.ts'
import { type Results, runEveryKind } from './every-kind.ts'

/** An SDK from npm, and a program beside this file that calls a tool, which writes two files. */
export interface Sdk {
  /** Packages with their versions. The first names the SDK. */
  packages: string[]
  /** The name of the program in `programs`. Node runs it with BASE_URL, GATEWAY_KEY and MODEL. */
  program: string
}

/**
 * Installs an SDK with npm in a temporary folder and runs its program with the demo model and with
 * a model of each kind of upstream. The program makes a tool round trip with a whole response,
 * which writes whole.txt, and one with a streamed response, which writes streamed.txt. Throws if
 * one is missing or nothing was charged.
 */
export async function runSdk({ packages, program }: Sdk): Promise<Results> {
  const home = makeHome()
  try {
    await install(packages.join(' '), home)
    copyFileSync(join(import.meta.dir, 'programs', program), join(home, program))
    return await runEveryKind(async ({ origin, key, model }, server) => {
      const work = mkdtempSync(join(home, 'work-'))
      const before = await server.spent()
      const env = { BASE_URL: origin, GATEWAY_KEY: key, MODEL: model }
      const text = await spawn(['node', join(home, program)], work, env)
      for (const name of ['whole.txt', 'streamed.txt']) {
        const isWritten = readFileSync(join(work, name), 'utf8') === 'Ahoy'
        if (!isWritten || !text.includes(`wrote ${name}`)) throw new Error(`No ${name}:\n${text}`)
      }
      if ((await server.spent()) === before) throw new Error('Nothing was charged.')
    })
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
