/** The rules of scripts/tidy, each with a small tree that breaks it. */
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { checks } from '../../scripts/tidy.ts'
import { errorCoverage, responseTypes } from '../../scripts/tidy/contract.ts'
import { unexplainedMax } from '../../scripts/tidy/file-sizes.ts'
import { proseOfMarkdown } from '../../scripts/tidy/prose.ts'
import { parse } from '../../scripts/tidy/source.ts'

type Files = Record<string, string>

const treeOf = (files: Files) => Object.entries(files).map(([path, text]) => parse(path, text))

/** Returns the findings of a tree, without those on exports that small trees leave unused. */
const findingsOf = (files: Files): string[] =>
  checks
    .flatMap((check) => check(treeOf(files)))
    .map(({ path, line, what }) => `${path}:${line} ${what}`)
    .filter((line) => !line.includes('nothing imports'))

const long = (lines: number): string => 'step()\n'.repeat(lines)

/** A banned word, in two parts because this file is checked as well. */
const word = 'do' + 'or'

/** Small trees with one problem each, and the start of the expected line. */
const problems: [title: string, files: Files, line: string][] = [
  [
    'an import of a later module',
    { 'src/kernel/a.ts': "import { b } from '../money/ledger/b.ts'" },
    'src/kernel/a.ts:1 kernel imports money',
  ],
  [
    'a slow module that the start loads through another file',
    {
      'src/main.ts': "import { a } from './kernel/a.ts'",
      'src/kernel/a.ts': "import { createHash } from 'node:crypto'",
    },
    'src/kernel/a.ts:1 the start loads node:crypto',
  ],
  [
    'an import of the other API',
    { 'src/gateway/call.ts': "import { b } from '../people/operation.ts'" },
    'src/gateway/call.ts:1 gateway imports people',
  ],
  [
    'a type import of a later module',
    { 'src/money/ledger/a.ts': "import type { Router } from '../../server/http/router.ts'" },
    'src/money/ledger/a.ts:1 money imports server',
  ],
  [
    'a dynamic import of a later module',
    { 'src/jobs/a.ts': "export const late = () => import('../server/http/router.ts')" },
    'src/jobs/a.ts:1 jobs imports server',
  ],
  [
    'an import of a later folder of a module',
    { 'src/apps/a.ts': "import { b } from './reviews/b.ts'" },
    'src/apps/a.ts:1 . imports reviews',
  ],
  [
    'an unknown module',
    { 'src/cellar/a.ts': '' },
    'src/cellar/a.ts:1 no row for the module cellar',
  ],
  [
    'an import cycle of files, one of them of types',
    {
      'src/store/a.ts': "import type { b } from './b.ts'",
      'src/store/b.ts': "import { a } from './a.ts'",
    },
    'src/store/a.ts:1 an import cycle: src/store/a.ts -> src/store/b.ts -> src/store/a.ts',
  ],
  [
    'an import cycle of modules',
    {
      'src/gateway/audio/a.ts': "import { b } from '../chat/b.ts'",
      'src/gateway/chat/c.ts': "import { d } from '../audio/d.ts'",
    },
    'src/gateway/audio/a.ts:1 an import cycle: src/gateway/audio -> src/gateway/chat -> src/gateway/audio',
  ],
  [
    'tests in the product',
    { 'src/jobs/a.ts': "import { b } from '../testing/b.ts'" },
    'src/jobs/a.ts:1 imports src/testing/b.ts',
  ],
  [
    'the tables of another module',
    { 'src/people/operation.ts': "import { b } from '../money/ledger/tables.ts'" },
    'src/people/operation.ts:1 imports src/money/ledger/tables.ts',
  ],
  [
    'tables in an edge',
    { 'src/apps/routes.ts': "import { b } from './tables.ts'" },
    'src/apps/routes.ts:1 imports src/apps/tables.ts',
  ],
  ...['operations', 'own-operations'].map((name): [string, Files, string] => [
    `tables in ${name}.ts`,
    { [`src/apps/${name}.ts`]: "import { b } from './tables.ts'" },
    `src/apps/${name}.ts:1 imports src/apps/tables.ts`,
  ]),
  [
    'a browser script that imports the server',
    { 'public/frame/a.ts': "import { b } from '../../src/kernel/limits.ts'" },
    'public/frame/a.ts:1 code of browsers imports src/kernel/limits.ts',
  ],
  [
    'an island of a page that imports the server',
    { 'src/site/a.island.ts': "import { b } from '../kernel/limits.ts'" },
    'src/site/a.island.ts:1 code of browsers imports src/kernel/limits.ts',
  ],
  [
    'a page that imports its island',
    { 'src/site/a.ts': "import { b } from './b.island.ts'", 'src/site/b.island.ts': '' },
    'src/site/a.ts:1 the server imports src/site/b.island.ts',
  ],
  [
    'the environment',
    { 'src/server/context.ts': 'Bun.env.PORT' },
    'src/server/context.ts:1 reads the environment',
  ],
  [
    'a test that sleeps',
    { 'src/kernel/a.test.ts': 'await Bun.sleep(5)' },
    'src/kernel/a.test.ts:1 a test that waits for a time',
  ],
  [
    'a test that measures a time',
    { 'src/testing/fixtures/a.ts': 'const since = stopwatch()' },
    'src/testing/fixtures/a.ts:1 a test that waits for a time',
  ],
  [
    'a test that polls by eval',
    { 'src/kernel/a.test.ts': "await page.waitForFunction('isDone')" },
    'src/kernel/a.test.ts:1 a test that waits for a time',
  ],
  [
    'a test that sleeps by a module',
    { 'src/kernel/a.test.ts': "import { setTimeout } from 'node:timers/promises'" },
    'src/kernel/a.test.ts:1 a test that waits for a time',
  ],
  [
    'an expectation of a promise without await',
    { 'src/kernel/a.test.ts': "expect(send()).rejects.toThrow('busy')" },
    'src/kernel/a.test.ts:1 an expectation of a promise that the test does not wait for',
  ],
  [
    'the clock',
    { 'src/server/context.ts': 'Date.now()' },
    'src/server/context.ts:1 reads the clock',
  ],
  [
    'the clock by new Date',
    { 'src/server/context.ts': 'new Date()' },
    'src/server/context.ts:1 reads the clock',
  ],
  [
    'randomness',
    { 'src/server/context.ts': 'Math.random()' },
    'src/server/context.ts:1 makes randomness',
  ],
  [
    'randomness from a package',
    { 'src/server/context.ts': "import { randomInt } from 'node:crypto'" },
    'src/server/context.ts:1 makes randomness',
  ],
  [
    'printing',
    { 'src/server/context.ts': "console.log('a')" },
    'src/server/context.ts:1 prints: console.log',
  ],
  [
    'the network',
    { 'src/server/context.ts': "fetch('a')" },
    'src/server/context.ts:1 reaches the network',
  ],
  [
    'the network handed on',
    { 'src/server/context.ts': 'const get = fetch' },
    'src/server/context.ts:1 reaches the network',
  ],
  [
    'the data folder',
    { 'src/server/context.ts': "import { rm } from 'node:fs/promises'" },
    'src/server/context.ts:1 touches files',
  ],
  [
    'a driver',
    { 'src/server/context.ts': "import { Database } from 'bun:sqlite'" },
    'src/server/context.ts:1 opens a database',
  ],
  [
    'a hold beside pay',
    { 'src/apps/a.ts': "import { openHold } from '../money/ledger/ledger.ts'" },
    'src/apps/a.ts:1 holds credits',
  ],
  [
    'SQL in an edge',
    { 'src/apps/routes.ts': "import { eq } from 'drizzle-orm'" },
    'src/apps/routes.ts:1 a route or front end imports drizzle-orm',
  ],
  [
    'SQL in operations',
    { 'src/gateway/files/operations.ts': "import { eq } from 'drizzle-orm'" },
    'src/gateway/files/operations.ts:1 a route or front end imports drizzle-orm',
  ],
  [
    'a response in a function that operations call',
    { 'src/people/people.ts': 'const a = () => new Response(file)' },
    'src/people/people.ts:1 builds a response',
  ],
  [
    'a status in a function that operations call',
    { 'src/people/people.ts': 'const a = () => store({ status: 201, body })' },
    'src/people/people.ts:1 has a status',
  ],
  ...[
    ['a response', 'new Response(file)', 'builds a response: Response'],
    ['a response of JSON', 'Response.json(value)', 'builds a response: Response.json'],
    ['a status', 'new Success(201, value)', 'passes on a status: 201'],
    ['a status as a field', 'step({ status: 404 })', 'has a status'],
    ['HTML', "step('<p>Hello')", 'has HTML'],
    ['HTML around a value', 'step(`<!doctype html><p>${name}`)', 'has HTML'],
  ].map(([title, text = '', what]): [string, Files, string] => [
    `an operation with ${title}`,
    { 'src/gateway/accounts/topup-operations.ts': text },
    `src/gateway/accounts/topup-operations.ts:1 an operation ${what}`,
  ]),
  ...[
    ['a transaction', 'ctx.db.tx(work)', 'calls ctx.db.tx'],
    ['an entry of the audit log', 'recordAudit(ctx, db, entry)', 'calls recordAudit'],
    [
      'an idempotency key',
      'ctx.idempotency.run(owner, ref, {}, work)',
      'calls ctx.idempotency.run',
    ],
    ['a form that it reads', 'readForm(request, 100)', 'calls readForm'],
    ['a payment', 'pay(ctx, payment)', 'calls pay'],
    ['an error of a rule', "throw new ApiError('own_item')", 'throws own_item'],
  ].map(([title, text = '', what]): [string, Files, string] => [
    `a front end with ${title}`,
    { 'src/server/console/grants.ts': text },
    `src/server/console/grants.ts:1 a front end ${what}`,
  ]),
  [
    'the transaction of drizzle',
    { 'src/money/ledger/a.ts': 'db.transaction(work)' },
    'src/money/ledger/a.ts:1 calls db.transaction',
  ],
  [
    'a default export',
    { 'src/server/context.ts': 'export default 1' },
    'src/server/context.ts:1 a default export',
  ],
  [
    'a default function',
    { 'src/server/context.ts': 'export default function a() {}' },
    'src/server/context.ts:1 a default export',
  ],
  [
    'a barrel',
    { 'src/server/context.ts': "export * from '../kernel/a.ts'" },
    'src/server/context.ts:1 re-exports',
  ],
  [
    'memory keyed by the context',
    { 'src/apps/a.ts': 'const a = lazyFor((ctx: AppContext) => new Map())' },
    'src/apps/a.ts:1 memory keyed by the context',
  ],
  ['any', { 'src/server/context.ts': 'const a: any = 1' }, 'src/server/context.ts:1 any'],
  [
    'a cast',
    { 'src/server/context.ts': 'const a = b as Key' },
    'src/server/context.ts:1 a cast: as Key',
  ],
  [
    'a bracket cast',
    { 'src/server/context.ts': 'const a = <Key>b' },
    'src/server/context.ts:1 a cast',
  ],
  [
    'a non-null !',
    { 'src/server/context.ts': 'const a = b!' },
    'src/server/context.ts:1 a non-null !',
  ],
  [
    'fields spread for a line',
    { 'src/server/context.ts': 'const a = { ...{ b: 1 } }' },
    'src/server/context.ts:1 a group that is spread',
  ],
  [
    'items spread for a line',
    { 'src/server/context.ts': 'const a = [...[1, 2]]' },
    'src/server/context.ts:1 a group that is spread',
  ],
  [
    'an error that leaves its reader without a next step',
    { 'src/site/a.ts': "rejectRequest('The form has too many fields.')" },
    'src/site/a.ts:1 an error without a next step',
  ],
  [
    'a text that is looked up in an object',
    { 'src/server/context.ts': 'const a: Record<string, number> = { b: 1 }\nconst c = a[d]' },
    'src/server/context.ts:2 looks up a text in an object',
  ],
  [
    'a text that is looked for in an object',
    { 'src/server/context.ts': 'const c = d in a' },
    'src/server/context.ts:1 looks for a text in an object',
  ],
  ['a silencer', { 'src/server/context.ts': '// @ts-' + 'ignore' }, 'src/server/context.ts:1 @ts-'],
  [
    'a banned word in a name',
    { 'src/server/context.ts': 'const houseKey = 1' },
    'src/server/context.ts:1 the name houseKey',
  ],
  [
    'a banned word in a path',
    { [`src/kernel/front-${word}.ts`]: '' },
    `src/kernel/front-${word}.ts:1 a path with "${word}"`,
  ],
  [
    'a type named with a participle',
    { 'src/server/context.ts': 'interface Kept {}' },
    'src/server/context.ts:1 the type Kept',
  ],
  [
    'a doc comment that is a question',
    { 'src/server/context.ts': '/** What it does. */\nstep()' },
    'src/server/context.ts:1 a doc comment that starts with What',
  ],
  [
    'a doc comment that is a question in lower case',
    { 'src/server/context.ts': '/** whether it does. */\nstep()' },
    'src/server/context.ts:1 a doc comment that starts with whether',
  ],
  [
    'a banned word in a comment',
    { 'src/server/context.ts': `step()\n// Opens the ${word}.\nstep()` },
    'src/server/context.ts:2 a comment with "door"',
  ],
  [
    'a comment that personifies',
    { 'src/server/context.ts': 'step()\n// Nobody waits.\nstep()' },
    'src/server/context.ts:2 a comment with "Nobody"',
  ],
  [
    'a banned word in a text',
    { 'src/server/context.ts': `step('The ${word} is open.')` },
    'src/server/context.ts:1 a text with "door"',
  ],
  [
    'a banned word in a template',
    { 'src/server/context.ts': `step(\`The ${word} of \${id}\`)` },
    'src/server/context.ts:1 a text with "door"',
  ],
  ['an empty name', { 'src/kernel/utils.ts': '' }, 'src/kernel/utils.ts:1 utils says nothing'],
  ['camel case', { 'src/kernel/aB.ts': '' }, 'src/kernel/aB.ts:1 named aB.ts'],
  [
    'a wide line',
    { 'src/server/context.ts': `// ${'a'.repeat(98)}` },
    'src/server/context.ts:1 101 columns',
  ],
  [
    'a long file',
    { 'src/server/context.ts': long(401) },
    'src/server/context.ts:1 401 lines without a reason',
  ],
  [
    'a long function',
    { 'src/server/context.ts': `function a() {\n${long(59)}}` },
    'src/server/context.ts:1 a function of 61 lines',
  ],
  [
    'a long handler',
    { 'src/site/wallet/routes.ts': `new Elysia().get('/a', () => {\n${long(14)}})` },
    'src/site/wallet/routes.ts:1 a function of 16 lines',
  ],
]

