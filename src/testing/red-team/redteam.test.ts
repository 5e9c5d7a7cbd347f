import { describe, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { allBrowsers } from '../browsers/all-browsers.ts'
import { type Browser, findBrowser, localName } from '../browsers/browser.ts'
import { isPart, isThorough } from '../thorough.ts'
import { runVectors } from './run.ts'
import type { Place } from './target.ts'
import type { Vector } from './vector.ts'
import { connections, lookups } from './vectors/connections.ts'
import { files } from './vectors/files.ts'
import { habits } from './vectors/habits.ts'
import { hosts } from './vectors/host.ts'
import { libraries } from './vectors/libraries.ts'
import { loads } from './vectors/loads.ts'
import { locations } from './vectors/locations.ts'
import { navigations } from './vectors/navigations.ts'
import { packages } from './vectors/packages.ts'
import { realms } from './vectors/realms.ts'

/** Ways around code of this project. The policies of the browser stop the others. */
const ownVectors = [...hosts, ...libraries, ...packages, ...habits, ...files, ...locations]
const others = [...connections, ...loads, ...navigations, ...realms, ...lookups]
/** The others from a page that has an address for its files, and so a policy that names it. */
const withFiles = others.map((vector): Vector => ({
  ...vector,
  name: `${vector.name}, with files`,
  hasFiles: true,
}))
const vectors = [...others, ...ownVectors, ...withFiles]
/**
 * A few vectors of each kind. WebKit runs these only, because just one of its windows acts at a
 * time. Chromium runs these unprotected as well, and all browsers all of their vectors in the
 * thorough run: which of them get through there depends on the browser and not on this code.
 */
const some = new Set(
  [
    'fetch, fetch in a blob worker, XHR synchronous, sendBeacon, EventSource, WebSocket, import()',
    'import in a module worker, import in an audio worklet module, img, video, CSS @import',
    'link preconnect, link preconnect by innerHTML, link preconnect by createDocument',
    'link preconnect by XML entity, location.href, top.location, meta refresh, link, iframe',
    'iframe srcdoc with an img, form by script, cookies of the host, answer of the host',
    'link preconnect in a declarative shadow root, eval in a blob worker that fetches',
    'press in a closed declarative shadow root, link in a comment in a script',
    'another app by fetch, another app by importScripts, another app by location',
    'the host by fetch, another app by CSS @import, another app by frame, dots by fetch',
    'own wrapper by location, own wrapper by a link, own wrapper by reload',
    'dots after a folder of a package by fetch, another host after a folder of a package by img',
    'library by its tag, import map that replaces a library, library of another app by tag',
    'another app by fetch in an own worker, the network by importScripts in an own worker',
    'the network by url() in an own style sheet, the network by an own page in a frame',
    'location of a computed name to the network, a found window to the host',
    'a request after the history went to dots',
  ].flatMap((line) => line.split(', ')),
)
/** Those that VECTORS= names, in all browsers and each with its control. */
const chosen = Bun.env['VECTORS'] === undefined ? undefined : new RegExp(Bun.env['VECTORS'])
/** Vectors that one process of a browser runs. Then their result is printed. */
const partSize = 100
const wholeMs = isThorough || chosen ? 7_200_000 : 1_200_000
/** Primes, because the list alternates between kinds. */
const stepOfOwn = { chromium: 11, firefox: 13 }
const stepOfOthers = 23

/**
 * CI tries a part of the ways around code of this project in Chromium and another part in Firefox,
 * and some of the other vectors in Firefox, where scripts of the sandbox stop what Chromium stops
 * by Connection-Allowlist.
 */
const isTried = (vector: Vector, at: number, browser: Browser['name']): boolean => {
  if (chosen) return chosen.test(vector.name)
  if (some.has(vector.name)) return true
  if (browser === 'webkit') return false
  if (isThorough) return true
  if (vector.isThorough) return false
  const turn = browser === 'firefox' ? 1 : 0
  if (withFiles.includes(vector))
    return at % 4 === turn && some.has(vector.name.replace(/, with files$/, ''))
  if (ownVectors.includes(vector)) return at % stepOfOwn[browser] === turn
  return browser === 'firefox' && at % stepOfOthers === 0
}

const leastTried: Record<string, number> = isThorough
  ? { chromium: 160, firefox: 160, webkit: some.size }
  : { chromium: 60, firefox: 65, webkit: some.size }

/** An unprotected page shows that a vector is alive. CI shows it of a part. */
const hasControl = ({ name }: Vector, browser: string): boolean =>
  chosen !== undefined ||
  isThorough ||
  (browser === 'chromium' && isPart([...some].indexOf(name), 6))

/** CI tries a quarter of some vectors in offline copies, which have the policy of all pages. */
const inCopy = ({ name }: Vector): boolean =>
  chosen?.test(name) ?? (isThorough || (some.has(name) && isPart([...some].indexOf(name), 4)))

const names = (list: { vector: Vector }[]): string[] => list.map(({ vector }) => vector.name)

/**
 * Runs the vectors of a browser, each in its own page load. An unprotected page must get through.
 * The page in the sandbox must run and must not get through.
 */
describe('the sandbox blocks', () => {
  test('at least 160 vectors with unique names', () => {
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
    expect(vectors.length).toBeGreaterThanOrEqual(160)
    expect([...some].filter((name) => vectors.every((vector) => vector.name !== name))).toEqual([])
  })

  for (const [name, open] of allBrowsers) {
    const path = findBrowser(name)
    const run = async (
      tried: Vector[],
      least: number,
      where?: Parameters<typeof runVectors>[3],
    ) => {
      const outcomes: Awaited<ReturnType<typeof runVectors>> = []
      for (let at = 0; at < tried.length; at += partSize) {
        const part = await runVectors(
          await open(path ?? ''),
          tried.slice(at, at + partSize),
          (one) => !where?.isCopy && hasControl(one, name),
          where,
        )
        outcomes.push(...part)
        const live = part.filter(({ control }) => control)
        console.log(
          `${name}, ${where?.isCopy ? 'offline copy' : (where?.place ?? 'localhost')}, from ${at}: ${part.length} tried, ${live.length} with a live control, ${part.filter(({ reached }) => reached).length} through`,
        )
      }
      expect({
        dead: names(outcomes.filter(({ control }) => control === false)),
        idle: names(outcomes.filter(({ ran }) => !ran)),
        through: names(outcomes.filter(({ reached }) => reached)),
      }).toEqual({ dead: [], idle: [], through: [] })
      expect(outcomes.length).toBeGreaterThanOrEqual(chosen ? 0 : least)
    }
    // MiniBrowser knows no other names of hosts, and installs no app.
    const isElsewhere = name === 'chromium' || (name === 'firefox' && isThorough)
    test.concurrent.skipIf(path === undefined)(
      name,
      async () => {
        const tried = vectors.filter((vector, at) => isTried(vector, at, name))
        expect(tried).not.toEqual([])
        await run(tried, leastTried[name] ?? 0)
      },
      wholeMs,
    )

    test.skipIf(path === undefined || !isElsewhere)(
      `${name} from the offline copy of an installed app`,
      async () => {
        const tried = vectors.filter(inCopy)
        await run(tried, isThorough ? 20 : 10, { isCopy: true })
      },
      wholeMs,
    )

    const places: Place[] = isThorough ? ['lan', 'https'] : ['lan']
    test.skipIf(path === undefined || !isElsewhere).each(places)(
      `${name} from the files of a page at a host with %s`,
      async (place) => {
        const tried = [...files, ...locations].filter(
          ({ name }) => chosen?.test(name) ?? (isThorough || some.has(name)),
        )
        const tls = place === 'https' ? await createCertificate() : undefined
        await run(tried, 9, { place, ...(tls && { tls }) })
      },
      wholeMs,
    )
  }
})

/** Creates a certificate of the host. The browsers of tests accept any. */
async function createCertificate(): Promise<{ key: string; cert: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'red-team-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = Bun.spawn(
    [
      'openssl',
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${localName}`,
      '-addext',
      `subjectAltName=DNS:${localName}`,
      '-keyout',
      key,
      '-out',
      cert,
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  expect(await made.exited).toBe(0)
  const pair = { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') }
  await rm(folder, { recursive: true })
  return pair
}
