import { addLibrary, countAllApps } from '../../apps/libraries/added.ts'
import { bytesOf, labelOf, libraryBytesMax } from '../../apps/libraries/library.ts'
import { readTarball, TarballError } from '../../apps/libraries/tarball.ts'
import type { AppContext } from '../../kernel/context.ts'
import { readLocalFile } from '../../store/data-files.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import { type AddedLibrary, addLibrary as addByName, removeLibrary } from './library-operations.ts'
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

/** Adds a tarball from a file, or a package from the registry. */
async function add(ctx: AppContext, what: string): Promise<CommandResult> {
  const added = /\.t(?:ar\.)?gz$/.test(what)
    ? await addFile(ctx, what)
    : await performCommand(ctx, addByName, {}, { library: what })
  return succeeded(
    `${labelOf(added)} is in the library store: ${added.files} files, license ${added.license}.`,
    { ...added },
  )
}

async function addFile(ctx: AppContext, path: string): Promise<AddedLibrary> {
  const bytes = await readLocalFile(path, libraryBytesMax)
  if (!bytes) throw new TarballError(`${path} does not exist, or has more than 64 MB.`)
  const library = readTarball(bytes)
  await addLibrary(ctx, library)
  const { name, version, license, files } = library
  return { name, version, license, files: files.size }
}
