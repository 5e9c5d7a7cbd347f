/** The vocabulary of CONTRIBUTING.md: one standard term for each thing. */
import ts from 'typescript'

import { isDeclared, isFieldName, isName, type Name } from './declarations.ts'
import { prose } from './prose.ts'
import { type Finding, finding, type Source } from './source.ts'

/** Banned words of identifiers and paths, each with the standard term. */
const terms: Record<string, string> = {
  alike: 'chunkTemplate, or the comparison',
  answer: 'response, result or reply',
  asked: 'request, input or params',
  chore: 'maintenance',
  chores: 'maintenance',
  door: 'router, handler or middleware',
  faces: 'router',
  fault: 'error',
  faults: 'errors',
  film: 'video',
  films: 'videos',
  fits: 'hasSpace, or the check',
  greet: 'printBanner',
  hear: 'transcribe',
  heard: 'transcript',
  hears: 'transcribes',
  house: 'AppContext, ctx',
  landing: 'job, or result',
  lane: 'connection, queue or adapter',
  lanes: 'connections, queues or adapters',
  looked: 'previewed, polled or scanned',
  looker: 'PreviewBrowser',
  misfit: 'validation error',
  painter: 'image model',
  picture: 'image, or screenshot',
  pictures: 'images',
  pulse: 'heartbeat',
  refusal: 'ApiError',
  refusals: 'errors',
  refuse: 'reject, or throw',
  refused: 'rejected, or failed',
  refuses: 'rejects',
  said: 'message, or what it is',
  say: 'message, or send',
  saying: 'message',
  sentences: 'messages',
  told: 'response, notified or reported',
  trial: 'preview, or attempt',
  trials: 'attempts',
  visit: 'request context, or view',
  visits: 'views',
  wanted: 'request, input or params',
  worst: 'maxCost',
}

/** Names of the wire and of settings that clients and operators depend on. */
const published = new Set([
  'answer_review',
  'answer_run',
  'bad_picture',
  'guardrail_refused',
  'no_painter',
  'no_icon_model',
  'no_picture',
  'painterModel',
  'PAINTER_MODEL',
  'picture_tokens',
  'refusal',
  'upstream_rejected',
])

/**
 * Fields with names that clients, operators or stored rows fix: `answer` of reviews, runs, appeals
 * and passkeys (document 1), `lane` of the metrics, `picture` of assets (document 1) and of the
 * stored hash of a video request, `wanted` of a form.
 */
const fields = new Set(['answer', 'lane', 'picture', 'wanted'])

/** Participles that do not describe a type. */
const emptyType = /^(Asked|Wanted|Said|Told|Kept|Made|Sent|Carried|Fit|Found|Taken|Given)$/

/** Finds names, comments and texts that do not use the standard terms. */
export const vocabulary = (tree: Source[]): Finding[] =>
  tree
    .filter(({ path }) => !/^scripts\/tidy\/(vocabulary|prose)\.ts$/.test(path))
    .flatMap((source) => [...inPath(source), ...inNames(source), ...prose(source)])

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)

const bannedIn = (name: string): string | undefined =>
  published.has(name) ? undefined : wordsOf(name).find((word) => Object.hasOwn(terms, word))

function inPath(source: Source): Finding[] {
  const word = source.path
    .split('/')
    .flatMap(wordsOf)
    .find((part) => Object.hasOwn(terms, part))
  return word ? [finding(source, source.ast, `a path with "${word}"`, `say ${terms[word]}`)] : []
}

function inNames(source: Source): Finding[] {
  const found: Finding[] = []
  source.nodes.forEach((node) => {
    if (!isName(node) || !isDeclared(node)) return
    const isField = fields.has(node.text) && isFieldName(node)
    const word = isField ? undefined : bannedIn(node.text)
    if (word) found.push(finding(source, node, `the name ${node.text}`, `use ${terms[word]}`))
    if (emptyType.test(node.text) && isTypeName(node)) {
      found.push(finding(source, node, `the type ${node.text}`, 'name it with a noun'))
    }
  })
  return found
}

const isTypeName = ({ parent }: Name): boolean =>
  ts.isInterfaceDeclaration(parent) ||
  ts.isTypeAliasDeclaration(parent) ||
  ts.isClassDeclaration(parent)