/** Each kind of declaration, with a banned word as its name. */
const declarations: [kind: string, text: string, name?: string][] = [
  ['private field', 'class A {\n  #told = 1\n}', '#told'],
  ['private method', 'class A {\n  #told() {}\n}', '#told'],
  ['getter', 'class A {\n  get told() {\n    return 1\n  }\n}'],
  ['setter', 'class A {\n  set told(a: number) {}\n}'],
  ['method of an interface', 'interface A {\n  told(): void\n}'],
  ['type parameter', 'type A<Told> = Told[]', 'Told'],
  ['enum', 'enum Told {}', 'Told'],
  ['member of an enum', 'enum A {\n  told,\n}'],
  ['import alias', "import { a as told } from './errors.ts'"],
  ['namespace import', "import * as told from './errors.ts'"],
  ['export alias', 'const a = 1\nexport { a as told }'],
  ['parameter', 'const a = (told: number) => 1'],
  ['binding', 'const { a: told } = b'],
  ['property', 'const a = { told: 1 }'],
]

describe('tidy goes red for a banned word as the name of a', () => {
  test.each(declarations)('%s', (_, text, name = 'told') => {
    const found = findingsOf({ 'src/server/context.ts': text })
    expect(found.filter((line) => line.endsWith(` the name ${name}`))).toHaveLength(1)
  })
})

