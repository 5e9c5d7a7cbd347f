/**
 * Lets the code of a folder read the location that its page has on a static host, which routers
 * match their routes with. A page in the sandbox has another one, and no code can replace
 * `location`. So each read of it becomes `locationOfFolder(location)`, a function at the end of the
 * script. In the sandbox it answers for the location of the window alone
 * (public/frame/page-location.ts). Elsewhere, and for other objects of that name, it returns what
 * it gets.
 */
import { type Node, parse } from 'acorn'

import { insertedEnd, insertedStart, isLocatedCode } from './page-location.ts'
import { isHtml } from './page-names.ts'
import { attributeOf, rewriteTags } from './page-tags.ts'
import type { FolderCode } from './pins.ts'

/** Longer scripts stay as they are: the tree of this one takes 400 MB of memory and 2 s. */
export const locatedScriptMax = 4 * 1_048_576

const named = 'location:/*folder*/'
const assigned = `${insertedEnd}.href/*folder*/`
/** Stands after the last statement: a line of its own would be one of a diff. */
const helper =
  ';function locationOfFolder(given){return globalThis.folderPageLocation?.(given)??given}/*folder*/'

/** Code that has the name already: that of its author would not be called, or called in vain. */
const ownName = /\blocationOfFolder\b/

/** Parts of a location. Code that reads one has the location of a window, or tells by itself. */
const parts =
  /^(?:href|origin|protocol|host|hostname|port|pathname|search|hash|assign|replace|reload|toString)$/
/** Names of windows and documents. */
const views =
  /^(?:window|self|globalThis|document|top|parent|defaultView|ownerDocument|contentWindow|view)$/

/** A node with its place, from the innermost outwards. */
interface Place {
  node: AnyNode
  key: string
  above: Place | undefined
  scope: Scope
}

/** A part of a script that may declare a location of its own. */
interface Scope {
  above: Scope | undefined
  /** The scope that a `var` belongs to; undefined where it is this one. */
  outer: Scope | undefined
  isDeclared: boolean
}

type AnyNode = Node & Record<string, unknown>

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string'

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const nodeAt = (node: AnyNode, key: string): AnyNode | undefined => {
  const value = node[key]
  return isNode(value) ? value : undefined
}

/** A text to insert. */
type Insert = [at: number, text: string]

const codeType = /^(?:|module|(?:text|application)\/javascript)$/i
/** A handler without character references, which would be another text. */
const handler = /(\son[a-z]+\s*=\s*)("[^"&]*"|'[^'&]*')/gi

/** Returns a script or a page whose code reads the location of its folder. */
export function locateCode({ path, text }: FolderCode): FolderCode {
  if (!isHtml(path)) return { path, text: withPageLocation(text) }
  // A policy of the page that names its scripts by hashes.
  if (/'sha(?:256|384|512)-/.test(text)) return { path, text }
  const located = rewriteTags(text, (tag) => {
    const opening = tag.text.replace(
      handler,
      (_, start: string, value: string) =>
        start + value[0] + withPageLocation(value.slice(1, -1)) + value[0],
    )
    const isCode =
      tag.name === 'script' && codeType.test(attributeOf(tag.text, 'type')?.trim() ?? '')
    return opening + (isCode ? withPageLocation(tag.body) : tag.body)
  })
  return { path, text: located }
}

/** Returns code that reads the location of its folder; the same text where it reads none. */
export function withPageLocation(given: string): string {
  if (given.length > locatedScriptMax || !/\blocation\b/.test(given)) return given
  // An export has the function already, and a module may not declare it twice.
  const code = isLocatedCode(given) ? withoutPageLocation(given) : given
  const program = ownName.test(code) ? undefined : parseScript(code)
  if (!program) return given
  const inserts = findReads(program)
  if (inserts.length === 0) return given
  inserts.push([endOf(program), helper])
  const pieces: string[] = []
  let done = 0
  for (const [at, inserted] of inserts.toSorted(([a], [b]) => a - b)) {
    pieces.push(code.slice(done, at), inserted)
    done = at
  }
  const located = pieces.join('') + code.slice(done)
  // Code with such comments of its own could not be had back.
  return withoutPageLocation(located) === code ? located : given
}

/** Returns where the last statement ends, before what may be a comment. */
function endOf({ body, end: last }: AnyNode): number {
  const statement: unknown = Array.isArray(body) ? body.at(-1) : undefined
  return isNode(statement) ? statement.end : last
}

/** Returns the code that an author wrote, of which `withPageLocation` made this text or a part. */
export const withoutPageLocation = (code: string): string =>
  code
    .replaceAll(helper, '')
    .replaceAll(assigned, '')
    .replaceAll(named, '')
    .replaceAll(insertedEnd, '')
    .replaceAll(insertedStart, '')

/** Parses a script or a module; undefined where it is neither. */
function parseScript(code: string): AnyNode | undefined {
  for (const sourceType of ['module', 'script'] as const) {
    try {
      const program: Node = parse(code, {
        ecmaVersion: 'latest',
        sourceType,
        allowHashBang: true,
        // What a handler has.
        allowReturnOutsideFunction: sourceType === 'script',
      })
      if (isNode(program)) return program
    } catch {
      // Modules are strict, so a script may be none. What no parser reads does not run either.
    }
  }
  return undefined
}

/** Finds what to insert, without recursion: minified code nests deeper than the stack. */
function findReads(program: AnyNode): Insert[] {
  const inserts: Insert[] = []
  const free: { scope: Scope; own: Insert[] }[] = []
  const chained = new Set<AnyNode>()
  const root: Scope = { above: undefined, outer: undefined, isDeclared: false }
  const waiting: Place[] = [{ node: program, key: '', above: undefined, scope: root }]
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    const { node, scope } = place
    if (node.type === 'ChainExpression') for (const link of chainedIn(node)) chained.add(link)
    const declared = declaredIn(place)
    if (declared) declared.isDeclared = true
    const own = insertsFor(place, chained)
    if (node.type === 'Identifier') free.push({ scope, own })
    else inserts.push(...own)
    const inner = scoped.test(node.type) ? scopeOf(node, scope) : scope
    for (const [key, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child)) waiting.push({ node: child, key, above: place, scope: inner })
    }
  }
  const undeclared = new Set<Scope>()
  for (const { scope, own } of free) if (!isDeclared(scope, undeclared)) inserts.push(...own)
  return inserts
}

