import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { clientCommand, type ClientFlags, connect, type Connection } from '../connection.ts'
import { saveApp } from '../credentials.ts'
import { CommandFailure, printNote, printValue } from '../terminal.ts'

export const pull = clientCommand('pull', 'copy an app of yours with its files into a folder')
  .argument('<id>', 'the app')
  .argument('[folder]', 'an empty or new folder; default: the id')
  .action(async (id: string, folder: string | undefined, flags: ClientFlags) => {
    const connection = await connect(flags)
    const { app } = await connection.berth.agent.getApp({ id })
    const files = await writeApp(connection, id, folder ?? id)
    await printNote(`Publish its next version: berth publish ${folder ?? id}`)
    await printValue({ app, folder: resolve(folder ?? id), files }, folder ?? id, flags.json)
  })

/**
 * Writes the page and the files of an app, and stores that the folder is published as this app.
 * Returns the names of the files. Throws CommandFailure for a folder that has files.
 */
export async function writeApp(
  { url, berth }: Connection,
  id: string,
  folder: string,
): Promise<string[]> {
  await checkEmpty(folder)
  await mkdir(folder, { recursive: true })
  await Bun.write(join(folder, 'index.html'), String(await berth.agent.getHtml({ id })))
  const { assets } = await berth.agent.listAssets({ id })
  for (const { name } of assets) {
    // Names of assets have no slash and begin with a letter or digit.
    await Bun.write(join(folder, name), new Blob([await berth.agent.getAsset({ id, name })]))
  }
  await saveApp(url, resolve(folder), id)
  return ['index.html', ...assets.map(({ name }) => name)]
}

/** Throws CommandFailure for a folder that has files. */
export async function checkEmpty(folder: string): Promise<void> {
  const found = await readdir(folder).catch(() => [])
  if (found.length > 0) throw new CommandFailure(`${folder} is not empty. Give another folder.`)
}