describe('tidy goes red for', () => {
  test.each(problems)('%s', (_, files, line) => {
    const all = findingsOf(files)
    expect(all).toHaveLength(1)
    expect(all[0]).toStartWith(line)
  })
})

describe('tidy stays green for', () => {
  const routes = `const a = () =>\n  new Elysia()\n${"    .get('/a', a)\n".repeat(70)}`
  const fine: [title: string, files: Files][] = [
    [
      'an import of an earlier module',
      { 'src/server/agent-api.ts': "import { b } from '../server/context.ts'" },
    ],
    [
      'types of the config',
      { 'src/kernel/a.ts': "import type { Config } from '../config.ts'\nexport type A = Config" },
    ],
    [
      'a brand',
      {
        'src/kernel/a.ts':
          'type Nano = bigint & { readonly [mark]: 1 }\nconst a = (b: bigint): Nano => b as Nano',
      },
    ],
    [
      'an operation that returns outcomes',
      {
        'src/apps/operations.ts': 'const a = { output: { 201: On }, run: () => created(on) }',
      },
    ],
    ['a response outside of operations', { 'src/apps/packs/site-routes.ts': 'new Response(file)' }],
    ['a response that is read', { 'src/people/people.ts': 'new Response(body).formData()' }],
    ['constants', { 'src/server/context.ts': 'const a = [1] as const' }],
    ['a date of a given moment', { 'src/server/context.ts': 'new Date(5)' }],
    [
      'the end of a hold in a job',
      { 'src/apps/remix/a.ts': "import { settleHold } from '../../money/ledger/ledger.ts'" },
    ],
    ['a method called fetch', { 'src/server/context.ts': 'app.fetch(request)' }],
    ['a parameter called fetch', { 'src/server/context.ts': 'const a = (fetch: Get) => fetch(1)' }],
    ['a test that prints', { 'src/context.test.ts': 'console.log(new Date(), Bun.env.CI)' }],
    ['a long chain of routes', { 'src/site/wallet/routes.ts': routes }],
    ['the text of a template', { 'src/server/context.ts': `const a = \`\n${'a'.repeat(120)}\`` }],
    ['a quoted wire name', { 'src/server/context.ts': '// Reads `refusal`.\nstep()' }],
    ['a stored name', { 'src/server/context.ts': "step(`check (kind = 'house')`)" }],
    ['a banned word inside another', { 'src/server/context.ts': 'const doorbell = indoors' }],
    ['a long file that says why', { 'src/server/context.ts': `/** One table. */\n${long(400)}` }],
    ['sixty lines', { 'src/server/context.ts': `function a() {\n${long(58)}}` }],
  ]
  test.each(fine)('%s', (_, files) => expect(findingsOf(files)).toEqual([]))
})

