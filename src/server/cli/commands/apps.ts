import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { InvalidArgumentError } from 'commander'

import type { agent } from '../../../../sdk/typescript/src/index.ts'
import {
  clientCommand,
  type ClientFlags,
  connect,
  type Connection,
  connectOrJoin,
  saveApp,
} from '../connection.ts'
import {
  CommandFailure,
  confirmed,
  countOf,
  exitCodes,
  inColumns,
  isTerminal,
  printLine,
  printNote,
  printValue,
  take,
} from '../terminal.ts'

export const apps = clientCommand('apps', 'list your apps, newest first')
  .option('-L, --limit <count>', 'the most apps to list', countOf, 30)
  .action(async (flags: ClientFlags & { limit: number }) => {
    const { berth } = await connect(flags)
    const found = await take(
      berth.agent.listApps({ limit: Math.min(flags.limit, 100) }),
      flags.limit,
    )
    const rows = found.map(({ id, title, state, version, opens, link }) => [
      id,
      title,
      state,
      `${version}`,
      `${opens}`,
      link,
    ])
    const table = inColumns([['ID', 'TITLE', 'STATE', 'VERSION', 'OPENS', 'LINK'], ...rows])
    const none = 'You have no apps yet. Publish one: berth publish <file>'
    await printValue(found, rows.length > 0 ? table : none, flags.json)
  })

const openers: Partial<Record<NodeJS.Platform, [program: string, ...words: string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens a link in the browser, where the machine has a program for that. */
function openLink(link: string): Promise<void> {
  const [program, ...words] = openers[process.platform] ?? ['xdg-open']
  if (Bun.which(program) === null) {
    return printNote(`${program} was not found. Open the link in a browser:`)
  }
  Bun.spawn([program, ...words, link], { stdio: ['ignore', 'ignore', 'ignore'] }).unref()
  return printNote(`Opening ${link} in your browser.`)
}

export const open = clientCommand('open', 'open an app in the browser')
  .argument('[id]', 'the app; default: the newest')
  .option('-n, --no-browser', 'only print the link')
  .action(async (id: string | undefined, flags: ClientFlags & { browser: boolean }) => {
    const { berth } = await connect(flags)
    const app =
      id === undefined
        ? (await berth.agent.listApps({ limit: 1 })).apps[0]
        : (await berth.agent.getApp({ id })).app
    if (!app) throw new CommandFailure('You have no apps yet. Publish one: berth publish <file>')
    if (flags.browser && isTerminal()) await openLink(app.link)
    await printValue({ id: app.id, link: app.link }, app.link, flags.json)
  })

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
async function writeApp({ url, berth }: Connection, id: string, folder: string): Promise<string[]> {
  await checkEmpty(folder)
  const { assets } = await berth.agent.listAssets({ id })
  // Another server could name files outside of the folder.
  const { unsafePathProblem } = await import('../../../apps/folders/paths.ts')
  const outside = assets.find(({ name }) => unsafePathProblem(name) !== undefined)
  if (outside) {
    const what = `${url} names a file outside of the folder: ${outside.name}. Nothing was written.`
    throw new CommandFailure(what)
  }
  await mkdir(folder, { recursive: true })
  await Bun.write(join(folder, 'index.html'), String(await berth.agent.getHtml({ id })))
  for (const { name } of assets) {
    await Bun.write(join(folder, name), new Blob([await berth.agent.getAsset({ id, name })]))
  }
  await saveApp(url, resolve(folder), id)
  return ['index.html', ...assets.map(({ name }) => name)]
}

/** Throws CommandFailure for a folder that has files. */
async function checkEmpty(folder: string): Promise<void> {
  const found = await readdir(folder).catch(() => [])
  if (found.length > 0) throw new CommandFailure(`${folder} is not empty. Give another folder.`)
}

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

interface LogFlags extends ClientFlags {
  limit: number
  follow?: boolean
}

export const logs = clientCommand('logs', 'show what happened to your apps')
  .argument('[id]', 'only this app')
  .option('-L, --limit <count>', 'the most lines to show', countOf, 30)
  .option('-f, --follow', 'go on with what happens next, until Ctrl-C')
  .action(async (id: string | undefined, flags: LogFlags) => {
    const { berth } = await connect(flags)
    const isOwn = ({ item }: agent.Note): boolean => id === undefined || item === id
    const all = await take(
      berth.agent.listNotes({ limit: 100 }),
      id === undefined ? flags.limit : 1_000,
    )
    const notes = all.filter(isOwn).slice(0, flags.limit).toReversed()
    const none = flags.follow
      ? 'Nothing happened yet.'
      : 'Nothing happened yet. To wait: berth logs -f'
    await printValue(notes, notes.map(lineOf).join('\n') || none, flags.json)
    if (!flags.follow) return
    const shown = new Set(all.map((note) => note.id))
    for await (const note of berth.agent.watchNotes()) {
      if (isOwn(note) && !shown.has(note.id))
        await printLine(flags.json ? JSON.stringify(note) : lineOf(note))
    }
  })

const lineOf = ({ at, kind, item, text }: agent.Note): string =>
  [at, kind, item, text].filter(Boolean).join('  ')
