import { isBuiltin } from 'node:module'

import {
  isFontSheet,
  isLibraryHost,
  type LibraryAddress,
  parseAddress,
  parseUrl,
} from './address.ts'
import { copiesOf, findDependency, findFileOf, findFont } from './find-files.ts'
import {
  findFirebaseFile,
  findHostModule,
  firebaseLibrary,
  firebaseName,
  firebaseNotes,
  hostLibrary,
} from './host-modules.ts'
import {
  labelOf,
  type Library,
  type LibraryReference,
  type PageReferences,
  referencesPerPageMax,
} from './library.ts'
import { fileName, packagesUrl, scheme } from './modules.ts'
import { baseOf, computedFolderOf, folderOf, isData, isNamed } from './on-demand.ts'
import { dependenciesOf, moduleEntry, packageOf } from './package-paths.ts'
import { matchesIntegrity } from './registry.ts'
import {
  FileCollector,
  type MissingLibrary,
  type Resolution,
  TooManyFilesError,
} from './resolution.ts'
import { findLibrary, type FoundLibrary } from './store.ts'
import { fontFamilies, fontPackages, fontRules } from './styles.ts'

/** The text of a script names many addresses. Those of a file or a folder are loaded. */
const isLoaded = ({ use }: LibraryReference, { path }: LibraryAddress): boolean =>
  use !== 'code' || /\/$|\.\w+$/.test(path)

/** Libraries that load but need what the sandbox refuses, and what to do. */
const restrictedLibraries: ReadonlyMap<string, string> = new Map([
  [
    'html2canvas',
    'loads but cannot capture elements: it needs a frame of the same origin, which the sandbox refuses. Draw on a canvas instead.',
  ],
  [
    'tesseract.js',
    'loads its engine and language data from other packages by addresses that it computes, and these are not here.',
  ],
])

/** Resolves the URLs of a page from `all`, the library store. Bounded; no input makes it throw. */
export async function resolvePage(
  all: readonly Library[],
  references: PageReferences,
): Promise<Resolution> {
  const resolver = new PageResolver(all, references)
  await resolver.run()
  return resolver.result()
}

class PageResolver {
  private readonly urls = new Map<string, string>()
  private readonly imports = new Map<string, string>()
  private readonly notes = new Set<string>()
  private readonly problems = new Map<string, string>()
  /** Folders of the URLs of scripts, and those of their files. */
  private readonly folders = new Map<string, string>()
  private readonly lacking = new Map<string, MissingLibrary>()
  private readonly importMap: Map<string, string>
  private readonly collector = new FileCollector({
    resolve: (name, from) => this.resolveName(name, from),
    finder: (from) => this.finder(from),
  })

  constructor(
    private readonly all: readonly Library[],
    private readonly page: PageReferences,
  ) {
    this.importMap = new Map(page.imports)
  }

  async run(): Promise<void> {
    const { urls, imports, names } = this.page
    try {
      for (const reference of urls.slice(0, referencesPerPageMax)) await this.resolveUrl(reference)
      const hosts = names.filter(findHostModule).slice(0, referencesPerPageMax)
      for (const name of hosts) await this.resolveHost(name, name)
      for (const [name, url] of imports.slice(0, referencesPerPageMax)) {
        if (!name.endsWith('/')) await this.mapName(name, url)
      }
      for (const name of names.slice(0, referencesPerPageMax)) await this.resolveMapped(name)
    } catch (error) {
      if (!(error instanceof TooManyFilesError)) throw error
      this.problems.set('', `Its libraries are not loaded: ${error.message}. Use fewer of them.`)
      this.urls.clear()
      this.imports.clear()
      this.collector.files.clear()
      this.collector.onDemand.clear()
      this.collector.named.clear()
    }
    this.nameOnDemand()
    const limit = `is over the limit of ${referencesPerPageMax} addresses of one page.`
    for (const { url } of urls.slice(referencesPerPageMax)) this.problems.set(url, limit)
  }

  result(): Resolution {
    const { files, onDemand } = this.collector
    const contents = [...files.values(), ...onDemand.values()]
    return {
      files: contents.map(({ content: _, library: __, ...file }) => file),
      urls: [...this.urls],
      imports: contents.length > 0 ? [...this.imports] : [],
      contents,
      notes: [...this.notes],
      problems: this.problems,
      missing: [...this.lacking.values()],
    }
  }

  private async resolveUrl(reference: LibraryReference): Promise<string | undefined> {
    const { url, use } = reference
    if (this.urls.has(url)) return this.urls.get(url)
    const name = isFontSheet(url) ? await this.addFonts(url) : await this.addFile(reference)
    if (name === undefined) return undefined
    this.urls.set(url, name)
    if (name.endsWith('/') || (use === 'code' && isData(name))) return name
    // A module imports it by its URL. Names of the page's own import map keep their meaning.
    if (use === 'module' || use === 'code') this.imports.set(parseUrl(url)?.href ?? url, name)
    return name
  }

