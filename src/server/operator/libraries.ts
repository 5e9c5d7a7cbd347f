import { addLibrary, countAllApps } from '../../apps/libraries/added.ts'
import { bytesOf, labelOf, libraryBytesMax } from '../../apps/libraries/library.ts'
import { downloadTarball } from '../../apps/libraries/registry.ts'
import { readTarball, TarballError } from '../../apps/libraries/tarball.ts'
import type { AppContext } from '../../kernel/context.ts'
import { readLocalFile } from '../../store/data-files.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import { removeLibrary } from './operations.ts'
import { performCommand } from './perform-command.ts'

const usage = `usage: berth libraries list
       berth libraries add <name>@<version> | <tarball>
       berth libraries remove <name>@<version>`

/** `berth libraries`: lists, adds and removes packages that pages can load. */
export async function libraries(ctx: AppContext, args: string[]): Promise<CommandResult> {
  const [action = 'list', what = '', ...more] = args
  if (more.length > 0) return failed(usage)
  try {
    if (action === 'list' && what === '') return await list(ctx)
    if (action === 'add' && what !== '') return await add(ctx, what)
    if (action === 'remove' && what !== '') {
      await performCommand(ctx, removeLibrary, {}, { library: what })
      return succeeded(`${what} is removed.`, { library: what })
    }
    return failed(usage)
  } catch (error) {
    if (error instanceof TarballError) return failed(error.message)
    throw error
  }
}

async function list(ctx: AppContext): Promise<CommandResult> {
  const all = await ctx.libraries.list()
  const apps = await countAllApps(ctx, all)
  const rows = all.map((library) => {
    const { name, version, source, license } = library
    const used = apps.get(library) ?? 0
    return { name, version, source, license, bytes: bytesOf(library), apps: used }
  })
  const lines = rows.map(({ bytes, apps: used, source, license, ...library }) => {
    const facts = [source, license, `${Math.ceil(bytes / 1_024)} KB`, `${used} apps`]
    return `${labelOf(library).padEnd(40)}  ${facts.join('  ')}`
  })
  return succeeded(lines.join('\n'), { libraries: rows })
}

async function add(ctx: AppContext, what: string): Promise<CommandResult> {
  const library = readTarball(await findTarball(ctx, what))
  await addLibrary(ctx, library)
  const { name, version, license, files } = library
  return succeeded(
    `${labelOf(library)} is in the library store: ${files.size} files, license ${license}.`,
    { name, version, license, files: files.size },
  )
}

/** Reads a tarball from a file, or downloads it from the registry. */
async function findTarball(ctx: AppContext, what: string): Promise<Uint8Array> {
  if (/\.t(?:ar\.)?gz$/.test(what)) {
    const bytes = await readLocalFile(what, libraryBytesMax)
    if (bytes) return bytes
    throw new TarballError(`${what} does not exist, or has more than 64 MB.`)
  }
  const found = /^((?:@[^/@]+\/)?[^/@]+)@(\d[\w.+-]*)$/.exec(what)
  if (!found) throw new TarballError(usage)
  return downloadTarball(registryOf(ctx), found[1] ?? '', found[2] ?? '')
}

/** Returns the registry of the setting, else the one that npm on this machine uses. */
function registryOf({ config }: AppContext): string {
  if (config.libraryRegistry !== '') return config.libraryRegistry
  try {
    const { stdout } = Bun.spawnSync(['npm', 'config', 'get', 'registry'], { timeout: 10_000 })
    const url = URL.parse(stdout.toString().trim())
    if (url && /^https?:$/.test(url.protocol)) return url.href
  } catch {
    // Without npm the message below says what to set.
  }
  throw new TarballError(
    'npm is not installed here. Set LIBRARY_REGISTRY to the URL of an npm registry, or add a tarball file.',
  )
}