test('tidy goes red for one more short file with one importer', () => {
  const files = Array.from({ length: unexplainedMax + 1 }, (_, at) => [
    `src/kernel/a${at}.ts`,
    'step()',
  ])
  const isShort = (line: string) => line.includes('a short file with one importer')
  expect(findingsOf(Object.fromEntries(files)).filter(isShort)).toHaveLength(unexplainedMax + 1)
  expect(findingsOf(Object.fromEntries(files.slice(1))).filter(isShort)).toEqual([])
})

describe('unused exports', () => {
  const unusedIn = (files: Files): string[] =>
    checks
      .flatMap((check) => check(treeOf(files)))
      .filter(({ what }) => what.startsWith('nothing imports'))
      .map(({ what, fix }) => `${what}: ${fix}`)
  const exporting = 'export const used = 1\nexport const unused = 2\n'

  test('are found when only a test imports them', () => {
    const files = {
      'src/kernel/a.ts': exporting,
      'src/kernel/a.test.ts': "import { unused } from './a.ts'",
      'src/server/context.ts': "import { used } from '../kernel/a.ts'",
    }
    expect(unusedIn(files)).toEqual(['nothing imports unused: delete it'])
  })

  test('are found behind a namespace', () => {
    const files = {
      'src/kernel/a.ts': exporting,
      'src/server/context.ts': "import * as a from '../kernel/a.ts'\na.used()",
    }
    expect(unusedIn(files)).toEqual(['nothing imports unused: delete it'])
  })

  test('only lose their export when their own file needs them', () => {
    const files = { 'src/kernel/a.ts': 'export const near = 1\nstep(near)' }
    expect(unusedIn(files)).toEqual(['nothing imports near: remove the word export'])
  })
})

