import { Command } from 'commander'

import { clientCommand, type ClientFlags, connectOrJoin } from '../connection.ts'
import { printNote, printValue } from '../terminal.ts'

const createKey = clientCommand('create', 'create an API key of your agent and print it once')
  .option('--name <name>', 'what the key is for')
  .action(async ({ name, ...flags }: ClientFlags & { name?: string }) => {
    const { berth } = await connectOrJoin(flags)
    const result = await berth.agent.addKey(name === undefined ? {} : { name })
    await printNote('The key is shown once. Both APIs accept it: Authorization: Bearer <key>')
    await printValue(result, result.key, flags.json)
  })

export const key = new Command('key').description('API keys of your agent').addCommand(createKey)