const scoped =
  /^(?:Function\w*|ArrowFunctionExpression|StaticBlock|BlockStatement|For\w*Statement|SwitchStatement|CatchClause|Class\w*)$/
/** Scopes of `var`, beside that of the program. */
const hoisted = /^(?:Function\w*|ArrowFunctionExpression|StaticBlock)$/

const scopeOf = ({ type }: AnyNode, above: Scope): Scope => ({
  above,
  outer: hoisted.test(type) ? undefined : (above.outer ?? above),
  isDeclared: false,
})

/** Returns whether a scope or one around it declares a location. Each is visited once. */
function isDeclared(start: Scope, undeclared: Set<Scope>): boolean {
  const visited: Scope[] = []
  let at: Scope | undefined = start
  for (; at && !at.isDeclared && !undeclared.has(at); at = at.above) visited.push(at)
  const isFound = at?.isDeclared === true
  for (const scope of visited) {
    if (isFound) scope.isDeclared = true
    else undeclared.add(scope)
  }
  return isFound
}

/** Returns the scope in which a name is declared as a location; undefined for any other node. */
function declaredIn(place: Place): Scope | undefined {
  const { node, key, above, scope } = place
  if (node.type !== 'Identifier' || node['name'] !== 'location' || !above) return undefined
  if (key === 'id' && /^(?:Function|Class)Declaration$/.test(above.node.type)) return above.scope
  if (key === 'local' || (key === 'id' && /Expression$/.test(above.node.type))) return scope
  let at: Place | undefined = place
  while (at && isPattern(at)) at = at.above
  if (at?.key === 'params' || at?.key === 'param') return scope
  const owner = at?.above
  if (owner?.node.type !== 'VariableDeclarator' || at?.key !== 'id') return undefined
  return owner.above?.node['kind'] === 'var' ? (scope.outer ?? scope) : scope
}

/** Returns whether a place is a part of a pattern, in which names are targets. */
function isPattern({ node, key, above }: Place): boolean {
  if (!above) return false
  const { type } = above.node
  if (type === 'Property') return key === 'value' && above.above?.node.type === 'ObjectPattern'
  if (type === 'AssignmentPattern') return key === 'left'
  return (
    type === 'ArrayPattern' ||
    type === 'RestElement' ||
    (type === 'ObjectPattern' && (node.type === 'Property' || node.type === 'RestElement'))
  )
}

/** Returns whether a place gets a value, or a name, and is not read. */
function isTarget(place: Place): boolean {
  const { key, above } = place
  const type = above?.node.type ?? ''
  return (
    isPattern(place) ||
    (key === 'left' && /^(?:AssignmentExpression|For(?:In|Of)Statement)$/.test(type)) ||
    (key === 'id' && type === 'VariableDeclarator') ||
    key === 'params' ||
    key === 'param' ||
    type === 'UpdateExpression'
  )
}

