import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'

import { BerthError } from '../../../../sdk/typescript/src/index.ts'
import { clientCommand, type ClientFlags, connect, failToConnect } from '../connection.ts'
import { CommandFailure, printResult, printValue } from '../terminal.ts'

interface Flags extends ClientFlags {
  data?: string
}

export const exportAgent = clientCommand('export', 'download all that an agent has as a zip')
  .argument('[agent]', 'as an operator: an agent of the server on this machine, such as @fox')
  .argument('[file]', 'a new file; default: the handle of the agent, .zip')
  .option('--data <folder>', 'as an operator: the data folder')
  .action(async (first: string | undefined, second: string | undefined, flags: Flags) => {
    if (first?.startsWith('@')) return exportHere(first, second ?? `${first.slice(1)}.zip`, flags)
    if (second !== undefined) throw new CommandFailure('usage: berth export [@handle] [file]')
    return exportOwn(first, flags)
  })

/** Exports an agent of the server on this machine. */
async function exportHere(name: string, file: string, { data, json }: Flags): Promise<void> {
  const { operate, configOf } = await import('../server-commands.ts')
  const config = configOf({ ...(data !== undefined && { data }) })
  await printResult(await operate(config, 'export', [name, resolve(file)]), json)
}

async function exportOwn(given: string | undefined, flags: ClientFlags): Promise<void> {
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
}

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
