/** One word for one thing: the vocabulary of CONTRIBUTING.md, checked in names and comments. */
import ts from 'typescript'

import { type Finding, finding, type Source, walk } from './source.ts'

/** Words of an identifier or a file name, each with the standard term. */
const terms: Record<string, string> = {
  alike: 'chunkTemplate, or the comparison',
  asked: 'request, input or params',
  chore: 'maintenance',
  chores: 'maintenance',
  door: 'router, handler or middleware',
  faces: 'router',
  fault: 'error',
  faults: 'errors',
  film: 'video',
  films: 'videos',
  greet: 'printBanner',
  hear: 'transcribe',
  heard: 'transcript',
  house: 'AppContext, ctx',
  landing: 'job, or result',
  lane: 'connection, queue or adapter',
  lanes: 'connections, queues or adapters',
  looked: 'previewed, polled or scanned',
  looker: 'PreviewBrowser',
  misfit: 'validation error',
  painter: 'image model',
  pulse: 'heartbeat',
  refusal: 'ApiError',
  refusals: 'errors',
  refuse: 'reject, or throw',
  refuses: 'rejects',
  room: 'module, quota or budget',
  rooms: 'modules',
  said: 'message, or what it is',
  sentences: 'messages',
  told: 'response, notified or reported',
  trial: 'preview, or attempt',
  trials: 'attempts',
  visit: 'request context, or view',
  visits: 'views',
  wanted: 'request, input or params',
  worst: 'maxCost',
}

/** Names of the wire and of settings, which clients and operators depend on (`refusal`: OpenAI). */
const published = new Set([
  'no_painter',
  'no_icon_model',
  'painterModel',
  'PAINTER_MODEL',
  'refusal',
  'upstream_rejected',
])

/** Participles say nothing of a type. */
const emptyType = /^(Asked|Wanted|Said|Told|Kept|Made|Sent|Carried|Fit|Found|Taken|Given)$/

const docStart = /^\/\*\*[\s*]*(What|Who|How|Whose|Where|Whether)\b/

export const vocabulary = (tree: Source[]): Finding[] =>
  tree
    .filter(({ path }) => path !== 'scripts/tidy/vocabulary.ts')
    .flatMap((source) => [...inPath(source), ...inNames(source), ...inComments(source)])

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
  walk(source.ast, (node) => {
    if (!ts.isIdentifier(node) || !isDeclared(node)) return
    const word = bannedIn(node.text)
    if (word) found.push(finding(source, node, `the name ${node.text}`, `use ${terms[word]}`))
    if (emptyType.test(node.text) && isTypeName(node)) {
      found.push(finding(source, node, `the type ${node.text}`, 'name it with a noun'))
    }
  })
  return found
}

/** A name that this code chose: a name that it only reads may be another program's. */
const isDeclared = ({ parent, ...node }: ts.Identifier): boolean =>
  (ts.isVariableDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isBindingElement(parent) ||
    ts.isFunctionDeclaration(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isInterfaceDeclaration(parent) ||
    ts.isTypeAliasDeclaration(parent) ||
    ts.isClassDeclaration(parent)) &&
  parent.name?.pos === node.pos

const isTypeName = ({ parent }: ts.Identifier): boolean =>
  ts.isInterfaceDeclaration(parent) ||
  ts.isTypeAliasDeclaration(parent) ||
  ts.isClassDeclaration(parent)

function inComments(source: Source): Finding[] {
  const found: Finding[] = []
  for (const { pos, text } of commentsOf(source)) {
    const line = source.ast.getLineAndCharacterOfPosition(pos).line + 1
    const start = docStart.exec(text)?.[1]
    if (start) {
      const mend = 'start with a verb (Returns, Creates), or with a noun for a type'
      found.push({ path: source.path, line, what: `a doc comment that starts with ${start}`, mend })
    }
  }
  return found
}

function commentsOf({ ast, text }: Source): { pos: number; text: string }[] {
  const found = new Map<number, string>()
  walk(ast, (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
      found.set(pos, text.slice(pos, end))
    }
  })
  return [...found].map(([pos, comment]) => ({ pos, text: comment }))
}
