import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { unzipSync } from 'fflate'

import { signUp } from '../../testing/fixtures/form-browser.ts'
import { serveGateway } from '../../testing/fixtures/gateway.ts'
import { runInTerminal } from '../../testing/fixtures/terminal.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { binaryPath } from '../../testing/processes/server-process.ts'

setDefaultTimeout(60_000)
const t = await startTestServer({ DEMO_MODELS: 'on' })
const { origin, stop } = serveGateway(t)
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'berth-client-'))
  writeFileSync(join(home, 'reef.html'), page('Reef'))
})
afterEach(() => rmSync(home, { recursive: true }))
afterAll(async () => {
  await stop()
  await t.close()
})

const page = (title: string): string => `<!doctype html><title>${title}</title><h1>${title}</h1>`
const environment = () => ({ PATH: Bun.env.PATH, XDG_CONFIG_HOME: home, BERTH_URL: origin })
const hostsFile = () => join(home, 'berth/hosts.json')

/** Runs a command as a script does: without a terminal. */
async function run(words: string[], { stdin = '', env = {} } = {}) {
  const child = Bun.spawn([binaryPath, ...words], {
    cwd: home,
    env: { ...environment(), ...env },
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 50_000,
  })
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { code, out, err }
}

const inTerminal = (words: string[]) =>
  runInTerminal([binaryPath, ...words], { cwd: home, env: environment() })

const signIn = async (): Promise<void> => {
  expect(await run(['login', '--new'])).toMatchObject({ code: 0 })
}

test('the first publication creates an agent, and the next one of the file a version', async () => {
  const first = await run(['publish', 'reef.html'])
  expect(first.out).toMatch(/^http\S+\/a\/\S{12}\n$/)
  expect(first.err).toContain('Created @')
  writeFileSync(join(home, 'reef.html'), page('Reef again'))
  const second = await run(['publish', 'reef.html', '--json', '--note', 'Again'])
  expect(JSON.parse(second.out)).toMatchObject({ app: { link: first.out.trim(), version: 2 } })
  expect((await run(['apps'])).out).toContain(first.out.trim())
  const other = await run(['publish', 'reef.html', '--new'])
  expect(other.out).not.toBe(first.out)
})

test('keys are in a file that only its owner can read', async () => {
  await signIn()
  expect(statSync(hostsFile()).mode & 0o777).toBe(0o600)
  expect(statSync(join(home, 'berth')).mode & 0o777).toBe(0o700)
})

test('a key signs in, from a flag or stdin, unless the server does not accept it', async () => {
  const { handle, key } = await t.agent('ann')
  expect((await run(['login', origin, '--key', key])).out).toContain(`as @${handle}.`)
  expect((await run(['login', origin, '--key'], { stdin: `${key}\n` })).code).toBe(0)
  const before = readFileSync(hostsFile(), 'utf8')
  const wrong = await run(['login', origin, '--key', `ak_${'x'.repeat(40)}`])
  expect(wrong).toMatchObject({ code: 4, err: expect.stringMatching(/^.* berth login .*\n$/) })
  expect(readFileSync(hostsFile(), 'utf8')).toBe(before)
})

test('a person signs in with the browser, and the command stores the key', async () => {
  const browser = await signUp(t, 'olga')
  const terminal = inTerminal(['login', origin])
  const [, code = ''] = /shows (\S{14})\./.exec(await terminal.shows(/shows \S{14}\./)) ?? []
  await browser.fill(`/device?code=${code}`, '/device', { code, act: 'approve', handle: '' })
  await terminal.shows(/Signed in to \S+ as @/)
  expect(await terminal.exited).toBe(0)
  expect((await run(['usage'])).err).toContain('credits')
})

test('a sign-in that the person denies exits with one line', async () => {
  const browser = await signUp(t, 'pat')
  const terminal = inTerminal(['login', origin])
  const [, code = ''] = /shows (\S{14})\./.exec(await terminal.shows(/shows \S{14}\./)) ?? []
  await browser.fill(`/device?code=${code}`, '/device', { code, act: 'deny' })
  await terminal.shows(/denied in the browser/)
  expect(await terminal.exited).toBe(1)
})

