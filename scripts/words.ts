/**
 * Keeps the catalogs of public/words in step with the messages of the sources.
 *   bun scripts/words.ts                adds what is missing, empty, and removes what is stale
 *   bun scripts/words.ts --check        exits 1 where a catalog is out of step, incomplete or wrong
 *   bun scripts/words.ts --check de     the same for one language
 *   bun scripts/words.ts --list FILE    writes the messages with the places of their sources
 */
import { join } from 'node:path'

import {
  type Catalog,
  catalogParts,
  languageCodes,
  type Messages,
} from '../src/kernel/words/words.ts'
import { findMessages, type SourceMessages } from './words/messages.ts'
import { translationError } from './words/translation-error.ts'

const root = join(import.meta.dir, '..')
const catalogPath = (language: string): string => join(root, `public/words/${language}.json`)
const translated = languageCodes.filter((language) => language !== 'en')

async function readCatalog(language: string): Promise<Catalog> {
  const file = Bun.file(catalogPath(language))
  const known: Partial<Catalog> = (await file.exists()) ? await file.json() : {}
  return {
    pages: {},
    scripts: {},
    frame: {},
    bridge: {},
    knobs: {},
    moments: {},
    mcp: {},
    ...known,
  }
}

const inOrder = (messages: Iterable<string>): string[] =>
  [...messages].sort((one, other) => (one < other ? -1 : 1))

/** Returns a catalog with exactly the messages of the sources, in their order. */
function inStep(catalog: Catalog, found: SourceMessages): Catalog {
  // A message that moves to another part keeps its translation.
  const known: Messages = Object.assign({}, ...catalogParts.map((part) => catalog[part]))
  const entries = catalogParts.map((part) => [
    part,
    Object.fromEntries(
      inOrder(found[part].keys()).map((message) => [
        message,
        catalog[part][message] || known[message] || '',
      ]),
    ),
  ])
  return Object.fromEntries(entries)
}

async function update(found: SourceMessages): Promise<void> {
  for (const language of translated) {
    const catalog = inStep(await readCatalog(language), found)
    await Bun.write(catalogPath(language), `${JSON.stringify(catalog, null, 2)}\n`)
    const empty = catalogParts
      .flatMap((part) => Object.values(catalog[part]))
      .filter((text) => !text)
    console.log(`${language}: ${empty.length} messages without a translation`)
  }
}

async function check(found: SourceMessages, chosen: string | undefined): Promise<string[]> {
  const errors: string[] = []
  for (const language of chosen === undefined ? translated : [chosen]) {
    const catalog = await readCatalog(language)
    for (const part of catalogParts) {
      const at = `public/words/${language}.json, ${part}`
      for (const message of found[part].keys()) {
        const text = catalog[part][message]
        const error =
          text === undefined
            ? 'is missing. Run: bun scripts/words.ts'
            : text === ''
              ? 'has no translation. Write it there.'
              : part !== 'pages' && /\{\w+, /.test(text)
                ? 'has forms for numbers, which scripts do not read. Write a text for each number.'
                : translationError(message, text)
        if (error) errors.push(`${at}: "${message}" ${error}`)
      }
      for (const message of Object.keys(catalog[part])) {
        if (!found[part].has(message))
          errors.push(`${at}: "${message}" is stale. Run: bun scripts/words.ts`)
      }
    }
  }
  return errors
}

const list = (found: SourceMessages): Record<string, unknown> =>
  Object.fromEntries(
    catalogParts.map((part) => [
      part,
      Object.fromEntries(inOrder(found[part].keys()).map((one) => [one, found[part].get(one)])),
    ]),
  )

const [command, argument] = process.argv.slice(2)
const { found, problems } = findMessages(root)
for (const { place, fix } of problems) console.error(`${place}: ${fix}`)
if (command === '--list' && argument !== undefined) {
  await Bun.write(argument, `${JSON.stringify(list(found), null, 2)}\n`)
} else if (command === '--check') {
  const errors = await check(found, argument)
  for (const error of errors) console.error(error)
  if (errors.length > 0 || problems.length > 0) process.exit(1)
} else await update(found)
