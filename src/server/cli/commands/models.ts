import type { Command } from 'commander'

import { clientCommand, type ClientFlags, openConnection } from '../connection.ts'
import { inColumns, printValue } from '../terminal.ts'

/** Declares `berth models`, with the commands for the models of a server's own settings. */
export const models = (ownModels: Command[]): Command =>
  ownModels.reduce((command, own) => command.addCommand(own), declareModels())

const declareModels = (): Command =>
  clientCommand('models', 'list the models of a server with their prices in USD')
    .option('--type <type>', 'chat, image, video, audio, embedding, moderation, rerank or realtime')
    .option('--json', 'print JSON')
    .action(async ({ type, ...flags }: ClientFlags & { type?: string }) => {
      const { berth } = await openConnection(flags)
      const { data } = await berth.gateway.listModels(type === undefined ? {} : { type })
      const rows = data.map(({ id, type: kind, price }) => [id, kind, priceText(price)])
      await printValue(data, inColumns([['MODEL', 'TYPE', 'PRICE IN USD'], ...rows]), flags.json)
    })

const priceText = (price: object | null | undefined): string =>
  Object.entries(price ?? {})
    .map(([unit, usd]) => `${usd} ${unit}`)
    .join(', ')