describe('errors', () => {
  const files = {
    'src/kernel/errors.ts': 'export interface ErrorDetails {\n  no_key: None\n  busy: None\n}',
    'src/money/keys/a.ts': "throw new ApiError('no_key')",
    'src/money/keys/a.test.ts': "test('no_key', () => {})",
    'src/apps/error-response.test.ts': "test('busy', () => {})",
  }
  const findingsWith = (untested: string[]): string[] =>
    errorCoverage(treeOf(files), untested).map(({ line, what }) => `${line} ${what}`)

  test('that are never thrown or never provoked are found', () =>
    expect(findingsWith([])).toEqual(['3 nothing throws busy', '3 no test provokes busy']))

  test('in the list of untested errors need neither', () =>
    expect(findingsWith(['busy'])).toEqual([]))

  test('that have a test, or do not exist, must leave that list', () =>
    expect(findingsWith(['busy', 'no_key', 'old'])).toEqual([
      '1 no_key has a test',
      '1 old does not exist',
    ]))
})

test('an operation without response types is found', () => {
  const routes = `app
    .get('/on', on, { response: { 200: On } })
    .get('/me', me, { query: Page, ...operation({ id: 'me' }, { 200: Agent }, 'busy') })
    .get('/llms.txt', text)
    .post('/apps', publish, { body: NewApp, response: NewApp })
    .delete('/apps/:id', remove)`
  const line = responseTypes(treeOf({ 'src/apps/routes.ts': routes }))
  expect(line.map(({ line }) => line).sort()).toEqual([5, 6])
})

