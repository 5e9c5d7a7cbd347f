import { expect, test } from 'bun:test'

import { isLibraryHost, parseAddress } from './address.ts'
import { embeddedLibraries } from './embedded.ts'
import type { LibraryReference } from './library.ts'
import { resolvePage } from './resolve-page.ts'
import { pickVersion } from './versions.ts'

const script = (url: string): LibraryReference => ({ url, use: 'script' })
const resolve = async (
  urls: LibraryReference[],
  imports: [string, string][] = [],
  names: string[] = [],
) => resolvePage(await embeddedLibraries(), { urls, imports, names })

test('each spelling of an address names the same package', () => {
  const three = { name: 'three', range: '0.160.0' }
  for (const [url, path, kind] of [
    [
      'https://cdn.jsdelivr.net/npm/three@0.160.0/build/three.module.js',
      'build/three.module.js',
      'file',
    ],
    ['//unpkg.com/three@0.160.0/build/three.module.js', 'build/three.module.js', 'file'],
    [
      'https://unpkg.com/three@0.160.0/build/three.module.js?module',
      'build/three.module.js',
      'module',
    ],
    [
      'https://cdnjs.cloudflare.com/ajax/libs/three.js/0.160.0/three.min.js',
      'three.min.js',
      'file',
    ],
    ['https://esm.sh/v135/three@0.160.0/build/three.module.js', 'build/three.module.js', 'module'],
    ['https://esm.run/three@0.160.0', '', 'module'],
    [
      'https://cdn.skypack.dev/pin/three@v0.160.0-abcdef/mode=imports/optimized/three.js',
      '',
      'module',
    ],
    [
      'https://ga.jspm.io/npm:three@0.160.0/build/three.module.js',
      'build/three.module.js',
      'module',
    ],
    ['https://cdn.jsdelivr.net/npm/three@0.160.0/+esm', '', 'module'],
    ['https://unpkg.com/three@0.160.0/examples/jsm/', 'examples/jsm/', 'folder'],
  ] as const) {
    expect(parseAddress(url)).toMatchObject({ ...three, path, kind })
  }
})

test('paths that leave a package, other hosts and other schemes name nothing', async () => {
  for (const url of [
    'https://unpkg.com/three@0.160.0/../../etc/passwd',
    'https://unpkg.com/three@0.160.0/%2e%2e/%2e%2e/secret',
    'https://unpkg.com/three@0.160.0/..%2f..%2fsecret',
    'https://unpkg.com/__proto__/constructor',
    'https://cdnjs.cloudflare.com/ajax/libs/__proto__/1.0.0/x.js',
    'https://cdn.jsdelivr.net/npm/constructor@1/prototype',
    'https://unpkg.com@evil.example/three@0.160.0/build/three.min.js',
    'https://evil.example/npm/three@0.160.0/build/three.min.js',
    'ftp://unpkg.com/three@0.160.0/build/three.min.js',
    'https://unpkg.com:8080/three@0.160.0/build/three.min.js',
    `https://unpkg.com/${'a/'.repeat(900)}`,
  ]) {
    const { files, urls } = await resolve([script(url)])
    expect({ url, files, urls }).toEqual({ url, files: [], urls: [] })
  }
  expect(isLibraryHost('https://evil.example/x.js')).toBe(false)
})

test('an import map with poisoned names maps only what it names', async () => {
  const map: [string, string][] = [
    ['__proto__', 'https://unpkg.com/lodash@4.17.21/lodash.min.js'],
    ['constructor', 'https://evil.example/x.js'],
    ['three', 'https://unpkg.com/three@0.180.0/build/three.module.js'],
    ['berth:three@0.180.0/build/three.core.min.js', 'https://evil.example/core.js'],
  ]
  const { imports, files } = await resolve([], map, ['three', 'toString'])
  expect(Object.getPrototypeOf({})).toBe(Object.prototype)
  expect(new Map(imports).get('three')).toBe('berth:three@0.180.0/build/three.module.min.js')
  expect(new Map(imports).has('toString')).toBe(false)
  expect(files.every(({ name }) => name.startsWith('berth:'))).toBe(true)
})