test('an export is a new file with a checksum of each part', async () => {
  await signIn()
  const { out } = await run(['publish', 'reef.html', '--json'])
  const { id } = JSON.parse(out).app
  expect((await run(['export', 'all.zip'])).out).toMatch(
    /^Exported @\S+ to all\.zip: [\d,]+ bytes\./,
  )
  const files = unzipSync(readFileSync(join(home, 'all.zip')))
  expect(new TextDecoder().decode(files['SHA256SUMS'])).toContain(`  apps/${id}/app.json\n`)
  const again = await run(['export', 'all.zip'])
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining('berth export <file>') })
})

test('BERTH_KEY replaces the sign-in', async () => {
  const { key, handle } = await t.agent('ann')
  const { err } = await run(['usage'], { env: { BERTH_KEY: key } })
  expect(err).toContain(`@${handle} has`)
})

test('a command that needs a sign-in exits with 4 and one line', async () => {
  expect(await run(['apps'])).toEqual({
    code: 4,
    out: '',
    err: `You are not signed in to ${origin}. Run: berth login ${origin}\n`,
  })
})

test('every failure is one line that says what to do', async () => {
  await signIn()
  writeFileSync(join(home, 'notes.txt'), 'x')
  const failures: [words: string[], line: RegExp][] = [
    [['pubish'], /Did you mean publish\?/],
    [['publish', 'reef.html', '--wacth'], /Did you mean --watch\?/],
    [['publish'], /Missing required argument 'path'.*berth help/],
    [['publish', 'none.html'], /does not exist. Give/],
    [['publish', 'notes.txt'], /is no page. Give/],
    [['apps', '--limit', '0'], /Give a number/],
    [['pull', 'AAAAAAAAAAAA'], /\w/],
    [['build', 'a quiz'], /Add --yes/],
    [['chat'], /berth chat/],
    [['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
    [['apps', '-s', 'http://127.0.0.1:1'], /berth login/],
  ]
  for (const [words, line] of failures) {
    const { code, out, err } = await run(words)
    expect([words, out, err.split('\n').length]).toEqual([words, '', 2])
    expect(err).toMatch(line)
    expect([1, 4]).toContain(code)
  }
})

test('a folder is published with its files, and pulled back', async () => {
  await signIn()
  mkdirSync(join(home, 'game/data'), { recursive: true })
  writeFileSync(
    join(home, 'game/index.html'),
    `${page('Tides')}<script>fetch('level.json')</script>`,
  )
  writeFileSync(join(home, 'game/level.json'), '{"depth":3}')
  writeFileSync(join(home, 'game/data/deep sea.json'), '{"depth":9}')
  writeFileSync(join(home, 'game/.secret'), 'not published')
  const { app } = JSON.parse((await run(['publish', 'game', '--json'])).out)
  const pulled = await run(['pull', app.id, 'copy', '--json'])
  expect(JSON.parse(pulled.out)).toMatchObject({
    files: ['index.html', 'data/deep sea.json', 'level.json'],
  })
  expect(readFileSync(join(home, 'copy/level.json'), 'utf8')).toBe('{"depth":3}')
  expect(readFileSync(join(home, 'copy/data/deep sea.json'), 'utf8')).toBe('{"depth":9}')
  expect((await run(['pull', app.id, 'copy'])).err).toMatch(/^copy is not empty/)
  const next = await run(['publish', 'copy', '--json'])
  expect(JSON.parse(next.out).app).toMatchObject({ id: app.id, version: 2 })
})

test('a remix asks for its price first, then writes its files', async () => {
  const ben = await t.agent('ben')
  const id = await ben.publish({ title: 'Sold', store: true, remix: 'price', priceRemix: 50 })
  await signIn()
  const unpaid = await run(['remix', id, 'mine'])
  expect(unpaid).toMatchObject({ code: 2, err: expect.stringContaining('--max-credits 50') })
  expect((await run(['remix', id, 'mine', '--max-credits', '50'])).code).toBe(0)
  expect(readFileSync(join(home, 'mine/index.html'), 'utf8')).toContain('<h1>Hello</h1>')
})

test('a skill is published and installed', async () => {
  await signIn()
  const text = '---\nname: tide-tables\ndescription: Reads tide tables.\n---\n# Tides\n'
  mkdirSync(join(home, 'skill'))
  writeFileSync(join(home, 'skill/SKILL.md'), text)
  const link = (await run(['skill', 'publish', 'skill', '--store'])).out.trim()
  const installed = await run(['skill', 'install', link])
  expect(installed).toMatchObject({ code: 0, out: '.agents/skills/tide-tables\n' })
  expect(readFileSync(join(home, '.agents/skills/tide-tables/SKILL.md'), 'utf8')).toBe(text)
})

test('models, a chat and what it cost', async () => {
  await signIn()
  expect((await run(['models', '--type', 'chat'])).out).toContain('demo/chat')
  expect((await run(['chat', 'Ahoy there'])).out).toContain('Ahoy')
  expect((await run(['chat', '-m', 'demo/chat'], { stdin: 'Ahoy from a pipe' })).out).toContain(
    'Ahoy',
  )
  expect((await run(['usage'])).out).toMatch(/MODEL .*USD\ndemo\/chat +2 /)
  expect((await run(['key', 'create'])).out).toMatch(/^ak_\w{40}\n$/)
})

test('in a terminal a build asks for its price and shows its steps', async () => {
  await signIn()
  const terminal = inTerminal(['build', 'A quiz about fish'])
  await terminal.shows(/costs at most [\d.]+ credits.*\[y\/N\]/s)
  terminal.type('y\r')
  await terminal.shows(/Building .*%/)
  await t.ctx.jobs.runDue()
  const screen = await terminal.shows(/\/a\/\S{12}\s/)
  expect(screen).toMatch(/Built version 1 for [\d.]+ credits/)
  expect(await terminal.exited).toBe(0)
  expect((await run(['logs'])).out).toContain('build.done')
})

test('a build that is not confirmed costs nothing and exits with 2', async () => {
  await signIn()
  const terminal = inTerminal(['build', 'A quiz about fish'])
  await terminal.shows(/\[y\/N\]/)
  terminal.type('n\r')
  await terminal.shows(/Nothing was built/)
  expect(await terminal.exited).toBe(2)
  expect((await run(['apps'])).out).toContain('You have no apps yet')
})

test('where no program opens links, open prints the link', async () => {
  await signIn()
  const link = (await run(['publish', 'reef.html'])).out.trim()
  const env = { ...environment(), PATH: home }
  const terminal = runInTerminal([binaryPath, 'open'], { cwd: home, env })
  expect(await terminal.shows(/\/a\/\S{12}\s/)).toMatch(/was not found\. Open the link[^]*http/)
  expect(await terminal.shows(/\/a\/\S{12}\s/)).toContain(link)
  expect(await terminal.exited).toBe(0)
})

test('in a terminal a large upload shows a bar', async () => {
  await signIn()
  writeFileSync(join(home, 'large.html'), page('Large') + 'x'.repeat(2_000_000))
  const terminal = inTerminal(['publish', 'large.html'])
  expect(await terminal.shows(/\/a\/\S{12}\s/)).toMatch(/Uploading █+ *100%/)
})

test('--watch publishes every change until Ctrl-C', async () => {
  await signIn()
  const terminal = inTerminal(['publish', 'reef.html', '--watch'])
  await terminal.shows(/Watching reef.html/)
  writeFileSync(join(home, 'reef.html'), page('High tide'))
  await terminal.shows(/Published Reef, version 2\./)
  // Editors write a new file and move it to the name.
  writeFileSync(join(home, 'next.html'), page('Low tide'))
  renameSync(join(home, 'next.html'), join(home, 'reef.html'))
  await terminal.shows(/Published Reef, version 3\./)
  terminal.interrupt()
  await terminal.exited
})

test('a chat in a terminal goes on until Ctrl-D', async () => {
  await signIn()
  const terminal = inTerminal(['chat', '-m', 'demo/chat'])
  await terminal.shows(/Chatting with demo\/chat/)
  terminal.type('Ahoy captain\r')
  await terminal.shows(/Ahoy captain[^]*Ahoy captain/)
  terminal.type('\x04')
  expect(await terminal.exited).toBe(0)
})