test('a banned word in Markdown is found, outside code', () => {
  const text = `# Title\n\nA ${word}.\n\n\`refusal\`\n\n\`\`\`ts\n${word} = 1\n\`\`\`\n`
  expect(proseOfMarkdown('README.md', text)).toMatchObject([
    { path: 'README.md', line: 3, what: 'a text with "door"' },
  ])
  const clash = 'log' + ' out'
  const clashes = `Users ${clash} here.`
  expect(proseOfMarkdown('README.md', clashes)).toMatchObject([
    { line: 1, what: `a text with "${clash}"` },
  ])
  expect(proseOfMarkdown('docs/spec/agent-api.md', clashes)).toEqual([])
})

test('the script prints its findings and exits 1', async () => {
  const root = mkdtempSync(join(tmpdir(), 'tidy-'))
  try {
    await Bun.write(join(root, 'src/server/context.ts'), 'const a: any = 1\n')
    await Bun.write(join(root, 'src/kernel/a.d.ts'), '/** How a is made. */\ninterface A {}\n')
    const script = join(import.meta.dir, '../../scripts/tidy.ts')
    const { exitCode, stdout } = Bun.spawnSync([process.execPath, script, root])
    expect(stdout.toString()).toStartWith(
      'src/kernel/a.d.ts:1  a doc comment that starts with How  start with a verb or a noun\n' +
        'src/server/context.ts:1  any  use the type, or unknown\n',
    )
    expect(exitCode).toBe(1)
  } finally {
    rmSync(root, { recursive: true })
  }
})