test('a page with 1,000 libraries is bounded', async () => {
  const urls = Array.from({ length: 1_000 }, (_, at) =>
    script(`https://esm.sh/none-${at}@1.0.${at}`),
  )
  const { files, problems } = await resolve(urls)
  expect(files).toEqual([])
  expect(problems.size).toBe(1_000)
  const languages = (await embeddedLibraries())
    .filter(({ name }) => name === 'prismjs' || name === 'three')
    .flatMap(({ name, version, files: own }) =>
      [...own.keys()].map((path) => script(`https://unpkg.com/${name}@${version}/${path}`)),
    )
  const many = await resolve(languages)
  expect(many.files.length).toBeLessThanOrEqual(400)
})

test('an integrity attribute decides about the bytes, not about the name', async () => {
  const url = 'https://code.jquery.com/jquery-3.7.1.min.js'
  const right = 'sha256-/JqT3SQfawRcv/BIHPThkBvs0OEvtFFmqPF/lYI/Cxo='
  expect((await resolve([{ ...script(url), integrity: right }])).files).toHaveLength(1)
  const wrong = await resolve([{ ...script(url), integrity: 'sha384-AAAA' }])
  expect(wrong.files).toEqual([])
  expect(wrong.problems.get(url)).toContain('integrity')
  const older = { ...script('https://code.jquery.com/jquery-3.6.0.min.js'), integrity: right }
  expect((await resolve([older])).files).toHaveLength(1)
})

test('picks versions as npm does, and else the nearest with the same major number', () => {
  const all = ['0.128.0', '0.160.0', '0.180.0']
  expect(pickVersion(all, '')).toEqual({ version: '0.180.0', isExact: true })
  expect(pickVersion(all, '0.160.0')).toEqual({ version: '0.160.0', isExact: true })
  expect(pickVersion(all, '^0.160.0')).toEqual({ version: '0.160.0', isExact: true })
  expect(pickVersion(all, '0.150.0')).toEqual({ version: '0.160.0', isExact: false })
  expect(pickVersion(all, '0.200.0')).toEqual({ version: '0.180.0', isExact: false })
  expect(pickVersion(all, '1.0.0')).toBeUndefined()
  expect(pickVersion(['18.3.1', '17.0.2'], '18')).toEqual({ version: '18.3.1', isExact: true })
  expect(pickVersion(['18.3.1', '17.0.2'], '^17 || ^16')).toEqual({
    version: '17.0.2',
    isExact: true,
  })
  expect(pickVersion(['18.3.1', '17.0.2'], '^16.5.1 || ^17.0.0 || ^18.0.0')?.version).toBe('18.3.1')
  expect(pickVersion(['3.7.1', '2.1.0'], '1.9.1 - 3')?.version).toBe('3.7.1')
  expect(pickVersion([], '1')).toBeUndefined()
})

test('a file that the nearest version lacks is that of another one with its major number', async () => {
  const addon = 'examples/js/controls/OrbitControls.js'
  const near = `https://cdn.jsdelivr.net/npm/three@0.137.0/${addon}`
  const { urls, notes } = await resolve([script(near)])
  expect(urls).toEqual([[near, `berth:three@0.128.0/${addon}`]])
  expect(notes).toEqual(['three@0.137.0 is not here: three@0.128.0 is used instead.'])
  const exact = `https://cdn.jsdelivr.net/npm/three@0.180.0/${addon}`
  expect((await resolve([script(exact)])).urls).toEqual([])
})

test('a library imports the version of React that its page names', async () => {
  const icons: LibraryReference = { url: 'https://esm.sh/lucide-react', use: 'module' }
  const named: LibraryReference = { url: 'https://esm.sh/react@18.2.0', use: 'module' }
  for (const urls of [
    [icons, named],
    [named, icons],
  ]) {
    const { files } = await resolve(urls)
    expect(files.filter(({ name }) => name.includes('react@1')).map(({ name }) => name)).toEqual([
      'berth:react@18.3.1/index.js?module',
    ])
  }
})

