import { expect, test } from 'bun:test'

import { firebaseExports } from './firebase-exports.ts'
import type { LibraryReference } from './library.ts'
import { resolvePage } from './resolve-page.ts'

const urlOf = (file: string): string => `https://www.gstatic.com/firebasejs/11.6.1/${file}`
const resolve = (...urls: LibraryReference[]) => resolvePage([], { urls, imports: [], names: [] })

test('the modules of Firebase come with the page, in every version', async () => {
  const { imports, contents, missing, problems } = await resolve(
    { url: urlOf('firebase-app.js'), use: 'module' },
    { url: urlOf('firebase-firestore.js'), use: 'code' },
    { url: 'https://esm.sh/firebase@10.1.0/auth', use: 'module' },
  )
  expect(imports.map(([url]) => url)).toEqual([
    urlOf('firebase-app.js'),
    urlOf('firebase-firestore.js'),
    'https://esm.sh/firebase@10.1.0/auth',
  ])
  expect(missing).toEqual([])
  expect([...problems]).toEqual([])
  const text = contents.map(({ content }) => new TextDecoder().decode(content)).join()
  for (const name of firebaseExports.firestore) expect(text).toContain(name)
})

test('a classic script is one of the older interface, which a page imports, too', async () => {
  const compat = ['firebase-app-compat.js', 'firebase-firestore-compat.js', 'firebase.js']
  const { urls, contents, problems } = await resolve(
    ...compat.map((file): LibraryReference => ({ url: urlOf(file), use: 'script' })),
    { url: 'https://esm.sh/firebase@9.22.0/compat/app', use: 'module' },
    { url: 'https://cdn.jsdelivr.net/npm/firebase@8/firebase-auth.min.js', use: 'script' },
  )
  expect([...problems]).toEqual([])
  expect(urls).toHaveLength(5)
  expect(contents.map(({ name }) => name.split('/').at(-1))).toEqual([
    'compat.script.js',
    'compat.js',
  ])
  const database = await resolve({ url: urlOf('firebase-database-compat.js'), use: 'script' })
  expect([...database.problems.keys()]).toEqual([urlOf('firebase-database-compat.js')])
})

test('a module without a counterpart loads, and the note says that its functions throw', async () => {
  const found = await resolve(
    { url: urlOf('firebase-database.js'), use: 'module' },
    { url: urlOf('firebase-remote-config.js'), use: 'module' },
    { url: urlOf('firebase-vertexai.js'), use: 'module' },
  )
  expect(found.imports).toHaveLength(3)
  expect(found.notes.join()).toContain('firebase/database is not available here')
  const [text = ''] = found.contents.map(({ content }) => new TextDecoder().decode(content))
  expect(text).toContain("export const onValue = all.absent('firebase/database', 'onValue')")
  const { problems } = await resolve({ url: urlOf('firebase-nothing.js'), use: 'module' })
  expect([...problems.values()].join()).toContain('firebase')
})
