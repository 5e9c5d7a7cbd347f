import { sha256 } from '../../kernel/ids.ts'
import {
  bytesPerPageMax,
  filesPerPageMax,
  isModulePath,
  labelOf,
  type Library,
  onDemandBytesMax,
  onDemandFilesMax,
  type PageFile,
  type PageLibraries,
  readText,
  typeOf,
} from './library.ts'
import { fileName, type ModuleText, readImports, rewriteModule, wrapCommonJs } from './modules.ts'
import { findImported, findNamed } from './on-demand.ts'
import { withPrivateNames } from './package-paths.ts'
import { rewriteStyle } from './styles.ts'

/** A file of a page with its bytes, and the library that it is from. */
export interface ResolvedFile extends PageFile {
  content: Uint8Array
  library: Library
}

/** The libraries of a page, with what its publisher should know. */
export interface Resolution extends PageLibraries {
  contents: ResolvedFile[]
  /** Sentences about versions that differ from the requested ones. */
  notes: string[]
  /** URLs that could not be resolved, and what to do. */
  problems: Map<string, string>
  /** Packages that the store lacks, or lacks in the named version. */
  missing: MissingLibrary[]
}

export interface MissingLibrary {
  name: string
  range: string
}

/** Thrown where the libraries of a page exceed their bounds. */
export class TooManyFilesError extends Error {
  constructor() {
    super(
      `a page loads at most ${filesPerPageMax} library files and ${bytesPerPageMax / 1_048_576} MB`,
    )
  }
}

/** Finds the files that names in a module load. */
export interface NameResolver {
  resolve(name: string, from: Library): Promise<void>
  /** Returns a function that tells whether a package, or a part of it, is there for a library. */
  finder(from: Library): Promise<(name: string) => boolean>
}

/** Collects the files of a page: those that it names, and those that these load. */
export class FileCollector {
  readonly files = new Map<string, ResolvedFile>()
  /** Files that scripts load when they need them, from the address of the version. */
  readonly onDemand = new Map<string, ResolvedFile>()
  /** Names of the files that scripts load, and their libraries. */
  readonly named = new Map<string, string>()
  private bytes = 0
  private onDemandBytes = 0

  constructor(private readonly names: NameResolver) {}

  /** Adds a file as it is, or rewritten where it loads others. Returns its name. */
  async add(library: Library, path: string): Promise<string> {
    const name = fileName(library, path)
    if (this.files.has(name)) return name
    const type = typeOf(path)
    if (type === 'text/css') return this.addStyle(library, path, name)
    if (type !== 'text/javascript') {
      return this.put(library, { name, type, content: await library.read(path) })
    }
    const text = await withPrivateNames(library, path, await readText(library, path))
    const imports = readImports(library, path, text)
    if (imports) await this.addModule(library, name, rewriteModule(library, path, text, imports))
    else this.put(library, { name, type, content: await library.read(path) })
    for (const one of findNamed(library, path, text)) await this.addOnDemand(library, one)
    return name
  }

  /**
   * Adds a file that a script loads by its address, and what it imports. Returns its name. Files
   * over the bounds are left out.
   */
  async addOnDemand(library: Library, path: string): Promise<string> {
    const name = fileName(library, path)
    const bytes = library.files.get(path) ?? 0
    const isFull =
      this.onDemand.size >= onDemandFilesMax || this.onDemandBytes + bytes > onDemandBytesMax
    const isThere = this.files.has(name) || this.onDemand.has(name)
    if (isThere || !isFull) this.named.set(name, labelOf(library))
    if (isThere || isFull) return name
    this.onDemandBytes += bytes
    const content = await library.read(path)
    const file = { name, sha256: sha256(content), type: typeOf(path), bytes, content }
    this.onDemand.set(name, { ...file, isOnDemand: true, library })
    if (file.type !== 'text/javascript') return name
    const text = new TextDecoder().decode(content)
    const imports = readImports(library, path, text)
    const paths = imports
      ? rewriteModule(library, path, text, imports).paths
      : findImported(library, path, text)
    for (const one of paths) await this.addOnDemand(library, one)
    return name
  }

  /** Adds a package file as an ES module, whatever its format. Returns its name. */
  async addAsModule(library: Library, path: string): Promise<string> {
    const isModule =
      isModulePath(path) || readImports(library, path, await readText(library, path)) !== undefined
    if (isModule) return this.add(library, path)
    const name = `${fileName(library, path)}?module`
    if (this.files.has(name)) return name
    const isKnown = await this.names.finder(library)
    return this.addModule(library, name, await wrapCommonJs(library, path, isKnown))
  }

  /** Adds a text that the host makes for the page. */
  addText(library: Library, name: string, type: string, text: string): string {
    return this.files.has(name)
      ? name
      : this.put(library, { name, type, content: new TextEncoder().encode(text) })
  }

  private async addModule(library: Library, name: string, module: ModuleText): Promise<string> {
    const { text, paths, names } = module
    // The file is known before those that it loads, since these may load it in turn.
    this.addText(library, name, 'text/javascript', text)
    for (const path of paths) await this.addImported(library, path)
    for (const one of names) await this.names.resolve(one, library)
    return name
  }

  /** Adds a file that a module imports, which may be a CommonJS one for bundlers. */
  private async addImported(library: Library, path: string): Promise<void> {
    const name = fileName(library, path)
    if (this.files.has(name)) return
    const text = typeOf(path) === 'text/javascript' ? await readText(library, path) : ''
    const isCommonJs = /\bmodule\.exports\b|\bexports\.\w/.test(text)
    if (!isCommonJs || readImports(library, path, text)) await this.add(library, path)
    else {
      const isKnown = await this.names.finder(library)
      await this.addModule(library, name, await wrapCommonJs(library, path, isKnown))
    }
  }

  private async addStyle(library: Library, path: string, name: string): Promise<string> {
    const { text, paths } = rewriteStyle(library, path, await readText(library, path))
    this.addText(library, name, 'text/css', text)
    for (const one of paths) await this.add(library, one)
    return name
  }

  private put(
    library: Library,
    { name, type, content }: { name: string; type: string; content: Uint8Array },
  ): string {
    this.bytes += content.byteLength
    if (this.files.size >= filesPerPageMax || this.bytes > bytesPerPageMax) {
      throw new TooManyFilesError()
    }
    const file = { name, type, content, sha256: sha256(content), bytes: content.byteLength }
    this.files.set(name, { ...file, library })
    this.onDemand.delete(name)
    return name
  }
}
