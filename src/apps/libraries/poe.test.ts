import { expect, test } from 'bun:test'

import { resolvePage } from './resolve-page.ts'

const name = '@poe/embed-api/v1.js'

test('the module of Poe comes with a page that imports it by its name, also past an import map', async () => {
  const mapped: [string, string][] = [[name, 'https://poe.example/embed-api.js']]
  for (const imports of [[], mapped]) {
    const found = await resolvePage([], { urls: [], imports, names: [name, '@poe/other'] })
    expect(found.imports).toEqual([[name, 'berth:poe@service/poe.mjs']])
    expect(found.missing).toEqual([])
    expect(String(new TextDecoder().decode(found.contents[0]?.content))).toContain('export { Poe }')
  }
})
