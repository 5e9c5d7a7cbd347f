import { expect, test } from 'bun:test'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

/** Returns all modules that load with `entry`, without later `import()` calls. */
async function loadedWith(entry: string): Promise<string[]> {
  const { metafile } = await Bun.build({
    entrypoints: [join(root, entry)],
    target: 'bun',
    splitting: true,
    metafile: true,
    root,
  })
  const inputs = metafile?.inputs ?? {}
  const found = new Set([entry])
  for (const path of found) {
    for (const { kind, path: next } of inputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && next in inputs) found.add(next)
    }
  }
  return [...found]
}

test('the start loads no router, page or API', async () => {
  const loaded = await loadedWith('src/main.ts')
  expect(loaded).toContain('src/server/http/server.ts')
  const later =
    /node_modules\/(?:elysia|@scure|@noble|uqr|@modelcontextprotocol|viem|@x402)\/|^src\/server\/(?:http\/(?:routes|site)|\w+-api)\.ts$|^src\/site\//
  for (const path of ['http/routes', 'http/site', 'agent-api', 'gateway-api'])
    expect(await Bun.file(join(root, `src/server/${path}.ts`)).exists()).toBe(true)
  expect(loaded.filter((path) => later.test(path))).toEqual([])
}, 60_000)
