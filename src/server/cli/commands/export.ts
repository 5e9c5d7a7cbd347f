import { rename, rm } from 'node:fs/promises'

import { BerthError } from '../../../../sdk/typescript/src/index.ts'
import { clientCommand, type ClientFlags, connect, failToConnect } from '../connection.ts'
import { CommandFailure, printValue } from '../terminal.ts'

export const exportAgent = clientCommand('export', 'download all that your agent has as a zip')
  .argument('[file]', 'a new file; default: the handle of the agent, .zip')
  .action(async (given: string | undefined, flags: ClientFlags) => {
    const { url, key, berth } = await connect(flags)
    const { handle } = await berth.agent.getMe()
    const file = given ?? `${handle}.zip`
    if (await Bun.file(file).exists()) {
      throw new CommandFailure(`${file} exists. Name another file: berth export <file>`)
    }
    const bytes = await download(url, `Bearer ${key}`, file)
    await printValue(
      { handle, file, bytes },
      `Exported @${handle} to ${file}: ${bytes.toLocaleString('en')} bytes.`,
      flags.json,
    )
  })

/** Downloads the export without keeping it in memory. The file appears when it is complete. */
async function download(url: string, authorization: string, file: string): Promise<number> {
  const request = fetch(`${url}/api/me/export`, { headers: { authorization } })
  const response = await request.catch((error: unknown) => failToConnect(url, error))
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => undefined)
    throw new BerthError(response.status, body, response.headers)
  }
  const part = `${file}.part`
  try {
    const bytes = await Bun.write(part, response)
    await rename(part, file)
    return bytes
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
