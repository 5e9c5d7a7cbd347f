/** Finds the messages of the sources: the English texts that people see. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import ts from 'typescript'

import { readyMadePages } from '../../src/gateway/providers/demo/builder/prompt-analysis.ts'
import { sections } from '../../src/kernel/config/settings.ts'
import { translateTemplate } from '../../src/kernel/words/template.ts'
import { type CatalogPart, catalogParts } from '../../src/kernel/words/words.ts'
import { isBrowserCode, isTest, walk } from '../tidy/source.ts'
import { findUntranslated, type Problem } from './untranslated.ts'

/** A message with the places of its source, and the code of the parts of a template. */
export interface FoundMessage {
  places: string[]
  parts: string[]
}

export type SourceMessages = Record<CatalogPart, Map<string, FoundMessage>>

const isStringLiteral = (node: ts.Node | undefined): node is ts.StringLiteralLike =>
  node !== undefined && ts.isStringLiteralLike(node)

/** Returns the text of a literal, or of literals that are joined with `+`. */
function literalOf(node: ts.Node | undefined): string | undefined {
  if (isStringLiteral(node)) return node.text
  if (node && ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [literalOf(node.left), literalOf(node.right)]
    return left === undefined || right === undefined ? undefined : left + right
  }
  return undefined
}

/** Returns the part of a catalog for the messages of a file. */
function partOf(path: string): CatalogPart {
  if (!isBrowserCode(path)) return 'pages'
  return catalogParts.find((part) => path.startsWith(`public/${part}/`)) ?? 'scripts'
}

/** The functions whose argument with this number is a message. */
const messageArguments: Record<string, number> = { t: 0, msg: 0, sentence: 0, limitRow: 0 }
/** The functions that count a noun: the number of its argument. */
const nounArguments: Record<string, number> = {
  formatCount: 1,
  countFact: 1,
  formatExactCount: 1,
  formatAmount: 1,
  barChart: 1,
}

/** Reads the messages of all sources of pages below `root`. */
export function findMessages(root: string): { found: SourceMessages; problems: Problem[] } {
  const found: SourceMessages = {
    pages: new Map(),
    scripts: new Map(),
    frame: new Map(),
    bridge: new Map(),
    knobs: new Map(),
    moments: new Map(),
    mcp: new Map(),
  }
  const problems: Problem[] = []
  const glob = new Bun.Glob('{src,public}/**/*.ts')
  const paths = [...glob.scanSync({ cwd: root })].filter(
    (path) => !isTest(path) && !/^public\/dist|\.d\.ts$|^src\/kernel\/(html|words)/.test(path),
  )
  for (const path of paths.sort()) {
    const text = readFileSync(join(root, path), 'utf8')
    if (
      !/html`|\bt\(|\bmsg\(|\bsentence\(|error-messages|site\/guide|docs\/(?:pages|guides)/.test(
        text + path,
      )
    )
      continue
    const ast = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
    walk(ast, (node) => readNode({ path, ast, node, found, problems }))
  }
  problems.push(...findUntranslated(root))
  addSettings(found)
  return { found, problems }
}

/** Texts of other modules that pages show: the settings, and what the demo builder makes. */
function addSettings(found: SourceMessages): void {
  found.pages.set(readyMadePages, { places: ['src/site/new/new.ts'], parts: [] })
  for (const [title, group] of Object.entries(sections)) {
    const texts = [title, ...Object.values(group).map(({ description }) => description ?? '')]
    for (const text of texts.filter(Boolean)) {
      const known = found.pages.get(text) ?? { places: [], parts: [] }
      known.places.push('src/kernel/config/settings.ts')
      found.pages.set(text, known)
    }
  }
}

interface ReadNode {
  path: string
  ast: ts.SourceFile
  node: ts.Node
  found: SourceMessages
  problems: Problem[]
}

function readNode({ path, ast, node, found, problems }: ReadNode): void {
  const { line } = ast.getLineAndCharacterOfPosition(node.getStart(ast))
  const place = `${path}:${line + 1}`
  const add = (message: string, parts: string[] = []): void => {
    if (message.trim() === '') return
    if (message !== message.trim()) {
      problems.push({ place, fix: `The message "${message}" begins or ends with a space.` })
    }
    const messages = found[partOf(path)]
    const known = messages.get(message) ?? { places: [], parts }
    known.places.push(place)
    messages.set(message, known)
  }
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText(ast) === 'html') {
    readTemplate(node.template, ast, add)
  } else if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
    const at = messageArguments[node.expression.text]
    const noun = nounArguments[node.expression.text]
    if (at !== undefined) readMessages(node.arguments[at], add)
    if (noun !== undefined) {
      const several = literalOf(node.arguments[noun + 1])
      readMessages(node.arguments[noun], (one) => add(`{shown} ${several ?? `${one}s`}`))
    }
  } else if (
    ts.isPropertyAssignment(node) &&
    /^src\/site\/(?:docs\/(?:pages|guides)|guide\/)/.test(path)
  ) {
    // The navigation of the docs shows these names; the articles stay English.
    const text = literalOf(node.initializer)
    if (/^(?:title|goal|group|step)$/.test(node.name.getText(ast)) && text) add(text)
  } else if (ts.isPropertyAssignment(node) && path.includes('/error-messages/')) {
    const text = literalOf(node.initializer)
    const name = node.name.getText(ast)
    const isForPages = !node.parent.properties.some(
      (other) => other.name?.getText(ast) === 'onPage',
    )
    const isOfApi = /\b(?:GET|POST|PUT|PATCH|DELETE) \//.test(text ?? '')
    if (text && (name === 'onPage' || (name === 'message' && isForPages && !isOfApi))) add(text)
  }
}

/** A message may be chosen by a condition. */
function readMessages(node: ts.Node | undefined, add: (message: string) => void): void {
  if (node && ts.isConditionalExpression(node)) {
    readMessages(node.whenTrue, add)
    readMessages(node.whenFalse, add)
  } else {
    const text = literalOf(node)
    if (text !== undefined) add(text)
  }
}

function readTemplate(
  template: ts.TemplateLiteral,
  ast: ts.SourceFile,
  add: (message: string, parts: string[]) => void,
): void {
  const texts = ts.isTemplateExpression(template)
    ? [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)]
    : [template.text]
  const parts = ts.isTemplateExpression(template)
    ? template.templateSpans.map(({ expression }) => expression.getText(ast).replace(/\s+/g, ' '))
    : []
  translateTemplate(texts, (message) => {
    const used = [...message.matchAll(/\{(\d+)\}/g)].map(
      ([mark, at]) => `${mark} = ${parts[Number(at)]?.slice(0, 80)}`,
    )
    add(message, used)
    return undefined
  })
}