/**
 * Returns what to insert for one node, if it is a location that is read. `chained` has the
 * expressions with `?.` in themselves.
 */
function insertsFor(place: Place, chained: ReadonlySet<AnyNode>): Insert[] {
  const { node, above } = place
  if (!above) return []
  if (!isLocation(place, chained)) return isDestructuredWindow(place) ? wrapped(node) : []
  if (isAssigned(place)) {
    // What is called `self` may be another object, so it gets the value itself.
    const object = nodeAt(node, 'object')
    if (object) return wrapped(object)
    return [
      [node.start, insertedStart],
      [node.end, assigned],
    ]
  }
  if (isTarget(place) || isOperand(above.node)) return []
  if (above.node.type === 'Property' && above.node['shorthand'] === true)
    return [
      [node.start, named + insertedStart],
      [node.end, insertedEnd],
    ]
  return wrapped(node)
}

const wrapped = ({ start: from, end: to }: AnyNode): Insert[] => [
  [from, insertedStart],
  [to, insertedEnd],
]

const isOperand = ({ type, operator }: AnyNode): boolean =>
  type === 'UnaryExpression' && /^(?:typeof|delete)$/.test(text(operator))

/** Returns whether a node is an expression for the location of a window, or may be one. */
function isLocation(place: Place, chained: ReadonlySet<AnyNode>): boolean {
  const { node, key, above } = place
  if (node.type === 'Identifier') return node['name'] === 'location' && isReference(place)
  if (node.type !== 'MemberExpression' || keyOf(node) !== 'location') return false
  const object = nodeAt(node, 'object')
  if (!object || object.type === 'Super') return false
  const name = object.type === 'Identifier' ? object['name'] : keyOf(object)
  const isView = views.test(text(name))
  // A call ends the chain of `a?.location.href`, which then throws without `a`.
  if (chained.has(node)) return isView && object.type === 'Identifier'
  const isPart = above?.node.type === 'MemberExpression' && key === 'object'
  return isView || (isPart && parts.test(keyOf(above.node))) || hasParts(place)
}

/** Returns the expressions of a chain such as `a?.b.c` that have its first `?.` in themselves. */
function chainedIn(chain: AnyNode): AnyNode[] {
  const links: AnyNode[] = []
  let at = nodeAt(chain, 'expression')
  for (; at; at = nodeAt(at, 'object') ?? nodeAt(at, 'callee')) links.push(at)
  return links.slice(0, links.findLastIndex((link) => link['optional'] === true) + 1)
}

/** Returns the name of a member, `b` of `a.b` and of `a['b']`. */
function keyOf(node: AnyNode): string {
  const property = nodeAt(node, 'property')
  return text(node['computed'] === true ? property?.['value'] : property?.['name'])
}

/** Returns whether a name is an expression or a target, and no key or label. */
function isReference({ key, above }: Place): boolean {
  const node = above?.node
  if (!node) return false
  const { type, computed } = node
  if (key === 'property' || key === 'key') return computed === true
  if (key === 'label' || /^(?:Import|Export)\w*Specifier$|^MetaProperty$/.test(type)) return false
  return !(key === 'id' && type !== 'VariableDeclarator')
}

/** Returns whether code names the parts of a value: `let{pathname:a,search:b}=e.location`. */
const hasParts = (place: Place): boolean => keysInto(place).some((name) => parts.test(name))

/** Names that code takes out of a window beside its location: `let{document:a,location:b}=c`. */
const besides = /^(?:document|history|navigator|fetch|localStorage|sessionStorage)$/

function isDestructuredWindow(place: Place): boolean {
  if (place.node.type !== 'Identifier') return false
  const keys = keysInto(place)
  const isView = views.test(text(place.node['name'])) || keys.some((key) => besides.test(key))
  return isView && keys.includes('location')
}

/** Returns the keys that a pattern takes out of the value at a place. */
function keysInto({ key, above }: Place): string[] {
  const node = above?.node
  const [value, pattern] = node?.type === 'VariableDeclarator' ? ['init', 'id'] : ['right', 'left']
  const taken = node && key === value ? nodeAt(node, pattern) : undefined
  if (taken?.type !== 'ObjectPattern' || !Array.isArray(taken['properties'])) return []
  return taken['properties'].map((property: AnyNode) =>
    text((nodeAt(property, 'key') ?? property)['name']),
  )
}

/** Returns whether a location gets a URL: `location = '/about.html'`, `location += '?x'`. */
function isAssigned({ node, key, above }: Place): boolean {
  if (above?.node.type !== 'AssignmentExpression' || key !== 'left') return false
  const object = node.type === 'Identifier' ? 'window' : nodeAt(node, 'object')?.['name']
  return views.test(text(object))
}
