/** The packages whose code or files are in the binary, with their licenses. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { embeddedPackages } from '../../src/apps/libraries/embedded-packages.ts'
import { recordOf } from '../../src/kernel/schema.ts'
import { isBrowserCode } from '../tidy/source.ts'

const root = join(import.meta.dir, '../..')
const modules = join(root, 'node_modules')
const licenseFile = /^(?:licen[sc]e|copying|notice|ofl)/i

export interface ThirdParty {
  name: string
  version: string
  /** SPDX expression of package.json. */
  license: string
  /** The texts of its license files. */
  texts: string[]
}

const readJson = (path: string) => recordOf(JSON.parse(readFileSync(path, 'utf8')))

/** Returns the folder of a package as Node resolves it from another folder. */
function folderOf(name: string, from: string): string {
  for (let folder = from; folder.startsWith(root); folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return found
  }
  throw new Error(`${name} is not installed: run ./scripts/install`)
}

/** Returns the packages that the code of browsers imports. */
function packagesOfBrowsers(): string[] {
  const names = new Set<string>()
  const glob = new Bun.Glob('{src,public}/**/*.ts')
  for (const path of glob.scanSync({ cwd: root })) {
    if (!isBrowserCode(path) || /^public\/(dist|samples|shims)/.test(path)) continue
    const text = readFileSync(join(root, path), 'utf8')
    for (const { path: name } of new Bun.Transpiler({ loader: 'ts' }).scanImports(text)) {
      const [package_] = /^(?:@[^/]+\/)?[^./@][^/]*/.exec(name) ?? []
      if (package_ !== undefined && !package_.includes(':')) names.add(package_)
    }
  }
  return [...names]
}

/** The runtime. Its package has no license file, but its documentation lists the licenses. */
function runtime(): ThirdParty {
  const { version } = readJson(join(modules, 'bun/package.json'))
  const text = readFileSync(join(modules, 'bun-types', 'docs', 'project', 'license.mdx'), 'utf8')
  return { name: 'bun', version: String(version), license: 'MIT', texts: [text] }
}

/** Returns all packages in the binary by name and version, with what they need and the runtime. */
export function thirdParties(): ThirdParty[] {
  const { dependencies } = readJson(join(root, 'package.json'))
  const direct = [...Object.keys(recordOf(dependencies)), ...packagesOfBrowsers()]
  const embedded = embeddedPackages
    .flatMap(({ folder, bundle }) => [folder, ...(bundle?.includes ?? [])])
    .map((folder) => join(modules, folder))
  const waiting = [
    ...direct.map((name) => folderOf(name, root)),
    ...embedded,
    join(modules, '@fontsource-variable/geist'),
    join(modules, '@fontsource/bricolage-grotesque'),
    join(modules, '@fontsource-variable/rubik'),
  ]
  const found = new Map<string, ThirdParty>()
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const about = readJson(join(folder, 'package.json'))
    const [name, version] = [String(about['name']), String(about['version'])]
    const id = `${name}@${version}`
    if (found.has(id)) continue
    const files = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && licenseFile.test(entry.name))
      .map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim())
    const license = about['license'] ?? recordOf(about['licenses'])['type'] ?? 'unknown'
    found.set(id, { name, version, license: String(license), texts: files.toSorted() })
    // A library for pages is embedded without what it depends on.
    if (embedded.includes(folder) && !direct.includes(name)) continue
    const needs = Object.keys(recordOf(about['dependencies'] ?? {}))
    waiting.push(...needs.map((need) => folderOf(need, folder)))
  }
  const all = [runtime(), ...found.values()]
  return all.toSorted((a, b) => (a.name + a.version < b.name + b.version ? -1 : 1))
}

const line = '-'.repeat(80)

/** Returns the text of `berth licenses`: a list of the packages, then each license text once. */
export function licensesOf(packages: ThirdParty[]): string {
  const users = new Map<string, string[]>()
  for (const { name, version, texts } of packages) {
    for (const text of texts) users.set(text, [...(users.get(text) ?? []), `${name} ${version}`])
  }
  const list = packages.map(({ name, version, license }) => `  ${name} ${version}: ${license}`)
  const texts = [...users].map(([text, names]) => `${line}\n${names.join('\n')}\n\n${text}`)
  return [
    `Berth contains these packages, under their own licenses:\n\n${list.join('\n')}`,
    ...texts,
  ].join('\n\n')
}

/** Some packages name their license in words, or not at all, which is no SPDX expression. */
const licenseOf = ({ license }: Omit<ThirdParty, 'texts'>) =>
  /^(?!unknown$)\(?[\w.+-]+(?: (?:AND|OR) [\w.+-]+)*\)?$/.test(license)
    ? { expression: license }
    : { license: { name: license } }

/** Returns the software bill of materials in the format of CycloneDX 1.6. */
export function bomOf(version: string, packages: ThirdParty[]): string {
  const component = (one: Omit<ThirdParty, 'texts'>, type: string) => ({
    type,
    'bom-ref': `${one.name}@${one.version}`,
    name: one.name,
    version: one.version,
    licenses: [licenseOf(one)],
    purl: `pkg:npm/${one.name.replace('@', '%40')}@${one.version}`,
  })
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component({ name: 'berth', version, license: 'MIT' }, 'application') },
    components: packages.map((one) => component(one, 'library')),
  }
  return `${JSON.stringify(bom, undefined, 2)}\n`
}