  private async addFile(reference: LibraryReference): Promise<string | undefined> {
    const { url, integrity, use } = reference
    const address = parseAddress(url)
    if (!address) {
      if (use !== 'code' && isLibraryHost(url)) {
        this.problems.set(
          url,
          'names no npm package with a file. Name one, such as /npm/three@0.180.0/build/three.module.js.',
        )
      }
      return undefined
    }
    if (address.name === firebaseName) {
      const file = findFirebaseFile(address.path, use === 'script')
      for (const note of firebaseNotes(address.path)) this.notes.add(note)
      const add = use === 'script' ? 'add' : 'addAsModule'
      if (file !== undefined) return this.collector[add](firebaseLibrary, file)
    }
    const hostFile = await this.resolveHost([address.name, address.path].filter(Boolean).join('/'))
    if (hostFile !== undefined) return hostFile
    if (address.kind === 'folder' && use !== 'code') return undefined
    const found = this.find(reference, address)
    if (!found) return this.missing(reference, address)
    const file =
      address.kind === 'folder' ? undefined : await findFileOf(this.all, found, address, use)
    if (!file) {
      const folder = use === 'code' && (await this.addFolder(found, address))
      if (!folder && isLoaded(reference, address)) this.lackRest(found.library)
      return folder || this.missing(reference, address, found.library)
    }
    const { library, path } = file
    if (integrity !== undefined) {
      const bytes = await library.read(path)
      if (!matchesIntegrity(bytes, integrity)) {
        this.problems.set(
          url,
          `does not match its integrity attribute: the file here is of ${labelOf(library)}. Name that version, or remove the attribute.`,
        )
        return undefined
      }
    }
    this.noteVersion(address, { library, isExact: found.isExact })
    if (use === 'code' && isData(path)) return this.collector.addOnDemand(library, path)
    const computed = computedFolderOf(library, path)
    if (computed !== undefined) await this.addFolder({ library }, { path: computed })
    if (address.path !== '') {
      const folder = url.replace(/[?#].*/, '').replace(/[^/]*$/, '')
      this.folders.set(folder, fileName(library, folderOf(path)))
    }
    // A classic script stays one, also on a host of modules.
    return address.kind === 'module' && use !== 'script'
      ? this.collector.addAsModule(library, path)
      : this.collector.add(library, path)
  }

  /** Adds a module of another host, also by the name in an import. Returns its file. */
  private async resolveHost(module: string, name?: string): Promise<string | undefined> {
    const path = findHostModule(module)
    const file = path && (await this.collector.addAsModule(hostLibrary, path))
    if (file !== undefined && name !== undefined) this.imports.set(name, file)
    return file
  }

  private lack(name: string, range: string): void {
    this.lacking.set(`${name}@${range}`, { name, range })
  }

  /** Notes that the store lacks files of a package that this program has in part. */
  private lackRest(library: Library): void {
    const isPart = library.source === 'embedded' && copiesOf(this.all, library).length === 1
    if (isPart) this.lack(library.name, library.version)
  }

  /** Finds the package of an address, or notes that it lacks. */
  private find(reference: LibraryReference, address: LibraryAddress): FoundLibrary | undefined {
    const { name, otherName, range, isGuess } = address
    const all = [name, ...(otherName === undefined ? [] : [otherName])]
    const found = all.flatMap((one) => findLibrary(this.all, one, range) ?? [])
    const exact = found.find(({ isExact }) => isExact)
    if (!exact && isLoaded(reference, address) && !isGuess)
      for (const one of all) this.lack(one, range)
    return exact ?? found[0]
  }

  /**
   * Adds the files below an address that code completes, such as the path of a decoder. Returns the
   * name of the folder; undefined where there is none.
   */
  private async addFolder(
    { library }: Pick<FoundLibrary, 'library'>,
    { path, isFlat }: Pick<LibraryAddress, 'path' | 'isFlat'>,
  ): Promise<string | undefined> {
    const inside = fileName(library, '')
    // cdnjs shows the folder of the script as the package.
    const script = isFlat && [...this.collector.files.keys()].find((one) => one.startsWith(inside))
    const own = path === '' ? '' : `${path.replace(/\/$/, '')}/`
    const folder = own === '' && script ? folderOf(script.slice(inside.length)) : own
    for (const copy of copiesOf(this.all, library)) {
      const paths = [...copy.files.keys()].filter((one) => one.startsWith(folder))
      for (const one of paths) await this.collector.addOnDemand(copy, one)
      if (paths.length > 0) return fileName(copy, folder)
    }
    return undefined
  }

  /** Names the files that scripts load: by package, by the folder of a script, by name alone. */
  private nameOnDemand(): void {
    const all = [...this.collector.named]
    const add = (url: string, name: string): void => {
      if (!this.urls.has(url)) this.urls.set(url, name)
    }
    for (const [url, folder] of this.folders)
      if (all.some(([name]) => name.startsWith(folder))) add(url, folder)
    for (const [name, label] of all) {
      add(`${packagesUrl}${label}/`, `${scheme}${label}/`)
      if (isNamed(name)) add(baseOf(name), name)
    }
  }

  private noteVersion({ name, range, kind }: LibraryAddress, found: FoundLibrary): void {
    const label = labelOf(found.library)
    if (kind === 'tailwind' || found.library.name.startsWith('@fontsource')) return
    if (!found.isExact) this.notes.add(`${name}@${range} is not here: ${label} is used instead.`)
    else if (found.library.version !== range) {
      this.notes.add(`${name}${range && `@${range}`} is pinned to ${found.library.version}.`)
    }
    const restriction = restrictedLibraries.get(name)
    if (restriction !== undefined) this.notes.add(`${label} ${restriction}`)
  }

  private missing(
    { url, use }: LibraryReference,
    { name, range, path }: LibraryAddress,
    library?: Library,
  ): undefined {
    if (use === 'code' && !/\.\w+$/.test(path)) return undefined
    const near = findLibrary(this.all, name, range) ?? findLibrary(this.all, name, '')
    const requested = `${name}${range && `@${range}`}`
    const help = library
      ? `${labelOf(library)} has no ${path || 'file for browsers'} here.`
      : near
        ? `${requested} is not in the library store; the nearest version is ${labelOf(near.library)}.`
        : `${requested} is not in the library store.`
    const rest =
      'GET /api/libraries lists what is there. Name one of them, or put the code into the page.'
    this.problems.set(url, `does not load here: ${help} ${rest}`)
    return undefined
  }

  /** Adds the style sheet of Google Fonts with the families that the store has. */
  private async addFonts(url: string): Promise<string | undefined> {
    const rules: string[] = []
    const missing: string[] = []
    let last: Library | undefined
    for (const family of fontFamilies(url)) {
      const found = findFont(this.all, family.family)
      if (!found) {
        missing.push(family.family)
        for (const name of fontPackages(family.family)) this.lack(name, '')
        continue
      }
      last = found
      const { text, paths } = fontRules(found, family)
      for (const path of paths) await this.collector.add(found, path)
      rules.push(text)
    }
    if (missing.length > 0) {
      this.problems.set(
        url,
        `the fonts ${missing.join(', ')} are not in the library store: the next family of font-family is shown. GET /api/libraries lists the fonts.`,
      )
    }
    if (!last) return undefined
    return this.collector.addText(
      last,
      `${scheme}fonts/${Bun.hash(rules.join('\n')).toString(36)}.css`,
      'text/css',
      rules.join('\n'),
    )
  }

  /** Maps one name of the page's import map. A URL that is no library stays as it is. */
  private async mapName(name: string, url: string): Promise<boolean> {
    if (this.imports.has(name)) return true
    const file = await this.resolveUrl({ url, use: 'module' })
    if (file === undefined && isLibraryHost(url)) return false
    this.imports.set(name, file ?? url)
    return true
  }

  /** Maps a name by the longest key of the import map that fits (HTML, "Import maps"). */
  private async resolveMapped(name: string): Promise<boolean> {
    const exact = this.importMap.get(name)
    if (exact !== undefined) return this.mapName(name, exact)
    const [folder] = [...this.importMap.keys()]
      .filter((key) => key.endsWith('/') && name.startsWith(key))
      .toSorted((a, b) => b.length - a.length)
    if (folder === undefined) return false
    return this.mapName(name, `${this.importMap.get(folder)}${name.slice(folder.length)}`)
  }

  /** Returns a function that finds packages for a library, and notes those that lack. */
  private async finder(from: Library): Promise<(name: string) => boolean> {
    const ranges = await dependenciesOf(from)
    return (name) => {
      const packageName = packageOf(name)
      const isThere =
        packageName === from.name || findLibrary(this.all, packageName, '') !== undefined
      // Bundles keep names of the modules inside them, which are no dependencies.
      if (!isThere && Object.hasOwn(ranges, packageName)) {
        this.lack(packageName, String(ranges[packageName]))
      }
      return isThere
    }
  }

  /** Resolves a name that a library imports: by the import map, else by its own dependencies. */
  private async resolveName(name: string, from: Library): Promise<void> {
    // A bundle imports modules of Node.js where it finds itself there.
    if (isBuiltin(name) || this.imports.has(name) || (await this.resolveMapped(name))) return
    const packageName = packageOf(name)
    const subpath = name.slice(packageName.length + 1)
    const ranges = await dependenciesOf(from)
    const range = Object.hasOwn(ranges, packageName) ? String(ranges[packageName]) : ''
    const library =
      packageName === from.name ? from : findDependency(this.all, this.page, packageName, range)
    const [file] = library ? await this.entriesOf(library, subpath) : []
    if (!file) {
      if (library) this.lackRest(library)
      else this.lack(packageName, range)
      this.notes.add(`${labelOf(from)} imports ${name}, which is not in the library store.`)
      return
    }
    this.imports.set(name, await this.collector.addAsModule(file.library, file.path))
  }

  /** Returns the files that a name of a package loads, of all its copies. */
  private async entriesOf(library: Library, subpath: string) {
    const copies = copiesOf(this.all, library).map(async (copy) => {
      const path = await moduleEntry(copy, subpath)
      return path === undefined ? [] : [{ library: copy, path }]
    })
    return (await Promise.all(copies)).flat()
  }
}
