import { watch } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'

import {
  clientCommand,
  type ClientFlags,
  type Connection,
  connectOrJoin,
  saveApp,
} from '../connection.ts'
import {
  CommandFailure,
  confirmed,
  exitCodes,
  isTerminal,
  printNote,
  printValue,
  ProgressBar,
} from '../terminal.ts'

interface PublishFlags extends ClientFlags {
  title?: string
  app?: string
  new?: boolean
  store?: boolean
  dryRun?: boolean
  note?: string
  watch?: boolean
}

export const publish = clientCommand('publish', 'publish a page and print its link')
  .argument('<path>', 'an HTML file, a folder with a page, or a zip')
  .option('-t, --title <title>', 'the title; default: that of the page')
  .option('--app <id>', 'publish it as the next version of this app')
  .option('--note <text>', 'what changed, for the log of the app')
  .option('--new', 'create a new app, also where the path was published before')
  .option('--store', 'list the app on Explore')
  .option('--dry-run', 'only check the page; nothing is stored')
  .option('-w, --watch', 'publish again after every change, until Ctrl-C')
  .action(async (path: string, flags: PublishFlags) => {
    const connection = await connectOrJoin(flags)
    const source = resolve(path)
    const known = flags.new ? undefined : connection.apps[source]
    const id = await publishOnce(connection, source, flags, flags.app ?? known)
    if (!flags.watch || id === undefined) return
    const changes = await watchChanges(source)
    await printNote(`Watching ${path}. Press Ctrl-C to stop.`)
    for await (const _ of changes) {
      // A page that the safety check blocks is mended by the next change.
      await publishOnce(connection, source, flags, id).catch(({ message }: Error) =>
        printNote(message),
      )
    }
  })

/** Publishes a path and prints the link. Returns the id of the app; undefined for a dry run. */
async function publishOnce(
  { url, berth }: Connection,
  source: string,
  { title, store, dryRun, note: changes, json }: PublishFlags,
  id: string | undefined,
): Promise<string | undefined> {
  const page = await readPage(source)
  const result = await (id === undefined
    ? berth.agent.publishApp({ ...page, title, store, dryRun })
    : berth.agent.publishVersion({ ...page, id, dryRun, note: changes }))
  const { app, note } = result
  if (!app || !('version' in app)) {
    await printValue(result, 'The page can be published. Nothing was stored.', json)
    return undefined
  }
  await saveApp(url, source, app.id)
  if (note) await printNote(note)
  await printNote(`Published ${app.title}, version ${app.version}.`)
  await printValue(result, app.link, json)
  return app.id
}

type Page = { html: string } | { content: Blob }

/** The most bytes that are read for a page: more than any server takes. */
const pageBytesMax = 1_000 * 1024 * 1024

/** Reads a file, a folder or a zip. Throws CommandFailure for anything else. */
async function readPage(source: string): Promise<Page> {
  const stats = await lstat(source).catch(() => undefined)
  if (!stats)
    throw new CommandFailure(`${source} does not exist. Give an HTML file, a folder or a zip.`)
  if (stats.isDirectory()) return { content: await zipFolder(source) }
  if (stats.size > pageBytesMax)
    throw new CommandFailure(`${source} is above 1,000 MB. Publish less.`)
  const file = Bun.file(source)
  if (/\.zip$/i.test(source)) return { content: new Blob([await file.bytes()]) }
  if (/\.html?$/i.test(source)) {
    const { decodePage } = await import('../../../apps/folders/charset.ts')
    return { html: decodePage(await file.bytes()).text }
  }
  throw new CommandFailure(`${basename(source)} is no page. Give an HTML file, a folder or a zip.`)
}

/** Packs a folder without its hidden files. */
export async function zipFolder(folder: string): Promise<Blob> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files: Record<string, Uint8Array> = {}
  let bytes = 0
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).replaceAll('\\', '/')
    if (!entry.isFile() || name.split('/').some((part) => part.startsWith('.'))) continue
    bytes += (await lstat(path)).size
    if (bytes > pageBytesMax) throw new CommandFailure(`${folder} is above 1,000 MB. Publish less.`)
    files[name] = await Bun.file(path).bytes()
  }
  const { zipSync } = await import('fflate')
  return new Blob([zipSync(files)])
}

/** The time in which changes of several files become one, in milliseconds. */
const quietMs = 150

/**
 * Watches a file or a folder from now on, and returns its changes. Editors replace a file by a new
 * one of the same name, so it is watched in its folder.
 */
async function watchChanges(source: string): Promise<AsyncIterable<void>> {
  const isFolder = (await lstat(source)).isDirectory()
  let changed = Promise.withResolvers<void>()
  let timer: Timer | undefined
  watch(isFolder ? source : dirname(source), { recursive: isFolder }, (_, name) => {
    if (!isFolder && name !== basename(source)) return
    clearTimeout(timer)
    timer = setTimeout(() => changed.resolve(), quietMs)
  })
  return (async function* () {
    for (;;) {
      await changed.promise
      changed = Promise.withResolvers()
      yield
    }
  })()
}

interface BuildFlags extends ClientFlags {
  kind?: 'app' | 'game'
  app?: string
  yes?: boolean
}

export const build = clientCommand('build', 'have an app built from a description')
  .argument('<prompt>', 'what to build, or what to change')
  .option('--kind <kind>', 'app or game')
  .option('--app <id>', 'change this app')
  .option('-y, --yes', 'build without asking for the price')
  .action(async (prompt: string, flags: BuildFlags) => {
    const connection = await connectOrJoin(flags)
    const { agent } = connection.berth
    const request = { prompt, ...(flags.kind && { kind: flags.kind }) }
    const start = (more: { dryRun: true } | { maxCredits: number }) =>
      flags.app === undefined
        ? agent.publishApp({ ...request, ...more })
        : agent.publishVersion({ id: flags.app, prompt, ...more })
    const { price = 0 } = await start({ dryRun: true })
    const most = `The build costs at most ${price} credits, and nothing if it fails.`
    if (flags.yes) await printNote(most)
    else if (!process.stdin.isTTY) throw new CommandFailure(`${most} Add --yes to start it.`)
    else if (!confirmed(`${most} Start it?`)) {
      throw new CommandFailure('Nothing was built.', exitCodes.cancelled)
    }
    const { job } = await start({ maxCredits: Math.ceil(price) })
    if (!job) throw new CommandFailure('The server started no build. Update berth and try again.')
    await follow(connection, job.id, flags)
  })

/** Shows the steps of a build, and prints its link. Ctrl-C cancels the build. */
async function follow({ berth }: Connection, id: string, flags: BuildFlags): Promise<void> {
  const cancel = (): void => void berth.agent.cancelJob({ id }).catch(() => undefined)
  process.once('SIGINT', cancel)
  const bar = new ProgressBar('Building')
  let step: string | null = null
  for await (const job of berth.agent.watchJob({ id })) {
    bar.show(job.progress, job.step ?? job.state)
    if (!isTerminal() && job.step !== step && job.step) await printNote(`${job.step} ...`)
    step = job.step
  }
  bar.end()
  process.off('SIGINT', cancel)
  const { job } = await berth.agent.getJob({ id })
  if (job.state === 'cancelled') {
    throw new CommandFailure('The build was cancelled. Nothing was charged.', exitCodes.cancelled)
  }
  if (!job.result)
    throw new CommandFailure(job.error?.error ?? 'The build did not end. See: berth logs')
  await printNote(`Built version ${job.result.version} for ${job.charged} credits.`)
  await printValue(job, job.result.link, flags.json)
}
