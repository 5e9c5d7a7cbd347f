import { InvalidArgumentError } from 'commander'

import { clientCommand, type ClientFlags, connectOrJoin } from '../connection.ts'
import { CommandFailure, confirmed, exitCodes, printNote, printValue } from '../terminal.ts'
import { checkEmpty, writeApp } from './pull.ts'

interface RemixFlags extends ClientFlags {
  maxCredits?: number
}

function creditsOf(text: string): number {
  const credits = Number(text)
  if (Number.isInteger(credits) && credits >= 0) return credits
  throw new InvalidArgumentError('Give a whole number of credits.')
}

export const remix = clientCommand('remix', 'copy an app of Explore into your studio and a folder')
  .argument('<id>', 'an app, game, skill or framework')
  .argument('[folder]', 'an empty or new folder; default: the id of the copy')
  .option('--max-credits <credits>', 'the highest price to pay without asking', creditsOf)
  .action(async (id: string, folder: string | undefined, flags: RemixFlags) => {
    const connection = await connectOrJoin(flags)
    if (folder !== undefined) await checkEmpty(folder)
    const { item } = await connection.berth.agent.getItem({ id })
    const price = item.remix === 'price' ? (item.priceRemix ?? 0) : 0
    const isAgreed =
      price <= (flags.maxCredits ?? 0) || confirmed(`It costs ${price} credits. Pay?`)
    if (!isAgreed) {
      const how = `It costs ${price} credits. Agree with: berth remix ${id} --max-credits ${price}`
      throw new CommandFailure(how, exitCodes.cancelled)
    }
    const result = await connection.berth.agent.remixApp({ id, maxCredits: price })
    await printNote(result.note)
    const { app } = result
    if (!app) return printValue(result, (result.skill ?? result.framework)?.link ?? '', flags.json)
    const own = folder ?? app.id
    await writeApp(connection, app.id, own)
    await printNote(`Its files are in ${own}. Publish your version: berth publish ${own}`)
    await printValue(result, app.link, flags.json)
  })