test('a URL without a file gives a module or a script, not a style sheet', async () => {
  for (const [url, use, path] of [
    ['https://esm.sh/leaflet@1.9.4', 'module', 'leaflet@1.9.4/dist/leaflet.js?module'],
    ['https://unpkg.com/leaflet@1.9.4', 'script', 'leaflet@1.9.4/dist/leaflet.js'],
    ['https://unpkg.com/leaflet@1.9.4', 'style', 'leaflet@1.9.4/dist/leaflet.css'],
    ['https://esm.sh/date-fns@3.6.0', 'module', 'date-fns@3.6.0/cdn.min.js?module'],
    [
      'https://cdnjs.cloudflare.com/ajax/libs/stats.js/r17/Stats.min.js',
      'script',
      'stats.js@0.17.0/build/stats.min.js',
    ],
  ] as const) {
    expect((await resolve([{ url, use }])).urls[0]).toEqual([url, `berth:${path}`])
  }
  // The address that its manual gives for a classic script.
  const shims = 'https://ga.jspm.io/npm:es-module-shims@2.8.4/dist/es-module-shims.js'
  expect((await resolve([script(shims)])).files.map(({ name }) => name)).toEqual([
    'berth:es-module-shims@2.8.4/dist/es-module-shims.js',
  ])
  const icons = 'https://esm.sh/bootstrap-icons@1.11.3'
  expect((await resolve([{ url: icons, use: 'module' }])).problems.get(icons)).toContain('no file')
})

test('the pictures that a library names are there by its folder, its package and their names', async () => {
  const { urls, files } = await resolve([script('https://unpkg.com/leaflet@1.9.4/dist/leaflet.js')])
  expect(urls).toContainEqual([
    'https://unpkg.com/leaflet@1.9.4/dist/',
    'berth:leaflet@1.9.4/dist/',
  ])
  expect(urls).toContainEqual([
    'https://cdn.jsdelivr.net/npm/leaflet@1.9.4/',
    'berth:leaflet@1.9.4/',
  ])
  const image = 'berth:leaflet@1.9.4/dist/images/marker-icon.png'
  expect(urls).toContainEqual(['marker-icon.png', image])
  expect(files.find(({ name }) => name === image)).toMatchObject({ isOnDemand: true })
})

test('an address of cdnjs may be a package with or without .js', () => {
  const at = (path: string) => parseAddress(`https://cdnjs.cloudflare.com/ajax/libs/${path}`)
  expect(at('DOMPurify/3.0.6/purify.min.js')).toMatchObject({ name: 'dompurify' })
  expect(at('jsmediatags/3.9.5/jsmediatags.min.js')).not.toHaveProperty('otherName')
  expect(at('planck.js/1.0.0/planck.js')).toMatchObject({ name: 'planck.js', otherName: 'planck' })
  expect(at('popper.js/1.16.1/umd/popper.min.js')).toMatchObject({ name: 'popper.js' })
  expect(at('popper.js/2.11.8/umd/popper.min.js')).toMatchObject({ name: '@popperjs/core' })
})

test('the imports of a library are bundled with it', async () => {
  for (const url of [
    'https://esm.sh/chartjs-plugin-datalabels@2.2.0',
    'https://esm.sh/bootstrap@4.6.2',
  ]) {
    expect((await resolve([{ url, use: 'module' }])).notes).toEqual([])
  }
})

test('the note says what a library cannot do in the sandbox', async () => {
  const url = 'https://cdn.jsdelivr.net/npm/html2canvas@1.4.1/dist/html2canvas.min.js'
  const { urls, notes } = await resolve([script(url)])
  expect(urls).toEqual([[url, 'berth:html2canvas@1.4.1/dist/html2canvas.min.js']])
  expect(notes).toEqual([expect.stringContaining('cannot capture elements')])
})
