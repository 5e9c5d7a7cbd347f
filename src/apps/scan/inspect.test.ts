import { afterEach, expect, test } from 'bun:test'

import { Inspector } from './inspect.ts'

const open: Inspector[] = []
const inspector = (...options: ConstructorParameters<typeof Inspector>) => {
  const made = new Inspector(...options)
  open.push(made)
  return made
}

afterEach(() => {
  for (const made of open.splice(0)) made.close()
})

const asks =
  '<script type="application/json" data-assets>' +
  '[{"name":"a.png","kind":"sprite","what":"a"}]</script>'
const small = `<title> Two\n words </title>${asks}${'<p>more and more text</p>'.repeat(80)}`
const large = `${small}${'<p>more and more text</p>'.repeat(4_000)}`
const hash = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

for (const [name, html] of [
  ['small, in the calling thread', small],
  ['large, in a worker', large],
] as const)
  test(`inspects a page: ${name}`, async () => {
    const { scan, title, sha256, identity, ...rest } = await inspector().inspect(html)
    expect(scan.verdict).toBe('clean')
    expect(title).toBe('Two words')
    expect(sha256).toBe(hash(html))
    expect(rest.assetRequests).toEqual([{ name: 'a.png', kind: 'sprite', what: 'a' }])
    expect(new TextDecoder().decode(identity)).toBe(html)
  })

test('a small page whose scripts build a large one does not block others', async () => {
  let made = 0
  const looking = inspector({}, () => {
    made++
    return new Worker(new URL('./inspect.worker.ts', import.meta.url))
  })
  const names = Array.from({ length: 6 }, (_, n) => `const a${n + 1}=a${n}+a${n};`).join('')
  const text = '<p>more text</p>'.repeat(60)
  const doubled = `<script>const a0="${text}";${names}document.write(a6)</script>`
  const glued = `<script>document.write([${"'',".repeat(100)}''].join('${text}'))</script>`
  await looking.inspect(small)
  expect(made).toBe(0)
  const pages = [doubled, glued]
  const results = await Promise.all(pages.map((page) => looking.inspect(page)))
  expect(results.map(({ sha256 }) => sha256)).toEqual(pages.map(hash))
  expect(made).toBe(pages.length)
})

test('titles are cut to 80 letters', async () => {
  const { title } = await inspector().inspect(`<title>${'🎲'.repeat(99)}</title>`)
  expect(title).toBe('🎲'.repeat(80))
  expect((await inspector().inspect('<title> </title>')).title).toBeUndefined()
})

test('leaves the bytes of the caller in place', async () => {
  const bytes = new TextEncoder().encode(large)
  const { sha256 } = await inspector().inspect(bytes)
  expect(bytes.byteLength).toBeGreaterThan(0)
  expect(sha256).toBe(hash(large))
})

test('inspects many pages at once', async () => {
  const looking = inspector()
  const pages = Array.from({ length: 12 }, (_, n) => `${large}<p>${n}`)
  const responses = await Promise.all(pages.map((page) => looking.inspect(page)))
  expect(responses.map(({ sha256 }) => sha256)).toEqual(pages.map(hash))
})

/** A worker that runs a piece of code for its first page, and works for the next. */
const faulty = (code: string) => {
  let made = 0
  return () => {
    const address = URL.createObjectURL(new Blob([code], { type: 'application/javascript' }))
    made++
    return made === 1
      ? new Worker(address)
      : new Worker(new URL('./inspect.worker.ts', import.meta.url))
  }
}

test('a thread that hangs is replaced, and its page is checked in a process', async () => {
  const looking = inspector({ taskMs: 5_000 }, faulty('onmessage = () => { for (;;); }'))
  expect((await looking.inspect(large)).scan.verdict).toBe('clean')
  expect((await looking.inspect(large)).scan.verdict).toBe('clean')
})

test('a worker that crashes is replaced, and its page throws try_again', async () => {
  for (const code of [
    'onmessage = () => { throw new Error("no") }',
    'onmessage = () => process.exit(1)',
  ]) {
    const looking = inspector({}, faulty(code))
    expect(await looking.inspect(large).catch((error: unknown) => error)).toMatchObject({
      errorName: 'try_again',
    })
    expect((await looking.inspect(large)).scan.verdict).toBe('clean')
  }
})

test('a full queue and a closed inspector throw try_again', async () => {
  const looking = inspector(
    {},
    () => new Worker(URL.createObjectURL(new Blob(['onmessage = () => {}']))),
  )
  const responses = Array.from({ length: 90 }, () =>
    looking.inspect(large).catch((error: unknown) => error),
  )
  expect(await Promise.race(responses)).toMatchObject({ errorName: 'try_again' })
  await looking.close()
  for (const response of await Promise.all(responses))
    expect(response).toMatchObject({ errorName: 'try_again' })
  await expect(looking.inspect(large)).rejects.toMatchObject({ errorName: 'try_again' })
})

test('idle workers end, and the next page starts a new one', async () => {
  let made = 0
  const ended = Promise.withResolvers<void>()
  const looking = inspector({ idleMs: 1 }, () => {
    made++
    const worker = new Worker(new URL('./inspect.worker.ts', import.meta.url))
    worker.addEventListener('close', () => ended.resolve())
    return worker
  })
  await looking.inspect(large)
  await ended.promise
  await looking.inspect(large)
  expect(made).toBe(2)
})

test('a page that exceeds its limits in a process is blocked, and the next is scanned', async () => {
  const looking = inspector({ memoryBytes: 1 })
  const huge = `${small}${'<p>more and more text</p>'.repeat(44_000)}`
  const error: unknown = await looking.inspect(huge).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ errorName: 'blocked_by_scan' })
  expect((await inspector().inspect(huge)).sha256).toBe(hash(huge))
})
