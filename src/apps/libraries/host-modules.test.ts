import { expect, test } from 'bun:test'

import { resolvePage } from './resolve-page.ts'

const name = '@poe/embed-api/v1.js'

test('the module of Poe comes with a page that imports it by its name, also past an import map', async () => {
  const mapped: [string, string][] = [[name, 'https://poe.example/embed-api.js']]
  for (const imports of [[], mapped]) {
    const found = await resolvePage([], { urls: [], imports, names: [name, '@poe/other'] })
    expect(found.imports).toEqual([[name, 'berth:hosts@service/poe.mjs']])
    expect(found.missing).toEqual([])
    expect(String(new TextDecoder().decode(found.contents[0]?.content))).toContain('export { Poe }')
  }
})

test('the module of Poe comes also after many names that no module has', async () => {
  const names = [...Array.from({ length: 400 }, (_, at) => `./part-${at}`), name]
  const { imports } = await resolvePage([], { urls: [], imports: [], names })
  expect(imports).toEqual([[name, 'berth:hosts@service/poe.mjs']])
})

test('modules of websim and Spark come by name and by URL, for the React of the page', async () => {
  const url = 'https://esm.websim.com/@websim/websim-socket'
  const names = ['@websim/use-query', '@github/spark/hooks', '@github/spark/spark']
  const found = await resolvePage([], { urls: [{ url, use: 'module' }], imports: [], names })
  const fileOf = (name: string) => `berth:hosts@service/${name}.mjs`
  expect(found.imports).toEqual([
    [url, fileOf('websim-socket')],
    ['@websim/use-query', fileOf('websim-query')],
    ['@github/spark/hooks', fileOf('spark-hooks')],
    ['@github/spark/spark', fileOf('spark')],
  ])
  expect([...found.problems]).toEqual([])
})
