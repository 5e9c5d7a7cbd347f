import { ApiError } from '../../kernel/errors.ts'
import { type Content, text } from '../../kernel/http/outcome.ts'
import type { AppContext } from '../../server/context.ts'
import { bytesOf, labelOf, readText } from './library.ts'
import type { LibraryBody } from './schemas.ts'

/** Lists the libraries by name, newest version first. */
export async function listLibraries(ctx: AppContext): Promise<{ libraries: LibraryBody[] }> {
  const all = await ctx.libraries.list()
  return {
    libraries: all.map((library) => {
      const { name, version, license, source, files } = library
      return { name, version, license, source, files: files.size, bytes: bytesOf(library) }
    }),
  }
}

const licenseFile = /^(?:licen[cs]e|copying|ofl|notice)[^/]*$/i

/** Returns the license texts of a library. Throws `not_found`. */
export async function getLicense(ctx: AppContext, label: string): Promise<Content> {
  const library = (await ctx.libraries.list()).find((one) => labelOf(one) === label)
  if (!library)
    throw new ApiError('not_found', { what: 'library', see: 'GET /libraries lists them.' })
  const paths = [...library.files.keys()].filter((path) => licenseFile.test(path))
  const texts = await Promise.all(paths.map((path) => readText(library, path)))
  const named = `${label}: ${library.license}`
  return text('text/plain', [named, ...texts].join('\n\n'))
}
