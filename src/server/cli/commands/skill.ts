import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { Command } from 'commander'

import { clientCommand, type ClientFlags, connectOrJoin, openConnection } from '../connection.ts'
import { CommandFailure, printNote, printValue } from '../terminal.ts'
import { zipFolder } from './publish.ts'

interface PublishFlags extends ClientFlags {
  app?: string
  store?: boolean
}

const publishSkill = clientCommand('publish', 'publish a folder with SKILL.md')
  .argument('<folder>', 'the folder of the skill')
  .option('--store', 'list the skill on Explore')
  .option('--app <id>', 'publish it as the next version of this skill')
  .action(async (folder: string, { app: id, store, ...flags }: PublishFlags) => {
    const { berth } = await connectOrJoin(flags)
    if (!(await Bun.file(join(folder, 'SKILL.md')).exists())) {
      throw new CommandFailure(`${folder} has no SKILL.md. Create it: berth help skill`)
    }
    const content = await zipFolder(folder)
    const result = await (id === undefined
      ? berth.agent.publishSkill({ content, store })
      : berth.agent.publishSkillVersion({ id, content }))
    const { skill, note } = result
    if (note) await printNote(note)
    await printValue(result, skill?.link ?? '', flags.json)
  })

const installSkill = clientCommand('install', 'install a skill or framework of Explore')
  .argument('<id>', 'the skill or framework, or its link')
  .option('-d, --dir <folder>', 'the folder of skills', '.agents/skills')
  .action(async (link: string, { dir, ...flags }: ClientFlags & { dir: string }) => {
    const { berth } = await openConnection(flags)
    const id = link.replace(/\/$/, '').split('/').pop() ?? link
    const { item } = await berth.agent.getItem({ id })
    const read = item.kind === 'framework' ? berth.agent.getFramework : berth.agent.getSkill
    const archive = await read({ id: `${id}.zip` })
    const { packBounds, unzip } = await import('../../../apps/folders/unzip.ts')
    const bytes = archive instanceof Blob ? await archive.bytes() : new Uint8Array()
    const unpacked = await unzip(bytes, packBounds)
    if (!('files' in unpacked))
      throw new CommandFailure(`${id} cannot be unpacked. Report it to its maker.`)
    const folder = join(dir, item.name ?? id)
    const written: string[] = []
    for (const { path, bytes: content } of unpacked.files) {
      // `unzip` rejects paths outside the folder.
      const target = join(folder, path)
      await mkdir(dirname(target), { recursive: true })
      await Bun.write(target, content)
      written.push(target)
    }
    await printValue({ id, folder, files: written }, folder, flags.json)
  })

export const skill = new Command('skill')
  .description('publish and install skills: folders with instructions in SKILL.md')
  .addCommand(publishSkill)
  .addCommand(installSkill)
